// Attention maps of a patient that reads a sentence with its right translation; the healthy model's for comparison.
import { group, html, onWidth, radios, select, tick, unique } from "../../viz/controls.js";
import { drawMap } from "../../viz/heads_drawing.js";
import { pixels, setAttributes } from "../../viz/drawing.js";
import { BOS } from "../../viz/engine/tokenizer.js";
import { HEADS, LAYERS } from "../../viz/engine/switchboard.js";
import { MOVED, readAtOnce } from "./examination.js";

const HUE = [59, 131, 214], EMPTY = 1e-6;
const KINDS = [["encoder", "encoder"], ["decoder", "masked"], ["cross", "cross"]];
const NAMES = { encoder: "Encoder self-attention", decoder: "Masked self-attention", cross: "Cross-attention" };
const BOX = { encoder: "encoder", decoder: "decoder", cross: "decoder" };

const numbered = (word, count) => Array.from({ length: count }, (_, i) => [i, `${word} ${i + 1}`]);

// In words: the sums of the rows, and the weight on keys later than the query where both are the same sentence.
export function described(weights, rows, columns, square) {
  const sums = Array.from({ length: rows }, (_, i) => weights.slice(i * columns, (i + 1) * columns).reduce((a, b) => a + b, 0));
  const later = weights.reduce((sum, w, cell) => cell % columns > Math.floor(cell / columns) ? sum + w : sum, 0);
  const low = Math.min(...sums).toFixed(2), high = Math.max(...sums).toFixed(2);
  const share = later < EMPTY ? "none" : `${Math.max(1, Math.round(100 * later / sums.reduce((a, b) => a + b, 0)))} %`;
  return `The rows sum to ${low === high ? low : `between ${low} and ${high}`}.${square ? ` Weight on later tokens: ${share}.` : ""}`;
}

// Where two maps differ most: the cell, and by how much.
export function widestGap(weights, others) {
  const gaps = Array.from(weights, (w, cell) => Math.abs(w - others[cell])), most = Math.max(...gaps);
  return { cell: gaps.indexOf(most), most };
}

// The same in words; the weights of both are in the order of the maps.
export function compared(weights, others, queries, keys) {
  const { cell, most } = widestGap(weights, others);
  if (most < MOVED) return "The two maps are equal.";
  const at = [queries[Math.floor(cell / keys.length)], keys[cell % keys.length]], [own, whole] = [weights, others].map(map => map[cell].toFixed(2));
  return `They differ most where “${at[0]}” reads “${at[1]}”: ${own} in this model, ${whole} in the healthy one.`;
}

export function mapsView() {
  const state = { kind: "encoder", layer: 0, head: 0, healthy: false };
  let shown;
  const set = values => { Object.assign(state, values); draw(); };
  const kinds = radios(unique("map"), KINDS, kind => set({ kind }));
  const layers = select(numbered("layer", LAYERS), layer => set({ layer: +layer }), { "aria-label": "Layer of the map" });
  const heads = select(numbered("head", HEADS), head => set({ head: +head }), { "aria-label": "Head of the map" });
  const compare = tick("healthy model beside it", healthy => set({ healthy }));
  const stage = html("div", { className: "doctor-map" }), said = html("p", { className: "live-caption", role: "status" });
  const which = group("Attention map", ...kinds.labels);
  which.classList.add("live-switches");
  const element = html("div", {}, which, html("div", { className: "doctor-row" }, layers, heads, compare.label), said, stage);
  const axes = () => ({ queries: state.kind === "encoder" ? shown.source : shown.target, keys: state.kind === "decoder" ? shown.target : shown.source });
  const weightsOf = ({ maps }) => Array.from(maps[`${BOX[state.kind]}.${state.layer + 1}.${state.kind === "cross" ? "cross" : "self"}_attention`][state.head]);

  // One map with its caption, and what is said of it.
  function figure(model, weights, room) {
    const { queries, keys } = axes(), paint = (row, column) => [...HUE, Math.round(255 * Math.min(1, weights[row * keys.length + column]))];
    const { picture } = drawMap({ queries, keys, gold: [] }, pixels(keys.length, queries.length, paint), room);
    const text = described(weights, queries.length, keys.length, state.kind !== "cross");
    setAttributes(picture, { role: "img", "aria-label": `${model}: rows are queries, columns are keys. ${text}` });
    return { text, element: html("figure", {}, ...(state.healthy ? [html("p", { className: "live-caption", textContent: `${model}. ${text}` })] : []), picture) };
  }
  function draw() {
    if (!shown) return;
    element.classList.toggle("compared", state.healthy);
    const { queries, keys } = axes(), { kind, layer, head, healthy } = state, own = weightsOf(shown.ill), whole = weightsOf(shown.whole);
    const wide = healthy && stage.clientWidth >= 560, room = Math.min(wide ? stage.clientWidth / 2 - 12 : stage.clientWidth, 460);
    const name = `${NAMES[kind]}, layer ${layer + 1}, head ${head + 1}`, first = figure(healthy ? "This model" : name, own, room);
    stage.replaceChildren(first.element, ...(healthy ? [figure("Healthy model", whole, room).element] : []));
    said.textContent = `${name}. ${healthy ? compared(own, whole, queries, keys) : first.text}`;
  }
  onWidth(stage, draw);
  kinds.show(state.kind);
  // `ids`: the right translation, which both models read.
  function show(engine, patient, text, ids) {
    const source = engine.read(text), read = [BOS, ...ids], names = list => list.map(id => engine.tokenizer.readable(id).replace("▁", ""));
    shown = { ill: readAtOnce(patient, source, read), whole: readAtOnce({ engine, switches: {} }, source, read), source: names(source), target: names(read) };
    draw();
  }
  return { element, show };
}
