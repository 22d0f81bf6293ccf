// The calculator of chapter 33: GPUs, their number, the share of the peak and a price give time and cost. No model is loaded.
import { button, html, labelled, numberField, onWidth, scale, select, slider } from "../../viz/controls.js";
import { BLUE, ORANGE, svg } from "../../viz/drawing.js";
import { livePanels } from "../../viz/engine/panel.js";
import { bills, digits, logAxis, moneyOf, secondsOf, timeOf } from "./cost.js";
import { stopPanel } from "./stop_view.js";

const COUNTS = [1, 2, 4, 8, 16, 32], COLOURS = [BLUE, ORANGE], ROW = 30, NAMES = 108, EDGE = 12, TOP = 46, APART = 54, LETTER_OF_AXIS = 6.6; // pixels; the last two: between labels of the axis, and a letter of a label
const HEAD = ["model", "one update", "the whole training", "GPU hours", "cost"];

const rowsOf = found => found.map(({ name, seconds, hours, gpuHours, money }) => html("tr", {},
  html("th", { scope: "row", textContent: name }),
  ...[secondsOf(seconds), timeOf(hours), digits(gpuHours), moneyOf(money)].map((textContent, i) => html("td", { textContent, "data-label": HEAD[i + 1] }))));

// Hours that the axis always has, so that the marks move, and not the axis, when the number of GPUs changes.
const ALWAYS = [1 / 6, 1440];

// A row for each GPU with the times of both models on a logarithmic axis; the dashed lines are the paper's.
function picture({ gpus, models, paper }, choice, width, choose) {
  const all = gpus.map(gpu => bills(models, { ...choice, ...gpu })), inner = width - NAMES - EDGE;
  const axis = logAxis([...ALWAYS, ...all.flat().map(one => one.hours), ...paper]), x = hours => NAMES + inner * axis.place(hours);
  const height = TOP + ROW * gpus.length, bottom = height + 20;
  const named = axis.ticks.reduce((kept, tick) => kept.length && x(tick) - x(kept.at(-1)) < APART ? kept : [...kept, tick], []);
  const text = (words, attributes, className = "") => svg("text", { ...attributes, class: className }, words);
  const ticks = axis.ticks.flatMap(tick => [svg("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: height, class: "cost-grid" }),
    ...(named.includes(tick) ? [text(timeOf(tick), { x: x(tick), y: bottom, "text-anchor": "middle" })] : [])]);
  const late = hours => axis.place(hours) > 0.5;
  const lines = paper.flatMap((hours, i) => {
    const words = `the paper's ${models[i][0]} model, ${timeOf(hours)}`, wide = LETTER_OF_AXIS * words.length;
    return [svg("line", { x1: x(hours), x2: x(hours), y1: TOP - 4, y2: height, class: "cost-paper", stroke: COLOURS[i] }),
      text(words, { x: late(hours) ? Math.max(x(hours) + 4, wide) : Math.min(x(hours) - 4, width - wide), y: TOP - 26 + 16 * i, "text-anchor": late(hours) ? "end" : "start",
        style: `fill: color-mix(in srgb, ${COLOURS[i]} 60%, currentcolor)` })];
  });
  const rows = gpus.map((gpu, g) => {
    const y = TOP + ROW * (g + 0.5), chosen = gpu.name === choice.name, at = all[g].map(one => x(one.hours));
    const row = svg("g", { class: chosen ? "cost-row chosen" : "cost-row" },
      svg("rect", { x: 0, y: y - ROW / 2, width, height: ROW }), text(gpu.name, { x: 4, y: y + 4 }),
      svg("line", { x1: at[0], x2: at[1], y1: y, y2: y, class: "cost-between" }),
      ...at.map((cx, i) => svg(i ? "rect" : "circle", i ? { x: cx - 5, y: y - 5, width: 10, height: 10, fill: COLOURS[i], class: "mark" } : { cx, cy: y, r: 5.5, fill: COLOURS[i], class: "mark" })));
    row.addEventListener("click", () => choose(gpu.name));
    return row;
  });
  const label = `Time of the whole training on ${choice.count} of each GPU at ${Math.round(100 * choice.share)} % of the peak: `
    + gpus.map((gpu, g) => `${gpu.name}: ${all[g].map(one => `${one.name} ${timeOf(one.hours)}`).join(", ")}`).join("; ");
  return svg("svg", { width, height: bottom + 8, viewBox: `0 0 ${width} ${bottom + 8}`, role: "img", "aria-label": label }, ...ticks, ...rows, ...lines);
}

function controls(data, choice, change) {
  const gpu = select(data.gpus.map(({ name }) => [name, name]), name => change({ name }));
  const count = scale("number of GPUs", COUNTS, value => change({ count: value }), value => `${value} GPUs`);
  const share = slider({ name: "share", min: 5, max: 90, step: 1 }, value => change({ share: value / 100 })), reached = html("b");
  const price = numberField(value => change({ price: Math.max(0, value) }), { min: 0, step: 0.1, value: choice.price });
  const paper = button("the paper's machine", () => change(data.machine)), measured = button("the H100 that was measured", () => change(data.measured));
  const show = now => {
    gpu.value = now.name;
    count.show(now.count);
    share.value = Math.round(100 * now.share);
    reached.textContent = `${Math.round(100 * now.share)} %`;
    share.setAttribute("aria-valuetext", `${Math.round(100 * now.share)} % of the peak`);
  };
  const element = html("div", { className: "cost-controls" }, labelled("GPU", gpu), html("span", {}, labelled("how many", count.input), count.number),
    html("span", {}, labelled("share of the peak", share), reached), labelled("price of a GPU hour", price), measured, paper);
  return { element, show };
}

function cost(box) {
  const data = JSON.parse(box.querySelector(".cost-data").textContent), choice = { ...data.start };
  const body = html("tbody"), drawn = html("div", { className: "cost-drawn" }), said = html("p", { className: "live-status", role: "status" });
  const made = controls(data, choice, update);
  const table = html("table", { className: "cost-table" }, html("caption", { textContent: "Projected time and cost, English to German" }),
    html("thead", {}, html("tr", {}, ...HEAD.map(textContent => html("th", { scope: "col", textContent })))), body);
  const key = data.models.map(([name], i) => html("span", { className: i ? "cost-key square" : "cost-key", style: `--key:${COLOURS[i]}`, textContent: `${name} model` }));
  const caption = html("p", { className: "live-caption" }, "Time of the whole training on the chosen number of each GPU, logarithmic; dashed lines: the paper's times on 8 P100. ", ...key);
  const draw = () => drawn.replaceChildren(picture(data, choice, Math.max(280, Math.floor(drawn.getBoundingClientRect().width) || 640), name => update({ name })));
  function update(change) {
    Object.assign(choice, change);
    const gpu = data.gpus.find(({ name }) => name === choice.name);
    const found = bills(data.models, { ...choice, ...gpu });
    made.show(choice);
    body.replaceChildren(...rowsOf(found));
    said.textContent = `${choice.count} × ${gpu.name} at ${Math.round(100 * choice.share)} % of ${gpu.peak / 1e12} TFLOP/s (${gpu.precision}): `
      + `${found.map(one => `the ${one.name} model ${timeOf(one.hours)}`).join(", ")}.`;
    draw();
  }
  box.replaceChildren(made.element, table, said, caption, drawn);
  update({});
  onWidth(drawn, draw);
  box.dataset.state = "done";
}

livePanels({ cost, stop: stopPanel });
