// Attention maps by themselves; `heads_view.js`, which stands before this, draws them here and in the run's playback.
export default { render: headsView };
