// A mask painted over real scores: a matrix of cells that the reader opens and closes, and what leaks through it.
import {
  arrowOf, button, clamp, html, labelled, onPointer, onTraits, onWidth, readout, select, setter, tick, traits, unique
} from "../../viz/controls.js";
import { BLUE, GREY, RED, longest, setAttributes, shorten, svg, unmarked } from "../../viz/drawing.js";
import { FILLS, PAD, closeRow, isOpen, isSquare, mapsOf, paintCell, reach, verdictOn, weigh } from "./reach.js";

const USES = ["Encoder self-attention", "Decoder self-attention", "Cross-attention"];
const STATE = ["sentence", "use", "fill", "padding", "causal", "flipped", "query", "key"];
const percent = x => `${(100 * x).toFixed(x > 0 && x < 0.001 ? 2 : 1)} %`;

function meter(text) {
  const bar = html("span", { className: "bar" }, html("span")), value = html("b"), name = html("span", { textContent: text });
  return { bar: bar.firstChild, value, name, row: html("div", { className: "meter" }, name, bar, value) };
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set, current) {
  const id = unique("mask");
  const afresh = { flipped: [], query: 0, key: 0 };
  const choice = (label, texts, trait, reset, more = () => ({})) => {
    const menu = select(texts.map((text, i) => [i, text]), value => set({ ...reset, [trait]: +value, ...more(value) }), { id: `${id}-${trait}` });
    return { menu, label: labelled(label, menu, { htmlFor: menu.id }) };
  };
  const sentence = choice("sentence", model.get("sentences").map(s => s.label), "sentence", afresh);
  const use = choice("attention", USES, "use", afresh, value => ({ causal: value === "1" })); // as the model has it
  const fill = choice("hidden scores become", FILLS.map(f => f[0]), "fill", {});
  const padding = tick("hide padding", on => set({ padding: on })), causal = tick("hide the future", on => set({ causal: on }));
  const clear = button("undo my painting", () => set({ flipped: [] }));
  const close = button("close this row", () => set({ flipped: closeRow(current(), traits(model, ...STATE), model.get("query")) }));
  const parts = { sentence, use, fill, padding, causal, meters: { future: meter("weight on the future"), padding: meter("weight on padding") },
    stage: html("div", { className: "stage" }), answer: readout(), verdict: html("p", { className: "verdict" }) };
  el.append(html("div", { className: "mask-painter" },
    html("div", { className: "choices" }, sentence.label, use.label, fill.label),
    html("div", { className: "ticks" }, padding.label, causal.label, close, clear), parts.stage, parts.answer,
    html("div", { className: "meters" }, parts.meters.future.row, parts.meters.padding.row), parts.verdict));
  return parts;
}

// Where the matrix stands, in pixels.
function layout(map, width) {
  const left = Math.min(10 + 7.2 * longest(map.queries), 0.27 * width), top = 10 + 6.6 * Math.min(longest(map.keys), 10);
  const rows = map.queries.length, columns = map.keys.length, cell = Math.max(12, Math.min(42, (width - left - 22) / columns));
  return { left, top, cell, rows, columns, size: Math.min(13, cell * 0.6) };
}

function tokenLabels(map, { left, top, cell, size }) {
  const write = (token, attributes, limit) => svg("text", { "dominant-baseline": "central", style: `font-size:${size}px`,
    ...attributes, ...(token === PAD ? { class: "pad" } : {}) }, shorten(unmarked(token), limit));
  const most = Math.floor(left / (size * 0.58)), y = top - 5, middle = j => left + (j + 0.5) * cell;
  return [...map.queries.map((token, i) => write(token, { x: left - 5, y: top + (i + 0.5) * cell, "text-anchor": "end" }, most)),
    ...map.keys.map((token, j) => write(token, { x: middle(j), y, transform: `rotate(-60 ${middle(j)} ${y})` }, 10))];
}

// The matrix without its colours: `cells[i][j]` to paint, `empties[i]` for what is said of a row, and the cursor.
function drawMatrix(map, at, name) {
  const { left, top, cell, rows, columns } = at;
  const picture = svg("svg", { width: left + cell * columns + 20, height: top + cell * rows + 2, tabindex: 0,
    role: "application", "aria-label": `${name}: queries on rows, keys on columns. `
      + "Arrow keys move, the space bar opens or closes a cell." }, ...tokenLabels(map, at));
  const cells = map.queries.map((_, i) => map.keys.map((__, j) => {
    const x = left + j * cell, y = top + i * cell, a = cell * 0.32;
    const paint = svg("rect", { x, y, width: cell, height: cell });
    const frame = svg("rect", { x, y, width: cell, height: cell, class: "frame" });
    const cross = svg("path", { class: "cross",
      d: `M${x + a} ${y + a}L${x + cell - a} ${y + cell - a}M${x + cell - a} ${y + a}L${x + a} ${y + cell - a}` });
    picture.append(paint, frame, cross);
    return { paint, cross };
  }));
  const empties = map.queries.map((_, i) => svg("text", { x: left + cell * columns / 2, y: top + (i + 0.5) * cell,
    "text-anchor": "middle", "dominant-baseline": "central", class: "empty", style: `font-size:${Math.min(13, cell * 0.7)}px` }));
  const cursor = svg("rect", { width: cell, height: cell, class: "cursor" });
  picture.append(...empties, cursor);
  return { picture, cells, empties, cursor, at };
}

