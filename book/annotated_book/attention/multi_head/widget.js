// One matrix of queries on its way through multi-head attention, a step at a time. Heads have a colour and a hatching.
import { button, clamp, html, isCalm, readout, setter, slider, unique } from "../../viz/controls.js";
import { BLUE, GREEN, GREY, ORANGE, RED, VIOLET, svg } from "../../viz/drawing.js";
import { playing } from "../../viz/player.js";

const HUES = [BLUE, ORANGE, GREEN, VIOLET, RED, GREY, "#b8941c", "#2aa3b5"];
const HATCH = ["M0 3H6", "M3 0V6", "M0 0L6 6", "M6 0L0 6", "M0 3H6M3 0V6", "M0 0L6 6M6 0L0 6", "M2 3H4", "M0 1H6M0 4H6"];
const W = 310, LEFT = 38, CELL = 30, HIGH = 27, TOP = 22, BETWEEN = 26; // BETWEEN: rows of heads, the head's name included

// Everything that the reader sees, once; returns the parts that change.
function build(el, most, { choose, go, toggle }) {
  const heads = slider({ min: 0, max: most, step: 1, "aria-label": "heads" }, choose), many = html("output");
  const back = button("◀ back", () => go(-1)), play = button("▶ play", toggle), next = button("next ▶", () => go(1));
  const name = html("p", { className: "title" }), shape = html("p", { className: "shape" }), text = html("p", { className: "says" });
  const stage = html("div", { className: "stage" }), says = readout("div");
  says.append(name, shape, text);
  el.append(html("div", { className: "split-heads" },
    html("div", { className: "bar" }, html("label", {}, "heads h ", heads, many), html("span", { className: "buttons" }, back, play, next)),
    html("div", { className: "sides" }, stage, says)));
  return { heads, many, back, play, next, name, shape, text, stage };
}

const hatchings = id => svg("defs", {}, ...HUES.map((hue, h) => svg("pattern", { id: `${id}-${h}`, width: 6, height: 6,
  patternUnits: "userSpaceOnUse" }, svg("rect", { width: 6, height: 6, fill: hue, "fill-opacity": 0.25 }),
  svg("path", { d: HATCH[h], stroke: hue, "stroke-width": 1.6, fill: "none" }))));

// A number, and a strip under it with the colour and hatching of what it is made of: [[head, share], ...].
function numberCell(value, parts, id) {
  const width = CELL - 2, height = HIGH - 2, made = svg("g", { class: "cell" }, svg("rect", { width, height, class: "box" }));
  let x = 0;
  for (const [head, share] of parts) {
    made.append(svg("rect", { x, y: height - 8, width: share * width, height: 8,
      fill: head < 0 ? "currentColor" : `url(#${id}-${head})`, "fill-opacity": head < 0 ? 0.15 : 1 }));
    x += share * width;
  }
  made.append(svg("text", { x: width / 2, y: 12.5, "text-anchor": "middle" },
    value.toFixed(1).replace("-", "−").replace("−0.0", "0.0")));
  return made;
}

// A weight of attention: small, in the colour of its head.
function weightCell(value, head, size) {
  return svg("g", { class: "cell" }, svg("rect", { width: size, height: size, class: "box" }),
    svg("rect", { width: size, height: size, fill: HUES[head], "fill-opacity": Math.min(1, value) }));
}

// All cells of all steps: kind (x, q, w, o, y), row t, column j, head h, and the element.
function cellsOf({ heads: H, x, q, weights, out, mixed, shares }, T, D, id) {
  const K = D / H, cells = [];
  const add = (kind, t, j, h, element) => { element.dataset.kind = kind; cells.push({ kind, t, j, h, element }); };
  for (let t = 0; t < T; t++) for (let j = 0; j < D; j++) {
    const h = Math.floor(j / K);
    add("x", t, j, h, numberCell(x[t][j], [[-1, 1]], id));
    add("q", t, j, h, numberCell(q[t][j], [[h, 1]], id));
    add("o", t, j, h, numberCell(out[t][j], [[h, 1]], id));
    add("y", t, j, h, numberCell(mixed[t][j], shares[t][j].map((share, i) => [i, share]), id));
  }
  for (let h = 0; h < H; h++) for (let t = 0; t < T; t++) for (let s = 0; s < T; s++) add("w", t, s, h, weightCell(weights[h][t][s], h, mapCell(H) - 2));
  return cells;
}

// Maps of attention: the side of a cell, and the height of the names of its columns, which are turned where cells are narrow.
export const mapCell = H => H > 4 ? 15 : 30;
const namesHigh = H => H > 4 ? 26 : 12;

// Where head h stands once heads are pages of their own: a grid of blocks, of maps ("w") or of numbers.
export function block(h, kind, { H, T }) {
  const isMap = kind === "w", columns = { 1: 1, 2: isMap ? 2 : 1, 4: 2 }[H] ?? 4, above = isMap ? namesHigh(H) : 0;
  const high = T * (isMap ? mapCell(H) : HIGH);
  return { columns, x: LEFT + (h % columns) * (W - LEFT) / columns, y: TOP + above + Math.floor(h / columns) * (high + above + BETWEEN),
    bottom: TOP + Math.ceil(H / columns) * (high + above + BETWEEN) - BETWEEN, above };
}

