// Dialog of a box of the small figure 1: what leaves it for the reader's sentence, from the engine in the page.
import { button, group, html, radios, slider, unique } from "../controls.js";
import { panel } from "../engine/panel.js";
import { ownSentence } from "../engine/sentence_field.js";
import { loadAbout } from "./about.js";
import { panelOf, titleOf } from "./panel.js";
import { localState, readingOf, rowName } from "./reading.js";
import { spaced } from "./pictures.js";
import { tracedSentence } from "./tensors.js";

const FIRST = ["The grandmother opened the green school bag.", "The dog does not see the cat.", "She saw the bat and the ball.",
  "The grandmother gets up."];

function controlsOf(about, state) {
  const id = unique("box"), step = slider({ min: 0, id: `${id}-step` }, value => state.set({ step: value })), said = html("p", { className: "row-said" });
  const layers = radios(`${id}-layer`, Array.from({ length: about.sizes.L }, (_, i) => [i + 1, ` ${i + 1}`]), layer => state.set({ layer }));
  const layer = html("span", {}, group("Layer", html("span", { className: "layers" }, ...layers.labels)));
  const written = html("span", { className: "stepper" }, html("label", { htmlFor: step.id, textContent: "Written" }), step);
  const element = html("div", { className: "controls" }, written, layer);
  const show = (now, box) => {
    layer.hidden = !box.name.includes("*");
    written.hidden = box.side === "source";
    said.hidden = written.hidden || box.kind === "attention"; // whose maps say it too
    layers.show(now.layer());
    Object.assign(step, { max: now.steps() - 1, value: now.step() });
    said.textContent = `${rowName(now, { side: "target" }, now.step())}.`;
  };
  return { element, said, show };
}

// What is drawn of the state: all of it, or what follows the step.
function view(about, state, title) {
  const now = readingOf(about, state), held = { cursor: null }, body = html("div", { className: "panel" });
  const controls = controlsOf(about, state);
  let followPanel = () => {};
  const draw = () => {
    if (!state.get("sentence")) return;
    const { elements, follow } = panelOf(now, now.chosen(), held, body.clientWidth || 330);
    title.textContent = titleOf(now, now.chosen());
    body.replaceChildren(...elements.slice(1)); // the title stands above
    controls.show(now, now.chosen());
    followPanel = follow;
  };
  state.on(["sentence", "layer", "box"], () => { held.cursor = null; draw(); });
  state.on(["step"], () => { held.cursor = null; controls.show(now, now.chosen()); followPanel(); });
  return html("div", { className: "architecture running" }, controls.element, controls.said, body);
}

async function makeDialog() {
  const about = await loadAbout(), state = localState({ sentence: null, box: "", layer: 1, step: 0 });
  const title = html("h2", { id: unique("title"), className: "dialog-title" }), box = html("div", { className: "live" });
  const dialog = html("dialog", { className: "machine-dialog", "aria-labelledby": title.id },
    html("div", { className: "dialog-head" }, title, button("×", () => dialog.close(), { "aria-label": "Close" })), box);
  document.body.append(dialog);
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); }); // beside it
  panel(box, {
    examples: FIRST, output: [view(about, state, title)], wide: () => "",
    run({ engine, text, say }) {
      const sentence = tracedSentence(engine, text);
      if (ownSentence.get()) globalThis.annotatedBook?.set("live", "written", [text, spaced(sentence.next.slice(0, -1))]);
      say("");
      state.set({ sentence, step: Math.floor(sentence.next.length / 2) });
    },
  });
  return name => {
    title.textContent = about.boxes.find(one => one.name === name).label;
    state.set({ box: name });
    dialog.showModal();
  };
}

let making;
globalThis.annotatedOpenBox = name => (making ??= makeDialog()).then(open => open(name));
