// Live panel of the page: the positions taken out.
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";

livePanels({ positions: box => switchPanel(box, { parts: ["positions"], wide: () => "", start: { positions: false }, label: "Without positions" }) });
