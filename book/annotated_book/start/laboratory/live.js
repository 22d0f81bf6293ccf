// The laboratory: a sentence of the reader's, translated in the page, with switches on every part of the model.
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";

livePanels({
  laboratory: box => switchPanel(box, {
    parts: ["positions", "embedScale", "causal", "residual", "norm", "feedForward", "divisor", "heads"],
    framed: true, wide: () => "",
  }),
});
