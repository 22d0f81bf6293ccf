// What a stopped training keeps: the checkpoint it goes on from, the updates that are made again, and each device's share.

// `every` updates are between two checkpoints, of which the newest `keep` stay. After a signal the update is finished and saved; after
// a power cut the last regular checkpoint is all there is (0: none yet).
export function stopped({ every, keep, tokens }, { update, signal, gpus }) {
  const regular = update - update % every, saved = signal ? update : regular;
  const kept = [...Array(keep).keys()].map(i => regular - i * every).filter(one => one > 0).reverse();
  return { saved, again: update - saved, kept, interim: signal && saved !== regular, each: Math.round(tokens / gpus) };
}

// Equation 3.
export const rateAt = (update, { d_model, warmup }) => d_model ** -0.5 * Math.min(update ** -0.5, update * warmup ** -1.5);

// Updates of the picture that is drawn large: a few checkpoints around the stop.
export function partAround({ every, updates }, update) {
  const low = Math.max(0, Math.min(update - update % every - every, updates - 3 * every));
  return { low, high: low + 3 * every, ticks: [0, 1, 2, 3].map(i => low + i * every) };
}
