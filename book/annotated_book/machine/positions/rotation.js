// Wall of clocks with a hand for each of two positions, and the score of the two under it: waves added, or q and k rotated.
import { group, html, labelled, onTraits, onWidth, radios, readout, setter, slider, unique } from "../../viz/controls.js";
import { BLUE, GREY, ORANGE, setAttributes, svg } from "../../viz/drawing.js";

const SCORE_HEIGHT = 210, EDGE = 46, OTHERS = [0, 25, 50, 75, 100]; // positions whose curves are drawn too
const LEVELS = Array.from({ length: 30 }, (_, i) => 2 * i - 10); // of scores
const MODES = [["add", "add the waves (the paper)"], ["rotate", "rotate q and k (RoPE)"]];

export const frequencies = d => Array.from({ length: d / 2 }, (_, i) => 10000 ** (-2 * i / d));

// The pair of each clock at a position. Added: the wave, sine and cosine. Rotated: the token's own pair, turned.
export function hands(mode, content, position) {
  return frequencies(content.length).map((omega, i) => {
    const angle = position * omega, s = Math.sin(angle), c = Math.cos(angle), x = content[2 * i], y = content[2 * i + 1];
    return mode === "add" ? [s, c] : [x * c - y * s, x * s + y * c];
  });
}

// The score of a token at `position` and the same token `offset` further on; matrices of queries and keys are the identity.
export function score(mode, content, position, offset) {
  const one = hands(mode, content, position), two = hands(mode, content, position + offset);
  const sum = one.reduce((total, [a, b], i) => {
    const [c, d] = two[i], [x, y] = mode === "add" ? [content[2 * i], content[2 * i + 1]] : [0, 0];
    return total + (a + x) * (c + x) + (b + y) * (d + y);
  }, 0);
  return sum / Math.sqrt(content.length);
}

const turnText = omega => { const turn = 2 * Math.PI / omega; return turn < 100 ? turn.toFixed(1) : Math.round(turn).toLocaleString("en-GB"); };
const number = x => x.toFixed(2).replace("-", "−");

// The wall: its clocks, and `show` that turns the hands.
function wall(content, width) {
  const omegas = frequencies(content.length), columns = width > 620 ? 16 : 8, step = width / columns, r = step / 2 - 3, high = 2 * r + 20;
  const picture = svg("svg", { width, height: Math.ceil(omegas.length / columns) * high, role: "img",
    "aria-label": `${omegas.length} clocks, each with a hand for the position of the query and one for the position of the key` });
  const clocks = omegas.map((omega, i) => {
    const x = (i % columns + 0.5) * step, y = Math.floor(i / columns) * high + r + 2;
    const make = colour => svg("line", { x1: x, y1: y, x2: x, y2: y, stroke: colour, "stroke-width": 2.5, "stroke-linecap": "round" });
    const parts = { x, y, query: make(BLUE), key: make(ORANGE) };
    picture.append(svg("circle", { cx: x, cy: y, r, fill: "none", stroke: GREY }), parts.query, parts.key,
      svg("text", { x, y: y + r + 12, "text-anchor": "middle" }, turnText(omega)));
    return parts;
  });
  const show = (mode, position, offset) => {
    const drawn = { query: hands(mode, content, position), key: hands(mode, content, position + offset) };
    clocks.forEach((clock, i) => ["query", "key"].forEach(name => {
      const [first, second] = drawn[name][i], [right, up] = mode === "add" ? [first, second] : [second, first]; // both turn clockwise
      const long = Math.hypot(first, second) || 1; // of a rotated token each pair has a length of its own
      setAttributes(clock[name], { x2: clock.x + right * r / long, y2: clock.y - up * r / long });
    }));
  };
  return { picture, show };
}

// From a little below the lowest of some scores to a little above the highest.
export const rangeOf = scores => [Math.min(...scores) - 0.5, Math.max(...scores) + 0.5];

