// The boxes of figure 2, one after the other: matrices before and after each, and how the chosen number comes about.
import { arrowOf, backAndNext, button, clamp, html, onPointer, onTraits, onWidth, radios, readout, setter, tick, unique } from "../../viz/controls.js";
import { setAttributes, svg } from "../../viz/drawing.js";
import { matricesOf, sentenceOf } from "./equation.js";

// The drawing's own names, from the bottom up; what goes in, what comes out, in the order of drawing.
export const BOXES = [
  { name: "Q, K, V", shows: ["Q", "K", "V"], symbol: "", text: "The three matrices that the formula is given. A row belongs to a token." },
  { name: "MatMul", shows: ["Q", "Kt", "dots"], symbol: "·", text: "Each query times each key: one dot product for every pair of tokens." },
  { name: "Scale", shows: ["dots", "scores"], symbol: "→", text: "Each dot product divided by √d_k: the scores." },
  { name: "Mask (opt.)", shows: ["scores", "open"], symbol: "→", text: "A score that may not be used becomes −∞. The encoder hides only padding; tick the box for the decoder." },
  { name: "SoftMax", shows: ["open", "weights"], symbol: "→", text: "Row by row: the exponential of each score, divided by the sum of its row." },
  { name: "MatMul ", shows: ["weights", "V", "output"], symbol: "·", text: "Each row of weights mixes the rows of V: one output vector for each query." },
];
const TITLES = { Q: "Q", K: "K", V: "V", Kt: "Kᵀ", dots: "QKᵀ", scores: "scores", open: "masked scores", weights: "weights", output: "output" };
const GAP = 26, HEAD = 40;

const short = x => x === -Infinity ? "−∞" : (Number.isInteger(+x.toFixed(6)) ? x.toFixed(0) : x.toFixed(2)).replace("-", "−");

function build(el, names, id, { choose, go, ask, hide }) {
  const boxes = BOXES.map((box, i) => button(box.name, () => choose(i), { className: "box" }));
  const asks = radios(`${id}-asks`, names.map((name, i) => [i, name]), i => ask(+i)), mask = tick("hide the future", hide);
  const walk = backAndNext(go), title = html("p", { className: "title" }), says = readout();
  const stage = html("div", { className: "stage" });
  el.append(html("div", { className: "boxes" }, html("div", { className: "figure", role: "group", "aria-label": "Boxes of figure 2" }, ...boxes),
    html("div", { className: "work" },
      html("div", { className: "bar" }, html("fieldset", {}, html("legend", { textContent: "row of" }), ...asks.labels), mask.label,
        walk.element), title, stage, says)));
  return { boxes, asks, mask: mask.input, walk, title, stage, says };
}

// Which rows and columns of a matrix have part in the chosen number (row i, column j of the result).
function partOf(kind, place, i, j) {
  const { shows } = BOXES[place], last = shows.at(-1);
  if (place === 0) return { row: i };
  if (kind === last) return { row: i, column: j };
  if (shows.length === 2) return place === 4 ? { row: i } : { row: i, column: j };
  return kind === shows[0] ? { row: i } : { column: j };
}

function labelsOf(kind, names) {
  const entries = n => Array.from({ length: n }, (_, d) => String(d + 1));
  return { rows: kind === "Kt" ? null : names, columns: ["Kt", "dots", "scores", "open", "weights"].includes(kind) ? names : null, entries };
}

// One matrix with its title; returns its width and the place of its cells.
function drawMatrix(kind, matrix, names, { x, cell, part, shade, first }) {
  const high = cell * 0.86, { rows, columns } = labelsOf(kind, names), made = svg("g", { class: `matrix ${kind}` });
  const left = x + (rows && first ? 36 : 0), width = cell * matrix[0].length;
  made.append(svg("text", { x: left + width / 2, y: 14, class: "name", "text-anchor": "middle" }, TITLES[kind]));
  if (columns) names.forEach((name, j) => made.append(svg("text", { x: left + (j + 0.5) * cell, y: HEAD - 7, "text-anchor": "middle" }, name)));
  matrix.forEach((line, i) => {
    if (rows && first) made.append(svg("text", { x: left - 6, y: HEAD + (i + 0.62) * high, "text-anchor": "end" }, names[i]));
    line.forEach((value, j) => {
      const on = (part.row === undefined || part.row === i) && (part.column === undefined || part.column === j);
      const box = { x: left + j * cell, y: HEAD + i * high, width: cell, height: high };
      made.append(svg("rect", { ...box, class: "tint", "fill-opacity": shade ? 0.75 * Math.max(0, value) : 0 }),
        svg("rect", { ...box, class: on ? "cell on" : "cell" }),
        svg("text", { x: left + (j + 0.5) * cell, y: HEAD + (i + 0.64) * high, "text-anchor": "middle", class: on ? "on" : "" }, short(value)));
    });
  });
  return { made, left, right: left + width, bottom: HEAD + matrix.length * high, high };
}