// A mouse paints with what the first cell becomes; a finger taps, for it must stay able to scroll; keys move and flip.
function listen({ picture, at }, { point, paint, opened, here }) {
  const { left, top, cell, rows, columns } = at;
  let brush = null;
  const onCell = act => ({ x, y }, event) => {
    const key = Math.floor((x - left) / cell), query = Math.floor((y - top) / cell);
    if (key >= 0 && key < columns && query >= 0 && query < rows) act(query, key, event);
  };
  onPointer(picture, onCell((query, key, event) => {
    if (event.pointerType === "touch") return;
    brush = !opened(query, key);
    paint(query, key, brush);
  }), ["pointerdown"]);
  onPointer(picture, onCell((query, key, event) => {
    if (event.pointerType === "touch") paint(query, key, !opened(query, key));
  }), ["click"]);
  onPointer(picture, onCell((query, key, event) => {
    if (event.pointerType === "touch") return;
    if (brush === null || !event.buttons) { brush = null; point(query, key); }
    else if (opened(query, key) !== brush) paint(query, key, brush);
  }), ["pointermove"]);
  picture.addEventListener("keydown", event => {
    const move = arrowOf(event), [query, key] = here();
    if (move) point(clamp(query + move[0], rows), clamp(key + move[1], columns));
    else if (event.key === " " || event.key === "Enter") paint(query, key, !opened(query, key));
    else return;
    event.preventDefault();
  });
}

function colour({ cells, empties }, map, state, found) {
  found.rows.forEach(({ opened, weights, real, bad }, i) => {
    empties[i].textContent = bad ? "NaN in every cell" : opened.includes(true) ? "" :
      weights[0] ? `empty row: ${percent(weights[0])} each` : "empty row: zeros";
    weights.forEach((w, j) => {
      const secret = map.keys[j] === PAD || (state.use === 1 && j > i), { paint, cross } = cells[i][j];
      setAttributes(paint, { fill: bad || secret ? RED : BLUE, "fill-opacity": bad ? 0.25 : (real ? 1 : 0.35) * Math.sqrt(w) });
      cross.style.display = opened[j] ? "none" : "";
    });
  });
}

function showControls({ sentence, use, fill, padding, causal, meters, verdict }, state, found) {
  for (const [choice, value] of [[sentence, state.sentence], [use, state.use], [fill, state.fill]]) choice.menu.value = value;
  padding.input.checked = state.padding;
  causal.input.checked = state.causal && isSquare(state);
  causal.input.disabled = !isSquare(state);
  for (const [name, { bar, value }] of Object.entries(meters)) {
    bar.style.width = `${found.total ? 100 * found[name] / found.total : 0}%`;
    value.textContent = found.total ? percent(found[name] / found.total) : "–";
  }
  meters.future.row.hidden = !isSquare(state);
  meters.future.bar.style.background = state.use === 1 ? RED : GREY; // an encoder may look ahead
  meters.future.name.textContent = state.use === 1 ? "weight on the future" : "weight on later words";
  verdict.textContent = verdictOn(found, state);
  verdict.title = FILLS[state.fill][0];
}

function answerTo(map, state, i, j) {
  const { opened, weights } = weigh(map, state, i), name = (tokens, n) => `${n + 1} “${unmarked(tokens[n])}”`;
  return `Query ${name(map.queries, i)}, key ${name(map.keys, j)}: score `
    + `${map.scores[i * map.keys.length + j].toFixed(2).replace("-", "−")}, ${opened[j] ? "open" : "hidden"}, weight `
    + `${Number.isNaN(weights[j]) ? "NaN" : percent(weights[j])}.`;
}

function render({ model, el }) {
  const maps = mapsOf(model.get("sentences"), model.get("scores")), set = setter(model), read = () => traits(model, ...STATE);
  const current = () => maps[model.get("sentence")][model.get("use")], parts = build(model, el, set, current);
  let matrix;

  function draw() {
    const map = current();
    matrix = drawMatrix(map, layout(map, el.clientWidth || 600), USES[model.get("use")]);
    listen(matrix, { point: (query, key) => set({ query, key }), here: () => [model.get("query"), model.get("key")],
      opened: (query, key) => isOpen(map, read(), query, key),
      paint: (query, key, wanted) => set({ query, key, flipped: paintCell(map, read(), query, key, wanted) }) });
    parts.stage.replaceChildren(matrix.picture);
    update();
  }
  function update() {
    const state = read(), found = reach(current(), state);
    colour(matrix, current(), state, found);
    showControls(parts, state, found);
    point();
  }
  function point() {
    const map = current(), state = read(), { left, top, cell } = matrix.at;
    const i = Math.min(state.query, map.queries.length - 1), j = Math.min(state.key, map.keys.length - 1);
    setAttributes(matrix.cursor, { x: left + j * cell, y: top + i * cell });
    parts.answer.textContent = answerTo(map, state, i, j);
  }

  onTraits(model, ["sentence", "use"], draw);
  onTraits(model, ["fill", "padding", "causal", "flipped"], update);
  onTraits(model, ["query", "key"], point);
  draw();
  return onWidth(el, draw);
}

export default { render };