// Score against offset for the chosen position and for others.
function scoreChart(content, longest, last, width) {
  const offsets = Array.from({ length: longest + 1 }, (_, k) => k), curve = (mode, p) => offsets.map(k => score(mode, content, p, k));
  const positions = OTHERS.filter(p => p <= last), others = Object.fromEntries(MODES.map(([mode]) => [mode, positions.map(p => curve(mode, p))]));
  const every = Array.from({ length: last + 1 }, (_, p) => p);
  const ranges = Object.fromEntries(MODES.map(([mode]) => [mode, rangeOf(every.flatMap(p => curve(mode, p)))]));
  let [low, high] = ranges.add;
  const X = k => EDGE + k / longest * (width - EDGE - 12), Y = s => 12 + (high - s) / (high - low) * (SCORE_HEIGHT - 50);
  const path = values => values.map((s, k) => `${k ? "L" : "M"}${X(k).toFixed(1)} ${Y(s).toFixed(1)}`).join("");
  const faint = positions.map(() => svg("path", { fill: "none", stroke: GREY, "stroke-opacity": 0.6 }));
  const own = svg("path", { fill: "none", stroke: BLUE, "stroke-width": 3.5 }), dot = svg("circle", { r: 6, fill: ORANGE });
  const ticks = [0, 10, 20, 30, 40, 50, 60].filter(k => k <= longest).map(k => svg("text", { x: X(k), y: SCORE_HEIGHT - 20, "text-anchor": "middle" }, k));
  const grid = svg("g"), levels = () => LEVELS.filter(s => s > low && s < high).flatMap(s => [svg("line", { x1: EDGE, x2: width - 12, y1: Y(s), y2: Y(s), class: "grid" }),
    svg("text", { x: EDGE - 6, y: Y(s) + 4, "text-anchor": "end" }, s)]);
  const picture = svg("svg", { width, height: SCORE_HEIGHT, role: "img", "aria-label": "Score against offset, one curve for each position of the query" },
    grid, ...ticks, svg("text", { x: (width + EDGE) / 2, y: SCORE_HEIGHT - 3, "text-anchor": "middle" }, "offset k, in tokens"),
    svg("text", { x: 12, y: SCORE_HEIGHT / 2 - 15, "text-anchor": "middle", transform: `rotate(-90 12 ${SCORE_HEIGHT / 2 - 15})` }, "score"), ...faint, own, dot);
  const show = (mode, position, offset) => {
    [low, high] = ranges[mode];
    grid.replaceChildren(...levels());
    faint.forEach((line, i) => line.setAttribute("d", path(others[mode][i])));
    own.setAttribute("d", path(curve(mode, position)));
    setAttributes(dot, { cx: X(offset), cy: Y(score(mode, content, position, offset)) });
  };
  return { picture, show };
}

// What the picture shows, as a sentence.
export function wallText(mode, content, position, offset, last) {
  const here = score(mode, content, position, offset), [first, end] = [0, last].map(p => score(mode, content, p, offset));
  const start = `Query at position ${position}, key at position ${position + offset}: score ${number(here)}. `;
  return start + (mode === "add" ? `For the same offset it is ${number(first)} at position 0 and ${number(end)} at position ${last}: the score depends on both.`
    : `It is ${number(first)} at position 0 and ${number(end)} at position ${last} too: the score depends on the offset alone.`);
}

function render({ model, el }) {
  const set = setter(model), id = unique("rotation"), content = model.get("content"), last = model.get("last"), longest = model.get("longest");
  const modes = radios(`${id}-mode`, MODES, mode => set({ mode })), stage = html("div"), title = html("p", { className: "title" }), said = readout("p");
  const knob = (name, max, text) => {
    const input = slider({ id: `${id}-${name}`, min: 0, max, step: 1 }, value => set({ [name]: value })), out = html("output", { htmlFor: input.id });
    const label = labelled(text, input, { htmlFor: input.id });
    label.append(out);
    return { label, show: value => { input.value = value; out.textContent = value; } };
  };
  const position = knob("position", last, "position p of the query"), offset = knob("offset", longest, "offset k of the key");
  el.append(html("div", { className: "rotation" }, html("div", { className: "controls" }, group("Positions", ...modes.labels), position.label, offset.label),
    html("p", { className: "key" }, html("span", { className: "query", textContent: "position p" }), html("span", { className: "later", textContent: "position p + k" }),
      "under each clock: positions in one turn"), stage, said));
  let parts = [];
  function show() {
    const mode = model.get("mode"), p = model.get("position"), k = model.get("offset");
    modes.show(mode);
    position.show(p);
    offset.show(k);
    for (const part of parts) part.show(mode, p, k);
    title.textContent = mode === "add" ? "Added waves: a curve for each position" : "Rotated q and k: one curve for all positions";
    said.textContent = wallText(mode, content, p, k, last);
  }
  function build() {
    const width = Math.max(300, stage.clientWidth || 640);
    parts = [wall(content, width), scoreChart(content, longest, last, width)];
    stage.replaceChildren(parts[0].picture, title, parts[1].picture);
    show();
  }
  build();
  onTraits(model, ["mode", "position", "offset"], show);
  return onWidth(stage, build);
}

export default { render };