// The matrices of one box in a row, each joined to the next by its sign.
function drawStep(place, all, names, i, j, width) {
  const { shows, symbol } = BOXES[place], columns = shows.reduce((n, kind) => n + all[kind][0].length, 0);
  const rows = place === 0 || place === 5 ? 36 * shows.length : 36;
  const cell = Math.max(24, Math.min(46, (width - rows - GAP * (shows.length - 1) - 4) / columns));
  const picture = svg("svg", { tabindex: 0, role: "application" });
  let x = 0, bottom = 0, drawn;
  shows.forEach((kind, n) => {
    if (n) {
      const sign = n === shows.length - 1 && shows.length === 3 && place ? "=" : symbol;
      picture.append(svg("text", { x: x + GAP / 2, y: HEAD + cell * 1.4, "text-anchor": "middle", class: "sign" }, sign));
      x += GAP;
    }
    drawn = drawMatrix(kind, all[kind], names, { x, cell, part: partOf(kind, place, i, j), shade: kind === "weights",
      first: n === 0 || place === 0 || (place === 5) });
    picture.append(drawn.made);
    [x, bottom] = [drawn.right, Math.max(bottom, drawn.bottom)];
  });
  setAttributes(picture, { width: x + 2, height: bottom + 4, viewBox: `0 0 ${x + 2} ${bottom + 4}` });
  return { picture, result: drawn, cell };
}

function render({ model, el }) {
  const names = model.get("names"), set = setter(model), id = unique("boxes");
  const at = () => model.get("step"), choose = step => set({ step: clamp(step, BOXES.length) });
  const parts = build(el, names, id, { choose, go: by => choose(at() + by), ask: row => set({ row }), hide: causal => set({ causal }) });

  const all = () => matricesOf(model.get("q"), model.get("k"), model.get("v"), model.get("causal"));
  const chosen = matrices => ({ i: model.get("row"), j: clamp(model.get("column"), matrices[BOXES[at()].shows.at(-1)][0].length) });

  function listen({ picture, result, cell }, width) {
    onPointer(picture, ({ x, y }) => {
      const column = Math.floor((x - result.left) / cell), row = Math.floor((y - HEAD) / result.high);
      if (column >= 0 && column < width && row >= 0 && row < names.length) set({ row, column });
    }, ["pointerdown"]);
    picture.addEventListener("keydown", event => {
      const move = arrowOf(event), { i, j } = chosen(all());
      if (!move) return;
      set({ row: clamp(i + move[0], names.length), column: clamp(j + move[1], width) });
      event.preventDefault();
      parts.stage.firstChild.focus();
    });
  }
  function draw() {
    const step = at(), box = BOXES[step], matrices = all(), { i, j } = chosen(matrices);
    const made = drawStep(step, matrices, names, i, j, parts.stage.clientWidth || 560);
    listen(made, matrices[box.shows.at(-1)][0].length);
    parts.stage.replaceChildren(made.picture);
    parts.boxes.forEach((one, n) => setAttributes(one, { "aria-pressed": n === step, class: `box${n === step ? " now" : n < step ? " done" : ""}` }));
    parts.asks.show(String(i));
    parts.asks.inputs.forEach((input, n) => { input.checked = n === i; });
    parts.mask.checked = model.get("causal");
    parts.walk.show(step, BOXES.length);
    parts.title.replaceChildren(html("b", { textContent: `${step + 1} of ${BOXES.length}: ${box.name.trim()}.` }), ` ${box.text}`);
    parts.says.textContent = sentenceOf(box.name, matrices, names, i, j);
    made.picture.setAttribute("aria-label", `${box.name.trim()}: row ${names[i]}. ${parts.says.textContent} Arrow keys choose another number.`);
  }

  onTraits(model, ["step", "row", "column", "causal"], draw);
  draw();
  return onWidth(el, draw);
}

export default { render };
