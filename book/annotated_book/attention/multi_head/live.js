// Panel of chapter 8: every head of the model as a card that silences it, with the loss that its silence costs.
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";

livePanels({
  heads: box => switchPanel(box, {
    parts: ["heads"], wide: () => "The heads that this page names are the classroom model’s.", label: "Without the heads that are off",
    examples: ["Did Jan always close their garden gates?", "The baker asks the woman.", "Nina, please clean the chair!",
      "This lazy princess hopes to follow my rich daughter."],
  }),
});
