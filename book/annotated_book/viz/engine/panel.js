// Kit of the live panels: a box in the page, a sentence of the reader's, the engine when it is needed.
//
// A chapter's panels stand in book/annotated_book/<page>/live.js, under the names by which the page asks for them:
//
//   import { livePanels, panel, stream } from "../../viz/engine/panel.js";
//   import { writtenView } from "../../viz/engine/views.js";
//
//   livePanels({
//     greedy(box) {
//       const view = writtenView("German, as the model writes it");
//       panel(box, {
//         examples: ["The small dog sees the cat."],
//         output: [view.element],
//         async run({ engine, text, isCurrent, say }) {
//           view.start(engine);
//           const found = await stream(engine.write(text), view.add, isCurrent);
//           if (found) say(found.text);
//         },
//       });
//     },
//   });
//
// The page writes :::{live} greedy, a text for readers without scripts, and :::. `panel` builds, from top to bottom: the
// reader's sentence with a menu of examples, `controls`, `output`, a line of text for `say` (also read out by screen
// readers), `below`. It loads the engine when the box comes near the viewport or is used (`load: "now"`: right after the page;
// `load: "asked"`: not before the reader types, chooses an example or a control of yours calls `rerun`) and
// calls `run` then, when the sentence changes, and when you call the `rerun` that `panel` returns. `run` gets
//   engine     see engine.js: write, translation, score, beam, trace, loss; or what your own `loader` resolves to, see loader.js.
//              If the panel has `wide`, it may be the wide model's for a sentence of the reader's: `wide(engine)` is what to say of
//              that model here, such as that it has other heads; "" if nothing
//   text       the English sentence in its normal form (normal_form.js), never empty
//   target     the text of the second field, if you asked for one: `target: "Der kleine Hund sieht die Katze."`; an example
//              may then be a pair, [English, German]
//   isCurrent  false as soon as the reader has asked for something else: then stop, and show nothing more
//   say(text)  the result as a sentence
// What the reader types is kept in this browser and shared by all panels of the book; examples are not kept. While a panel
// holds a sentence of the reader's, a line says which sentence the page speaks of, and a button puts that one back and calls
// `restore`, if given, for what the page's text assumes besides (`about: false` leaves that line out, where a page is about no
// one sentence); another line says which model translates, and which of the
// words that one has never read (sentence_field.js).
// Views (tokens with probabilities, source tokens with attention, compared sentences) are in views.js, lines between
// tokens in lines.js, a panel that only switches parts off in switch_panel.js. Looks are in panel.css.
import { field, html, isCalm, labelled } from "../controls.js";
import { loadEngine } from "./loader.js";
import { normalise } from "./normal_form.js";
import { sentenceField } from "./sentence_field.js";

const NEAR = "500px", WAIT = 150; // how far below the viewport a panel loads; milliseconds after a key

// Mounts the panels of a page: { name: function of the box }. The box holds the text for readers without scripts.
export function livePanels(panels) {
  for (const box of globalThis.document?.querySelectorAll(".live[data-panel]") ?? []) panels[box.dataset.panel]?.(box);
}

export function panel(box, { examples = [], target, controls = [], output = [], below = [], run, load = "near", loader = loadEngine,
  label = "English", wide, about = true, restore }) {
  const fallback = box.querySelectorAll(":scope > .live-fallback"), status = html("p", { className: "live-status", role: "status" });
  const targets = new Map(examples.map(example => [example].flat())), texts = [...targets.keys()];
  const first = box.dataset.sentence || texts[0];
  const sentence = sentenceField({ first, examples: texts, label, wide, about, restore, change: () => later(),
    choose(text) { if (targets.get(text)) second.value = targets.get(text); } });
  const second = target === undefined ? null : field(() => later(), { type: "text", value: target, maxLength: 160, autocomplete: "off" });
  let number = 0, waiting, wanted = load === "asked";
  const say = text => { status.textContent = text; };

  async function rerun() {
    const mine = ++number, isCurrent = () => mine === number, text = sentence.text();
    clearTimeout(waiting);
    wanted = true;
    say("…");
    if (!text) { box.dataset.state = "empty"; say(`Type an English sentence, such as “${first}”`); return; }
    box.dataset.state = "busy";
    try {
      const engine = await sentence.speaker(await loader(), text, () => { if (isCurrent()) fetching(); });
      if (!isCurrent()) return;
      box.dataset.state = "busy";
      await run({ engine, text, target: second && normalise(second.value), isCurrent, say });
      if (!isCurrent()) return;
      box.dataset.state = "done";
      if (engine?.reading) sentence.learn(text, () => engine.translation(text));
      for (const tokens of box.querySelectorAll(".live-tokens")) tokens.style.minHeight = ""; // which kept the page still
    } catch (error) {
      if (isCurrent()) failed(error);
    }
  }
  function fetching() {
    box.dataset.state = "fetching"; // panel.css fades what is about the sentence before
    say("Fetching the wide model …");
  }
  function failed(error) {
    box.dataset.state = "failed";
    say(`${error.message} Change the sentence to try again.`);
    console.warn("live panel:", error.message);
  }
  function later() {
    if (!wanted) return;
    say("…"); // what it said is about the sentence before
    box.dataset.state = "busy";
    clearTimeout(waiting);
    waiting = setTimeout(rerun, WAIT);
  }
  box.replaceChildren(sentence.element, ...(second ? [html("div", { className: "live-sentence" }, labelled("German", second))] : []),
    ...controls, ...output, status, ...below, ...fallback);
  box.dataset.state = "waiting"; // panel.css hides the fallback but for "failed" and in print
  if (load !== "asked") whenWanted(box, load, () => { if (!wanted) rerun(); });
  return { rerun, say, sentence, target: second, status, element: box };
}

// Calls `start` when the box is near the viewport or used; "now": when the page has loaded.
export function whenWanted(box, load, start) {
  if (load === "now") {
    if (document.readyState === "complete") start(); else addEventListener("load", start, { once: true });
    return;
  }
  const watch = new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting)) { watch.disconnect(); start(); }
  }, { rootMargin: NEAR });
  watch.observe(box);
  for (const event of ["pointerdown", "focusin"]) box.addEventListener(event, start, { once: true });
}

// Lets the page draw and answer before work goes on.
export const nextTask = () => new Promise(resume => setTimeout(resume));

// The next frame; in a page that is not shown, a little later.
const frame = () => new Promise(resume => {
  const late = setTimeout(resume, 60);
  requestAnimationFrame(() => { clearTimeout(late); resume(); });
});
const sleep = ms => new Promise(resume => setTimeout(resume, ms));

// Shows each step of a generator as it is made, `pace` milliseconds or a frame apart, at once for readers who want no
// motion. Resolves to what the generator returns; to undefined as soon as `isCurrent` says no.
export async function stream(steps, show, isCurrent = () => true, pace = 0) {
  const still = isCalm();
  for (let at = 0; ; at++) {
    const { value, done } = steps.next();
    if (done) return value;
    show(value, at);
    if (!still) await (pace ? sleep(pace) : frame());
    if (!isCurrent()) return undefined;
  }
}