const apart = (h, H, layout) => layout === "groups" ? h * Math.min(9, 32 / H) : 0;

// Where a cell stands in a step.
function placeOf({ kind, t, j, h }, layout, sizes) {
  const { H, K } = sizes, { x, y } = block(h, kind, sizes);
  if (kind === "w") return [x + j * mapCell(H), y + t * mapCell(H)];
  if (layout !== "pages") return [LEFT + j * CELL + apart(h, H, layout), TOP + t * HIGH];
  return [x + (j % K) * CELL, y + t * HIGH];
}

// The names of a map's columns, over it.
function columnNames(tokens, x, y, H) {
  const cell = mapCell(H);
  return tokens.map((token, j) => {
    const at = { x: x + (j + 0.5) * cell - 1, y: y - 4 };
    return H > 4 ? svg("text", { ...at, class: "small", transform: `rotate(-60 ${at.x} ${at.y})` }, token)
      : svg("text", { ...at, class: "small", "text-anchor": "middle" }, token);
  });
}

// The labels of a step: heads over their blocks or columns, tokens beside their rows.
function labelsOf({ kind, layout }, tokens, sizes) {
  const { H, K, D } = sizes, high = kind === "w" ? mapCell(H) : HIGH;
  const label = (content, x, y, anchor = "start") => svg("text", { x, y, "text-anchor": anchor, class: "label" }, content);
  const everyHead = make => Array.from({ length: H }, (_, h) => make(h));
  const rowsAt = top => tokens.map((token, t) => label(token, LEFT - 5, top + (t + 0.5) * high + 3, "end"));
  if (layout === "pages") return everyHead(h => {
    const { x, y, columns, above } = block(h, kind, sizes);
    return [label(`head ${h + 1}`, x, y - above - 6), ...(h % columns ? [] : rowsAt(y)), ...(above ? columnNames(tokens, x, y, H) : [])];
  }).flat();
  const rows = rowsAt(TOP);
  if (kind !== "q" && kind !== "o") return [...rows, label(`${D} dimensions`, LEFT, TOP - 7)];
  return [...rows, ...everyHead(h => label(H > 4 ? h + 1 : `head ${h + 1}`, LEFT + h * K * CELL + apart(h, H, layout), TOP - 7))];
}

// The words of a step, with its numbers put in.
function wordsOf(step, { H, K, T, D }) {
  const fill = words => words.replaceAll("{H}", H).replaceAll("{K}", K).replaceAll("{T}", T).replaceAll("{D}", D)
    .replaceAll("{heads}", H === 1 ? "the one head" : `each of the ${H} heads`);
  return Object.fromEntries(["name", "shape", "code", "text"].map(key => [key, fill(step[key])]));
}

function render({ model, el }) {
  const options = model.get("options"), steps = model.get("steps"), tokens = model.get("tokens"), set = setter(model);
  const T = tokens.length, D = options[0].q[0].length, id = unique("split"), end = steps.length - 1;
  const at = () => model.get("step"), move = by => set({ step: clamp(at() + by, steps.length) });
  const { stop, toggle } = playing({ every: isCalm() ? 3500 : 2200, begin: () => { if (at() === end) set({ step: 0 }); else move(1); },
    forward: () => { move(1); if (at() === end) stop(); }, show: on => { parts.play.textContent = on ? "❚❚ pause" : "▶ play"; } });
  const parts = build(el, options.length - 1, { choose: heads => set({ heads }), go: by => { stop(); move(by); }, toggle });
  let picture, cells, frames, sizes;

  function draw() {
    const option = options[model.get("heads")], H = option.heads;
    sizes = { H, K: D / H, T, D };
    cells = cellsOf(option, T, D, id);
    frames = svg("g");
    picture = svg("svg", { viewBox: `0 0 ${W} 300`, role: "img" }, hatchings(id), ...cells.map(cell => cell.element), frames);
    parts.stage.replaceChildren(picture);
    parts.heads.value = model.get("heads");
    parts.many.textContent = ` ${H}, each ${D / H} wide`;
    place();
  }
  function place() {
    const step = steps[at()], words = wordsOf(step, sizes), bottom = step.layout === "pages" ? block(0, step.kind, sizes).bottom : TOP + T * HIGH;
    for (const cell of cells) {
      const [x, y] = placeOf(cell, step.layout, sizes);
      cell.element.style.transform = `translate(${x}px, ${y}px)`;
      cell.element.style.opacity = cell.kind === step.kind ? 1 : 0;
    }
    frames.replaceChildren(...labelsOf(step, tokens, sizes));
    picture.setAttribute("viewBox", `0 0 ${W} ${bottom + 4}`);
    parts.name.textContent = `${at() + 1} of ${steps.length}: ${words.name}`;
    parts.shape.replaceChildren(html("span", { textContent: words.shape }), html("code", { textContent: words.code }));
    parts.text.textContent = words.text;
    picture.setAttribute("aria-label", `${parts.name.textContent}, shape ${words.shape}. ${words.text}`);
    parts.back.disabled = at() === 0;
    parts.next.disabled = at() === end;
  }

  model.on("change:step", place);
  model.on("change:heads", draw);
  draw();
  return stop;
}

export default { render };
