// Attention maps by themselves, as a widget.
import { headsView } from "./heads_view.js";

export default { render: headsView };
