// Panel of the chapter on beam search: one field for the recorded sentences of the tree and for the reader's own.
import { button, optionsOf } from "../../viz/controls.js";
import { loadEngine } from "../../viz/engine/loader.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { ownSentence } from "../../viz/engine/sentence_field.js";
import { ownSearch } from "./own.js";

const RECORDED = "The model after 800 updates, which is often unsure; its probabilities for this sentence were recorded.";
const SHIPPED = "The shipped model, which runs in the page.", WIDE = "The wide model, which runs in the page.";

// The element of the widget, as soon as it is drawn; it says so itself (widget.js).
const drawnTree = () => new Promise(resolve => {
  const drawn = [...document.querySelectorAll(".widget-host")].find(host => host.beamTree);
  if (drawn) resolve(drawn); else document.addEventListener("annotated-beam-tree", ({ target }) => resolve(target), { once: true });
});

function beamPanel(box, host) {
  const { beamTree } = host, groups = beamTree.takeMenu();
  const numbers = new Map(groups.flatMap(([, choices]) => choices.map(([number, text]) => [text, number])));
  const other = button("use the shipped model", () => { shipped = true; made.rerun(); shipped = false; });
  let shipped = false; // whether the shipped model is asked for a recorded sentence
  const made = panel(box, {
    examples: [...numbers.keys()], load: "asked", wide: () => "",
    loader: async () => !shipped && numbers.has(made.sentence.text()) ? null : loadEngine(), // recorded sentences need no weights
    async run({ engine, text, say }) {
      if (engine) beamTree.show(ownSearch(engine, text)); else beamTree.choose(numbers.get(text));
      other.hidden = !numbers.has(text); // for a sentence of one's own it is the only model
      say(!engine ? RECORDED : engine.isWide ? WIDE : SHIPPED);
    },
  });
  const menu = made.sentence.element.querySelector("select");
  menu.setAttribute("aria-label", "Recorded sentences");
  menu.replaceChildren(...optionsOf([["", "recorded …"], ...groups.map(([name, choices]) => [name, choices.map(([, text]) => [text, text])])]));
  made.sentence.element.append(other);
  made.status.after(host);
  made.say(ownSentence.get() ? `The tree shows “${box.dataset.sentence}” The button searches for the sentence in the field.` : RECORDED);
}

livePanels({
  beam(box) {
    box.dataset.state = "waiting";
    drawnTree().then(host => beamPanel(box, host));
  },
});
