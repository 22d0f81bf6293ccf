// A recorded training, to go through: curves, readings, what it wrote, where its heads looked.
import { html, numberField, onTraits, onWidth, readout, setter } from "../../viz/controls.js";
import { inflate, setAttributes, svg } from "../../viz/drawing.js";
import { headsView } from "../../viz/heads_view.js";
import { player } from "../../viz/player.js";
import { costOf, nearest, reportOf, short, valueAt } from "./curves.js";

const DRAWN = { loss: "loss: training · validation", perplexity: "perplexity", bleu: "BLEU (greedy)",
  rate: "learning rate", norm: "gradient norm", speed: "tokens a second" };

// A model for the heads' view: it has no kernel of its own, and what it shows changes with the moment.
function inner(values) {
  const heard = {};
  return { get: key => values[key], on(event, f) { (heard[event] ??= []).push(f); }, save_changes() {},
    put(more) { Object.assign(values, more); },
    set(key, value) {
      if (values[key] === value) return;
      values[key] = value;
      for (const f of heard[`change:${key}`] ?? []) f();
    } };
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, controls, set) {
  const price = numberField(value => set({ price: Math.max(0, value) }), { min: 0, step: 0.1, value: model.get("price") });
  const parts = { says: readout(), tiles: html("div", { className: "tiles" }), cost: html("span", { className: "cost" }),
    wrote: html("table", { className: "wrote" }), headsTitle: html("p", { className: "run-heads-title" }),
    heads: html("div", { className: "run-heads" }) };
  const { mark, title } = model.get("run");
  const whole = html("div", { className: "run-playback" }, ...title ? [html("p", { className: "run-title", textContent: title })] : [],
    html("p", { className: "run-mark", textContent: mark }),
    html("div", { className: "controls" }, ...controls), parts.says, parts.tiles,
    html("div", { className: "price" }, html("label", {}, "price of an hour", price), parts.cost), parts.wrote, parts.headsTitle, parts.heads);
  el.append(whole);
  return { ...parts, whole };
}

// A small picture of one measure; the vertical line is the moment, and a click goes to the nearest one.
function tileOf(run, [name, title], width, jump) {
  const lines = run.curves[name], log = name === "perplexity", scaled = v => log ? Math.log(v) : v;
  const all = lines.flatMap(line => line.v), low = Math.min(...all), high = Math.max(...all), height = 64, pad = 4;
  const x = u => pad + (width - 2 * pad) * u / run.updates;
  const y = v => height - pad - (height - 2 * pad) * (scaled(v) - scaled(low)) / ((scaled(high) - scaled(low)) || 1);
  const rule = svg("line", { y1: 0, y2: height, class: "rule" }), value = html("b");
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${title}: from ${short(all[0])} to ${short(lines[0].v.at(-1))}, lowest ${short(low)}, highest ${short(high)}` },
  ...run.events.map(event => svg("line", { x1: x(event.u), x2: x(event.u), y1: 0, y2: height, class: "event" })),
  ...lines.map((line, n) => svg("path", { class: `line line-${n}`, fill: "none",
    d: "M" + line.u.map((u, i) => `${x(u).toFixed(1)} ${y(line.v[i]).toFixed(1)}`).join("L") })), rule);
  picture.addEventListener("pointerdown", event => {
    const box = picture.getBoundingClientRect();
    jump(nearest(run.moments, (event.clientX - box.left - pad) / (box.width - 2 * pad) * run.updates));
  });
  const element = html("div", { className: "tile" }, html("span", {}, title), value, picture,
    html("span", { className: "ends" }, html("span", { textContent: `${short(low)} – ${short(high)}${log ? ", log" : ""}` })));
  const show = u => {
    setAttributes(rule, { x1: x(u), x2: x(u) });
    value.textContent = lines.map(line => valueAt(line, u)).filter(v => v !== undefined).map(short).join(" · ");
  };
  return { element, show };
}

// The heads as they were at an update: the view is made once, and gets other weights with the moment.
function headsPlayer(run, weights, { heads, headsTitle }) {
  const shown = inner({ sentence: 0, use: 2, layer: run.layer, head: 0, query: 0, key: 0, view: "matrix", notes: [] });
  let undo = null, drawn = null;
  const draw = u => {
    const kept = run.heads.filter(h => h.u <= u).at(-1) ?? run.heads[0];
    headsTitle.textContent = `Where the heads look after update ${kept.u}`;
    if (kept === drawn) return;
    const view = new DataView(weights, kept.start, kept.size);
    drawn = kept;
    shown.put({ sentences: kept.sentences });
    if (undo) return shown.set("weights", view);
    shown.put({ weights: view });
    undo = headsView({ model: shown, el: heads });
  };
  return { draw, stop: () => undo?.() };
}

const writtenOf = now => [html("caption", { textContent: `What it writes after update ${now.u}` }),
  html("tbody", {}, ...now.samples.map(([source, target]) => html("tr", {}, html("td", { textContent: source }),
    html("td", {}, html("b", { textContent: target || "(nothing)" })))))];

async function render({ model, el }) {
  const run = model.get("run"), set = setter(model), last = run.moments.length - 1, moment = () => model.get("moment");
  const weights = run.heads.length ? await inflate(model.get("heads")) : null;
  const { stop, jump, show, controls } = player(
    { model, el, trait: "moment", last: () => last, every: 1000, one: "validation", what: "moment of the run" });
  const parts = build(model, el, controls, set), heads = weights && headsPlayer(run, weights, parts);
  let tiles = [];

  parts.whole.addEventListener("keydown", event => {
    if (event.target.closest("input, select, svg, .run-heads")) return; // these have arrow keys of their own
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    jump(moment() + step);
  });
  function drawTiles() {
    const wide = el.clientWidth || 600, columns = wide >= 620 ? 3 : 2, width = Math.floor((wide - 8 * (columns - 1)) / columns) - 2;
    tiles = Object.entries(DRAWN).filter(([name]) => run.curves[name]).map(measure => tileOf(run, measure, width, jump));
    parts.tiles.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    parts.tiles.replaceChildren(...tiles.map(tile => tile.element));
    draw();
  }
  function draw() {
    const now = run.moments[moment()];
    show(moment(), `update ${now.u} of ${run.updates}`);
    for (const tile of tiles) tile.show(now.u);
    parts.says.textContent = reportOf(run, moment());
    parts.cost.textContent = costOf(run, moment(), model.get("price"));
    parts.wrote.replaceChildren(...writtenOf(now));
    parts.headsTitle.hidden = parts.heads.hidden = !heads;
    heads?.draw(now.u);
  }

  onTraits(model, ["moment", "price"], draw);
  drawTiles();
  const still = onWidth(el, drawTiles);
  return () => { stop(); still(); heads?.stop(); };
}

export default { render };
