// Batches as rows of tiles: what each of them holds, and how much of it is padding. The reader chooses the text, the
// way of batching, the budget and the pool.
import { html, onTraits, onWidth, readout, scale, select, setter, slider, tick, traits } from "../../viz/controls.js";
import { bytesOf } from "../../viz/drawing.js";
import { BUDGETS, POOLS, WAYS, batchesOf, measure, pairsOf } from "./batches.js";
import { EMPTY, HEIGHT, SOURCE, TARGET, drawStrip, drawTiles } from "./tiles.js";

const STATE = ["text", "way", "budget", "pool", "shuffle", "first"];
const number = x => x.toLocaleString("en-GB");

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set) {
  const text = select(model.get("texts").map(({ name }, i) => [i, name]), value => set({ text: +value, first: 1 }), { name: "text" });
  const way = select(Object.entries(WAYS), value => set({ way: value, first: 1 }), { name: "way" });
  const budget = scale("budget", BUDGETS, value => set({ budget: value, first: 1 }));
  const pool = scale("pool", POOLS, value => set({ pool: value, first: 1 }));
  const first = slider({ name: "first", min: 1, step: 1 }, value => set({ first: value })), firstShown = html("b");
  const shuffle = tick("shuffle the batches", on => set({ shuffle: on }), { name: "shuffle" });
  const canvas = html("canvas", { role: "img" }), answer = readout();
  const around = (label, input, shown = "") => html("label", {}, html("span", {}, label, " ", shown), input);
  const key = html("p", { className: "key" },
    html("i", { style: `background: ${SOURCE}` }), "source tokens", html("i", { style: `background: ${TARGET}` }),
    "target tokens", html("i", { style: `background: ${EMPTY}` }), "padding: a row is a pair");
  el.append(html("div", { className: "padding-tiles" },
    html("div", { className: "controls" }, around("text", text), around("batches", way),
      around("tokens a side =", budget.input, budget.number), around("pairs in a pool =", pool.input, pool.number),
      around("first drawn =", first, firstShown), shuffle.label),
    answer, key, canvas));
  return { text, way, budget, pool, first, firstShown, shuffle, canvas, answer };
}

function showControls({ text, way, budget, pool, first, firstShown, shuffle }, state, start, count) {
  text.value = state.text; way.value = state.way; shuffle.input.checked = state.shuffle;
  budget.show(state.budget); pool.show(state.pool);
  budget.input.disabled = state.way === "fixed"; pool.input.disabled = state.way !== "pools";
  first.max = count; first.value = start; firstShown.textContent = `${start} of ${count}`;
}

// [share of padding, the rest of the sentence].
function answerTo(pairs, batches, way) {
  const { padding, cut } = measure(batches, way), sizes = batches.map(batch => batch.length);
  const few = Math.min(...sizes), many = Math.max(...sizes), range = few === many ? few : `${number(few)} to ${number(many)}`;
  return [`${(100 * padding).toFixed(1)} %`, ` ${number(pairs.length)} pairs make ${number(batches.length)} batches of ${range} pairs.`
    + (cut ? ` ${cut} pairs are longer than 72 and lose their ends.` : "")];
}

// A canvas as sharp as the screen; returns its pen and its width.
function penOf(canvas) {
  const width = Math.max(280, canvas.parentElement.clientWidth || 700), ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: width * ratio, height: HEIGHT * ratio });
  Object.assign(canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return { pen, width };
}

function render({ model, el }) {
  const corpora = pairsOf(bytesOf(model.get("lengths")), model.get("texts")), parts = build(model, el, setter(model));
  const { canvas, answer } = parts;

  function draw() {
    const state = traits(model, ...STATE), pairs = corpora[state.text], batches = batchesOf(pairs, state);
    const start = Math.min(state.first, batches.length), [share, sentence] = answerTo(pairs, batches, state.way);
    showControls(parts, state, start, batches.length);
    answer.replaceChildren(html("strong", { textContent: `${share} of all cells are padding.` }), sentence);
    const { pen, width } = penOf(canvas), ink = getComputedStyle(el).color;
    const last = drawTiles(pen, batches, start - 1, state, width, ink);
    drawStrip(pen, batches, start - 1, last, state, width, ink);
    canvas.setAttribute("aria-label", `Batches ${start} to ${last} of ${batches.length} as rows of tiles. ${share} padding.`);
    canvas.dataset.drawn = `${start}-${last}`;
  }

  let waiting = 0; // several traits may change at once
  onTraits(model, STATE, () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); });
  draw();
  return onWidth(canvas.parentElement, draw);
}

export default { render };
