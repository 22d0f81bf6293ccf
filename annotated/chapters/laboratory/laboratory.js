// The laboratory: a sentence of the reader's, translated in the page, with switches on the parts of the model.
// The book joins this file and what it imports to one classic script, which also runs from the file system.
import { button, field, html, select } from "../../viz/controls.js";
import { isPlain, switchboard } from "./switches.js";
import { resultParts, showStep, showTranslation } from "./results.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { translate } from "./translation.js";

const BASE = document.currentScript.src.replace(/[^/]*$/, "");
const EXAMPLES = [
  "The grandmother opened the green school bag.", "The children do not eat the cold soup.",
  "Yesterday the old teacher bought a red car.", "The small dog sees the cat.",
];

let loading;
const load = () => loading ??= new Promise((resolve, reject) => document.head.append(html("script", {
  src: `${BASE}model.js`,
  onload: () => {
    const model = globalThis.annotatedModel, bytes = Uint8Array.from(atob(model.bytes), c => c.charCodeAt(0)).buffer;
    resolve({ tokenizer: new Tokenizer(model.tokenizer), transformer: new Transformer({ ...model, bytes }), config: model.config });
  },
  onerror: () => { loading = undefined; reject(new Error("The model did not load.")); },
})));

function mount(box) {
  const fallback = [...box.childNodes], note = html("p", { className: "laboratory-note", role: "status" });
  const start = button("Load the model (2.3 MB)", async () => {
    start.disabled = true;
    note.textContent = "Loading …";
    try {
      open(box, await load());
    } catch (error) {
      box.replaceChildren(start, note, ...fallback);
      start.disabled = false;
      note.textContent = `${error.message} Try again; if it still fails, read what follows instead.`;
    }
  }, { className: "laboratory-start" });
  box.replaceChildren(start, note);
}

function open(box, parts) {
  const { tokenizer, config } = parts, results = resultParts();
  const input = field(later, { type: "text", value: EXAMPLES[0], maxLength: 160, autocomplete: "off" });
  const examples = select([["", "an example …"], ...EXAMPLES.map(text => [text, text])],
    text => { if (text) { input.value = text; chosen = 0; run(); } });
  const { switches, elements } = switchboard(config, run);
  box.replaceChildren(
    html("div", { className: "laboratory-input" },
      html("label", {}, html("span", { textContent: "English " }), input), html("label", {}, html("span", { textContent: "or " }), examples)),
    ...elements, ...results.elements);

  let number = 0, chosen = 0, waiting;
  function choose(found, index) {
    chosen = Math.min(index, found.steps.length - 1);
    showStep(results, found, chosen, tokenizer);
  }
  async function run() {
    const mine = ++number, text = input.value.trim(), isCurrent = () => mine === number;
    if (!text) { results.result.textContent = "Type an English sentence."; return; }
    box.dataset.state = "busy";
    const found = await translate(parts, text, { ...switches, off: new Set(switches.off) }, isCurrent);
    if (!found) return;
    const plain = isPlain(switches);
    showTranslation(results, found, tokenizer, index => choose(found, index));
    choose(found, chosen);
    if (!plain) {
      const intact = await translate(parts, text, {}, isCurrent);
      if (!intact) return;
      results.whole.textContent += intact.text === found.text ? "The whole model writes the same." : `The whole model writes: ${intact.text}`;
    }
    box.dataset.state = "done";
  }
  function later() {
    clearTimeout(waiting);
    chosen = 0;
    waiting = setTimeout(run, 250);
  }
  run();
  input.focus();
}

document.querySelectorAll(".laboratory").forEach(mount);
