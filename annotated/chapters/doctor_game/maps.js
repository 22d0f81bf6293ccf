// Attention maps of a patient that reads a sentence with its right translation; the healthy model's for comparison.
import { group, html, onWidth, radios, select, tick, unique } from "../../viz/controls.js";
import { drawMap } from "../../viz/heads_drawing.js";
import { pixels } from "../../viz/drawing.js";
import { BOS } from "../../viz/engine/tokenizer.js";
import { HEADS, LAYERS } from "../../viz/engine/switchboard.js";
import { readAtOnce } from "./examination.js";

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

export function mapsView() {
  const state = { kind: "encoder", layer: 0, head: 0, healthy: false };
  let shown;
  const set = values => { Object.assign(state, values); draw(); };
  const kinds = radios(unique("map"), KINDS, kind => set({ kind }));
  const layers = select(numbered("layer", LAYERS), layer => set({ layer: +layer }), { "aria-label": "Layer of the map" });
  const heads = select(numbered("head", HEADS), head => set({ head: +head }), { "aria-label": "Head of the map" });
  const compare = tick("healthy model instead", healthy => set({ healthy }));
  const stage = html("div", { className: "doctor-map" }), said = html("p", { className: "live-caption", role: "status" });
  const which = group("Attention map", ...kinds.labels);
  which.classList.add("live-switches");
  const element = html("div", {}, which, html("div", { className: "doctor-row" }, layers, heads, compare.label), said, stage);
  function draw() {
    if (!shown) return;
    const { kind, layer, head, healthy } = state, { maps } = healthy ? shown.whole : shown.ill;
    const weights = maps[`${BOX[kind]}.${layer + 1}.${kind === "cross" ? "cross" : "self"}_attention`][head];
    const queries = kind === "encoder" ? shown.source : shown.target, keys = kind === "decoder" ? shown.target : shown.source;
    const paint = (row, column) => [...HUE, Math.round(255 * Math.min(1, weights[row * keys.length + column]))];
    const { picture } = drawMap({ queries, keys, gold: [] }, pixels(keys.length, queries.length, paint), Math.min(stage.clientWidth, 460));
    const text = described(Array.from(weights), queries.length, keys.length, kind !== "cross");
    const name = `${NAMES[kind]}, layer ${layer + 1}, head ${head + 1}${healthy ? ", healthy model" : ""}`;
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `${name}: rows are queries, columns are keys. ${text}`);
    stage.replaceChildren(picture);
    said.textContent = `${name}. ${text}`;
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
