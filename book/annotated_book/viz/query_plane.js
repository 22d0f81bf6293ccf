// A query in the plane that the reader drags, and what the softmax makes of its dot products with the keys.
import { html, labelled, onPointer, onTraits, readout, setter, slider, traits } from "./controls.js";
import { setAttributes, svg } from "./drawing.js";

const LONGEST = 5, EDGE = 5.3, SIZE = 360;
const at = ([x, y]) => [SIZE / 2 * (1 + x / EDGE), SIZE / 2 * (1 - y / EDGE)];

// Where the arrow ends, [x, y].
export const queryOf = ({ angle, length }) => {
  const turn = angle * Math.PI / 180;
  return [length * Math.cos(turn), length * Math.sin(turn)];
};

// For each key its dot product with the query, the score and the weight.
export function answersOf({ keys, divisor, ...query }) {
  const q = queryOf(query), dots = keys.map(k => k[0] * q[0] + k[1] * q[1]);
  const powers = dots.map(dot => Math.exp(dot / divisor)), total = powers.reduce((a, b) => a + b, 0);
  return dots.map((dot, i) => ({ dot, score: dot / divisor, weight: powers[i] / total }));
}

// The output: the values, each multiplied by the weight of its key, and added up.
export const outputOf = (answers, values) => [0, 1].map(c => answers.reduce((sum, { weight }, i) => sum + weight * values[i][c], 0));

// Angle and length for a tip at (x, y): whole steps of 5 degrees and 0.1, as the sliders have them.
export function tipAt(x, y) {
  const length = Math.min(LONGEST, Math.round(Math.hypot(x, y) * 10) / 10);
  return { angle: Math.round(Math.atan2(y, x) * 36 / Math.PI) * 5, length };
}

const signed = x => (Math.abs(x) < 0.005 ? 0 : x).toFixed(2).replace("-", "−");

function arrow(className) {
  const line = svg("line", { class: "line" }), head = svg("path", { d: "M0 0L-11 -5L-11 5Z", class: "head" });
  const made = svg("g", { class: className }, line, head);
  const point = tip => {
    const [x0, y0] = at([0, 0]), [x, y] = at(tip), turn = Math.atan2(y - y0, x - x0) * 180 / Math.PI;
    for (const [name, value] of Object.entries({ x1: x0, y1: y0, x2: x, y2: y })) line.setAttribute(name, value);
    head.setAttribute("transform", `translate(${x} ${y}) rotate(${turn})`);
    head.style.display = Math.hypot(x - x0, y - y0) < 8 ? "none" : "";
  };
  return { made, point };
}

function grid() {
  const lines = [];
  for (let i = -LONGEST; i <= LONGEST; i++) for (const flat of [true, false]) {
    const [x1, y1] = at(flat ? [-LONGEST, i] : [i, -LONGEST]), [x2, y2] = at(flat ? [LONGEST, i] : [i, LONGEST]);
    lines.push(svg("line", { x1, y1, x2, y2, class: i ? "grid" : "grid axis" }));
  }
  return lines;
}

// The values as corners of an area that the output, a dot, cannot leave.
function drawValues(values, names) {
  const made = svg("g", { class: "values" }), dot = svg("circle", { r: 7, class: "output" }), label = svg("text", { class: "output-name" }, "output");
  if (values.length) made.append(svg("polygon", { points: values.map(at).join(" ") }), ...values.flatMap((value, i) => {
    const [x, y] = at(value), isRight = x > SIZE / 2;
    return [svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8 }),
      svg("text", { x, y: y + (value[1] < 0 ? 19 : -9), "text-anchor": isRight ? "end" : "start" }, `value of ${names[i]}`)];
  }), dot, label);
  const place = output => {
    const [x, y] = at(output);
    setAttributes(dot, { cx: x, cy: y });
    setAttributes(label, { x: x + 11, y: y + 5 });
  };
  return { made, place };
}

function drawPlane(keys, names, values) {
  const query = arrow("query"), label = svg("text", { class: "query-name", "text-anchor": "middle" }, "query"), dots = [];
  const others = keys.map((key, i) => {
    const { made, point } = arrow("key"), [x, y] = at(key.map(c => c * (1 + 0.55 / Math.hypot(...key))));
    point(key);
    const dot = svg("circle", { cx: at(key)[0], cy: at(key)[1] });
    dots.push(dot);
    made.append(dot, svg("text", { x, y: y + 4, "text-anchor": "middle" }, names[i]));
    return made;
  });
  const mixture = drawValues(values, names), grip = svg("circle", { r: 16, class: "grip" });
  const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: "img" },
    ...grid(), mixture.made, ...others, query.made, label, grip);
  return { picture, query, label, grip, dots, mixture };
}

