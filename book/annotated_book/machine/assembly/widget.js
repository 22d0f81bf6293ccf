// Figure 1 with the number of parameters in every box, recounted by formula while the reader moves its sizes.
// Each box fills from the left by its share of the whole.
import { html, readout, scale, select, setter, tick } from "../../viz/controls.js";
import { BLUE, GREEN, ORANGE, svg } from "../../viz/drawing.js";

const powers = (from, to) => Array.from({ length: Math.log2(to / from) + 1 }, (_, i) => from * 2 ** i);
const steps = (from, to, step) => Array.from({ length: (to - from) / step + 1 }, (_, i) => from + i * step);
export const SIZES = [
  ["num_encoder_layers", "layers N", steps(1, 12, 1)], ["d_model", "d_model", steps(64, 1280, 64)],
  ["d_ff", "d_ff", steps(256, 5120, 256)], ["num_heads", "heads h", powers(1, 64)],
  ["d_k", "d_k", powers(8, 512)], ["d_v", "d_v", powers(8, 512)],
  ["vocab_size", "vocabulary V", steps(1000, 60000, 500)],
];

// The parameters in each box, by formula.
export function count(s) {
  const d = s.d_model, keys = s.num_heads * s.d_k, values = s.num_heads * s.d_v, n = s.num_encoder_layers;
  const attention = d * (2 * keys + values) + values * d, feedForward = 2 * d * s.d_ff + s.d_ff + d, norm = 2 * d;
  const table = s.vocab_size * d;
  return {
    source: table, target: s.tie_embeddings ? 0 : table, linear: s.tie_embeddings ? 0 : table,
    es: n * attention, ef: n * feedForward, en: n * 2 * norm,
    ds: n * attention, dc: n * attention, df: n * feedForward, dn: n * 3 * norm,
  };
}

// Every row of the paper ties its matrices, so a row that is chosen ties them again; the vocabulary stays the reader's.
export const rowSizes = row => ({ ...row.sizes, tie_embeddings: true });

export const fits = (row, sizes) => Object.entries(row.sizes).every(([name, value]) => sizes[name] === value);

// Two columns that are read upwards, as in the paper: name, x, y, label.
const LEFT = 12, RIGHT = 208, WIDTH = 160, HEIGHT = 40;
const BOXES = [
  ["source", LEFT, 448, "source embedding"], ["target", RIGHT, 448, "target embedding"],
  ["es", LEFT, 356, "self-attention"], ["ef", LEFT, 310, "feed-forward"], ["en", LEFT, 264, "norms (2 per layer)"],
  ["ds", RIGHT, 356, "masked self-attention"], ["dc", RIGHT, 310, "cross-attention"],
  ["df", RIGHT, 264, "feed-forward"], ["dn", RIGHT, 218, "norms (3 per layer)"],
  ["linear", RIGHT, 130, "pre-softmax linear"],
];
const FILL = { source: ORANGE, target: ORANGE, linear: ORANGE, ef: GREEN, df: GREEN };
const WIRES = ["M92 448V435M92 415V402", "M288 448V435M288 415V402", "M288 212V170", "M288 130V112", "M92 258V240H192V330H208"];
const STACKS = [{ x: 4, y: 258, height: 144 }, { x: 200, y: 212, height: 190 }];
const NOTES = [[288, 104, "softmax"], [92, 428, "+ sinusoids: 0"], [288, 428, "+ sinusoids: 0"],
  [92, 506, "source tokens"], [288, 506, "target, shifted right"]];

const shown = number => number >= 1e5 ? `${(number / 1e6).toFixed(2)} M` : number.toLocaleString("en-GB");
// Three digits: two numbers and a product sign have to fit into a box.
const short = number => {
  const millions = number / 1e6;
  return `${millions.toFixed(millions < 10 ? 2 : millions < 100 ? 1 : 0)} M`;
};
const PER_LAYER = new Set(["es", "ef", "en", "ds", "dc", "df", "dn"]);

// The numbers after a change, where h·d_k and h·d_v are kept while h changes.
export function changed(sizes, more, keep) {
  const heads = more.num_heads ?? sizes.num_heads, by = keep && heads !== sizes.num_heads ? sizes.num_heads / heads : 1;
  const width = size => Math.max(8, Math.min(512, size * by));
  return { ...sizes, d_k: width(sizes.d_k), d_v: width(sizes.d_v), ...more };
}

// The shape of what leaves a box, for B sentence pairs of S source and T target tokens.
export function shapeText(key, sizes) {
  if (key === "linear") return `B × T × ${sizes.vocab_size.toLocaleString("en-GB")}`;
  return `B × ${["source", "es", "ef", "en"].includes(key) ? "S" : "T"} × ${sizes.d_model}`;
}

// What a box says: the number, and for the parts of a layer how the stack's number comes about.
export function boxText(key, number, layers) {
  if (!number) return "the same matrix";
  if (!PER_LAYER.has(key)) return shown(number);
  const say = number >= 1e5 ? short : shown; // one unit on both sides
  return `${layers} × ${say(number / layers)} = ${say(number)}`;
}

