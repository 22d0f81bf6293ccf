// Panel of the chapter on beam search: the tree, which shows recorded searches, for a sentence of the reader's own.
import { button } from "../../viz/controls.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { ownSearch } from "./own.js";

const EXAMPLES = ["The old baker gives the girl a bat.", "The bats were old.", "On Thursday the boy showed me a red scarf.",
  "This lazy princess hopes to follow my rich daughter."];

// The element of the widget, as soon as it is drawn; it says so itself (widget.js).
const drawnTree = () => new Promise(resolve => {
  const drawn = [...document.querySelectorAll(".widget-host")].find(host => host.beamTree);
  if (drawn) resolve(drawn); else document.addEventListener("annotated-beam-tree", ({ target }) => resolve(target), { once: true });
});

livePanels({
  beam(box) {
    const tree = drawnTree(), made = panel(box, {
      examples: EXAMPLES, load: "asked",
      async run({ engine, text, isCurrent, say }) {
        const { beamTree } = await tree;
        if (!isCurrent()) return;
        beamTree.show(ownSearch(engine, text));
        say("The shipped model searches for this sentence in the page. The recorded sentences of the other model are in the menu.");
      },
    });
    made.sentence.element.append(button("search", () => made.rerun()));
    made.say("The menu holds recorded sentences. For one of your own the page loads the shipped model.");
    tree.then(host => { made.status.after(host); });
  },
});