function table(names, divisor) {
  const heads = ["key", "q · k", ...(divisor === 1 ? [] : ["÷ √2"]), "weight"];
  const rows = names.map(name => {
    const cells = heads.slice(1, -1).map(() => html("td")), bar = html("span", { className: "bar" }), number = html("b");
    const row = html("tr", {}, html("th", { scope: "row", textContent: name }), ...cells,
      html("td", { className: "weight" }, html("span", { className: "track" }, bar), number));
    return { row, cells, bar, number };
  });
  const head = html("tr", {}, ...heads.map(text => html("th", { scope: "col", textContent: text })));
  return { rows, element: html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows.map(({ row }) => row))) };
}

function controls(set) {
  const make = (name, properties, move) => {
    const input = slider({ ...properties, name }, move), number = html("output");
    return { input, number, label: labelled(name, input) };
  };
  const angle = make("angle", { min: -180, max: 180, step: 5 }, value => set({ angle: value }));
  const length = make("length", { min: 0, max: LONGEST, step: 0.1 }, value => set({ length: value }));
  for (const { label, number } of [angle, length]) label.append(number);
  return { angle, length };
}

// Dragging anywhere in the plane moves the tip there.
function listen(picture, set) {
  let dragging = false;
  const move = ({ x, y }) => set(tipAt((x / SIZE * 2 - 1) * EDGE, (1 - y / SIZE * 2) * EDGE));
  onPointer(picture, (place, event) => { dragging = true; picture.setPointerCapture(event.pointerId); move(place); }, ["pointerdown"]);
  onPointer(picture, place => { if (dragging) move(place); }, ["pointermove"]);
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => { dragging = false; });
}

function render({ model, el }) {
  const set = setter(model), { points: keys, names, values, divisor } = traits(model, "points", "names", "values", "divisor");
  const plane = drawPlane(keys, names, values), numbers = table(names, divisor), { angle, length } = controls(set), says = readout("p");
  el.append(html("div", { className: "query-plane" }, html("div", { className: "plane" }, plane.picture),
    html("div", { className: "side" }, angle.label, length.label, numbers.element, says)));
  listen(plane.picture, set);

  function draw() {
    const state = { angle: model.get("angle"), length: model.get("length") }, tip = queryOf(state);
    const answers = answersOf({ keys, divisor, ...state });
    plane.query.point(tip);
    if (values.length) plane.mixture.place(outputOf(answers, values));
    const [x, y] = at(tip), [lx, ly] = at(queryOf({ ...state, length: Math.min(state.length + 0.75, LONGEST - 0.3) }));
    plane.grip.setAttribute("cx", x);
    plane.grip.setAttribute("cy", y);
    plane.label.setAttribute("x", lx);
    plane.label.setAttribute("y", ly + 5);
    answers.forEach(({ dot, score, weight }, i) => {
      const { cells, bar, number } = numbers.rows[i];
      [dot, score].slice(0, cells.length).forEach((value, j) => { cells[j].textContent = signed(value); });
      bar.style.width = `${100 * weight}%`;
      number.textContent = weight.toFixed(2);
      plane.dots[i].setAttribute("r", 3 + 11 * Math.sqrt(weight));
    });
    angle.input.value = state.angle;
    angle.number.textContent = `${String(state.angle).replace("-", "−")}°`;
    length.input.value = state.length;
    length.number.textContent = state.length.toFixed(1);
    const best = answers.reduce((top, a, i) => a.weight > answers[top].weight ? i : top, 0);
    says.textContent = state.length === 0 ? "Every score is 0: equal weights."
      : `Most weight: ${names[best]}, ${Math.round(100 * answers[best].weight)} %.`;
    const said = values.length ? ` The output is (${outputOf(answers, values).map(signed).join(", ")}).` : "";
    says.textContent += said;
    plane.picture.setAttribute("aria-label", `A query arrow of length ${state.length.toFixed(1)} at ${state.angle} degrees `
      + `among ${names.length} keys in a plane. ${says.textContent} The two sliders move it too.`);
  }

  onTraits(model, ["angle", "length"], draw);
  draw();
}

export default { render };