function controlsOf(rows, change, choose) {
  const row = select([["", "none: my own"], ...rows.map(one => [one.row, `${one.row}: ${one.change}`])], choose);
  const sliders = SIZES.map(([name, label, values]) => ({ name, label, ...scale(name, values, value => change({ [name]: value }), String) }));
  const tie = tick("one matrix, tied three ways", on => change({ tie_embeddings: on }), { name: "tie_embeddings" });
  const keep = tick("keep h·d_k and h·d_v when h changes", () => {}, { name: "keep", checked: true });
  const shapes = tick("show the shapes of the outputs", () => change({}), { name: "shapes" });
  const element = html("div", { className: "controls" }, html("label", { className: "row" }, "row of Table 3", row),
    ...sliders.map(({ label, input, number }) => html("label", {}, html("span", {}, `${label} = `, number), input)),
    html("div", { className: "ticks" }, tie.label, keep.label, shapes.label));
  return { element, row, sliders, tie, keep, shapes };
}

// Figure 1 with a place for a number in every box; returns the parts that change.
function drawFigure() {
  const name = svg("title"), picture = svg("svg", { viewBox: "0 88 380 428", role: "img" }, name);
  const stacks = [svg("text", { x: 6, y: 250 }), svg("text", { x: 202, y: 204 })];
  const tied = svg("path", { class: "tie", d: "M172 468H208 M368 468H378V150H368" });
  picture.append(...WIRES.map(d => svg("path", { class: "wire", d })),
    ...STACKS.map(stack => svg("rect", { class: "stack", width: 176, rx: 8, ...stack })), ...stacks,
    ...NOTES.map(([x, y, content]) => svg("text", { class: "small", x, y, "text-anchor": "middle" }, content)), tied);
  const boxes = Object.fromEntries(BOXES.map(([key, x, y, label]) => {
    const fill = svg("rect", { x, y, height: HEIGHT, fill: FILL[key] ?? BLUE, "fill-opacity": 0.45 });
    const number = svg("text", { class: "count", x: x + 8, y: y + 34 });
    picture.append(fill, svg("rect", { class: "box", x, y, width: WIDTH, height: HEIGHT, rx: 4 }),
      svg("text", { class: "small", x: x + 8, y: y + 16 }, label), number);
    return [key, { fill, number }];
  }));
  return { picture, name, stacks, tied, boxes };
}

function fillFigure({ stacks, tied, boxes }, sizes, parts, total, shapes) {
  for (const [key, { fill, number }] of Object.entries(boxes)) {
    fill.setAttribute("width", WIDTH * parts[key] / total);
    number.textContent = shapes ? shapeText(key, sizes) : boxText(key, parts[key], sizes.num_encoder_layers);
  }
  stacks[0].textContent = `${sizes.num_encoder_layers} × encoder`;
  stacks[1].textContent = `${sizes.num_encoder_layers} × decoder`;
  tied.setAttribute("visibility", sizes.tie_embeddings ? "visible" : "hidden");
}

const signed = number => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(1)}`;

// The largest of the three kinds of parts, in a sentence.
export function headline(parts, total) {
  const kinds = { "feed-forward networks": ["ef", "df"], attentions: ["es", "ds", "dc"], embeddings: ["source", "target", "linear"] };
  const sums = Object.entries(kinds).map(([name, keys]) => [name, keys.reduce((sum, key) => sum + parts[key], 0)]);
  const [name, most] = sums.reduce((best, one) => one[1] > best[1] ? one : best);
  return `${(100 * most / total).toFixed(0)} % of the parameters are in the ${name}`;
}

export function answerTo(parts, total, row) {
  const share = keys => `${(100 * keys.reduce((sum, key) => sum + parts[key], 0) / total).toFixed(0)} %`;
  const millions = total / 1e6;
  return `${millions.toFixed(1)} million parameters: embeddings ${share(["source", "target", "linear"])}, `
    + `attention ${share(["es", "ds", "dc"])}, feed-forward ${share(["ef", "df"])}. `
    + (row?.printed ? `Table 3 prints ${row.printed} for row ${row.row}; the difference is ${signed(millions - row.printed)} million.`
      : row ? `Table 3 prints no number for row ${row.row}.` : "Table 3 has no such row.");
}

function render({ model, el }) {
  const rows = model.get("rows"), set = setter(model), sizes = () => model.get("sizes");
  const change = more => set({ sizes: changed(sizes(), more, controls.keep.input.checked && !("d_k" in more)) });
  let chosen = rows.find(row => fits(row, sizes()))?.row ?? "";
  const controls = controlsOf(rows, change, name => { const row = rows.find(r => r.row === name); if (row) change(rowSizes(row)); });
  const figure = drawFigure(), answer = readout(), title = html("p", { className: "title" });
  el.append(html("div", { className: "parameter-figure" }, controls.element, title, figure.picture, answer));

  function draw() {
    const now = sizes(), parts = count(now), total = Object.values(parts).reduce((a, b) => a + b, 0);
    // Rows C4 and others may share sizes with none: keep the reader's choice while it fits.
    const row = rows.find(r => r.row === chosen && fits(r, now)) ?? rows.find(r => fits(r, now));
    chosen = controls.row.value = row?.row ?? "";
    for (const { name, show } of controls.sliders) show(now[name]);
    controls.tie.input.checked = now.tie_embeddings;
    fillFigure(figure, now, parts, total, controls.shapes.input.checked);
    title.textContent = headline(parts, total);
    answer.textContent = answerTo(parts, total, row);
    figure.name.textContent = `Figure 1 with parameters in each box. ${answer.textContent}`;
    if (model.get("total") !== total) set({ total });
  }
  model.on("change:sizes", draw);
  draw();
}

export default { render };
