// A recorded training, to go through: curves, readings, what it wrote, where its heads looked. `heads_view.js` and `player.js` stand before this.
const DRAWN = { loss: "loss: training · validation", perplexity: "perplexity", bleu: "BLEU (greedy)",
  rate: "learning rate", norm: "gradient norm", speed: "tokens a second" };
const short = x => x >= 1e5 ? `${(x / 1000).toFixed(0)}k` : x >= 1e3 ? Math.round(x).toLocaleString("en") : x >= 100 ? x.toFixed(0)
  : x >= 10 ? x.toFixed(1) : x >= 0.01 || x === 0 ? x.toFixed(2) : x.toExponential(1).replace("-", "−");
const clock = seconds => {
  const s = Math.round(seconds), two = n => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
};

async function unpacked(view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

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

async function render({ model, el }) {
  const run = model.get("run"), moments = run.moments, set = setter(model), last = moments.length - 1;
  const weights = run.heads.length ? await unpacked(model.get("heads")) : null;
  const moment = () => moments[model.get("moment")];
  const { stop, jump, show, controls } = player(
    { model, el, trait: "moment", last: () => last, every: 1000, one: "validation", what: "moment of the run" });

  const says = html("output"), tiles = html("div", { className: "tiles" });
  says.setAttribute("aria-live", "polite");
  const price = html("input", { type: "number", min: 0, step: 0.1, value: model.get("price") });
  price.addEventListener("input", () => set({ price: Math.max(0, +price.value || 0) }));
  const cost = html("span", { className: "cost" });
  const wrote = html("table", { className: "wrote" });
  const heads = html("div", { className: "run-heads" }), headsTitle = html("p", { className: "run-heads-title" });
  el.append(html("div", { className: "run-playback" }, html("p", { className: "run-mark", textContent: run.mark }),
    html("div", { className: "controls" }, ...controls), says, tiles,
    html("div", { className: "price" }, html("label", {}, "price of an hour", price), cost), wrote, headsTitle, heads));
  el.firstChild.addEventListener("keydown", event => {
    if (event.target.closest("input, select, svg, .run-heads")) return; // these have arrow keys of their own
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    jump(model.get("moment") + step);
  });

  // One small picture for each measure; the vertical line is the moment, and a click goes to the nearest one.
  let rules = [];
  function drawTiles() {
    const wide = el.clientWidth || 600, columns = wide >= 620 ? 3 : 2, width = Math.floor((wide - 8 * (columns - 1)) / columns) - 2;
    const height = 64, pad = 4, x = u => pad + (width - 2 * pad) * u / run.updates;
    rules = [];
    tiles.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    tiles.replaceChildren(...Object.entries(DRAWN).filter(([name]) => run.curves[name]).map(([name, title]) => {
      const lines = run.curves[name], log = name === "perplexity", scale = v => log ? Math.log(v) : v;
      const all = lines.flatMap(line => line.v), low = Math.min(...all), high = Math.max(...all);
      const y = v => height - pad - (height - 2 * pad) * (scale(v) - scale(low)) / ((scale(high) - scale(low)) || 1);
      const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
      picture.setAttribute("aria-label", `${title}: from ${short(all[0])} to ${short(lines[0].v.at(-1))}, lowest ${short(low)}, highest ${short(high)}`);
      for (const event of run.events) picture.append(svg("line", { x1: x(event.u), x2: x(event.u), y1: 0, y2: height, class: "event" }));
      for (const [n, line] of lines.entries()) picture.append(svg("path", { class: `line line-${n}`, fill: "none",
        d: "M" + line.u.map((u, i) => `${x(u).toFixed(1)} ${y(line.v[i]).toFixed(1)}`).join("L") }));
      const rule = svg("line", { y1: 0, y2: height, class: "rule" }), value = html("b");
      picture.append(rule);
      rules.push([rule, value, lines, x]);
      picture.addEventListener("pointerdown", event => {
        const box = picture.getBoundingClientRect(), u = (event.clientX - box.left - pad) / (box.width - 2 * pad) * run.updates;
        jump(moments.reduce((best, m, i) => Math.abs(m.u - u) < Math.abs(moments[best].u - u) ? i : best, 0));
      });
      return html("div", { className: "tile" }, html("span", {}, title), value, picture,
        html("span", { className: "ends" }, html("span", { textContent: `${short(low)} – ${short(high)}${log ? ", log" : ""}` })));
    }));
    draw();
  }
  const at = (line, u) => { // the last value that is not later than update u
    let found;
    for (const [i, one] of line.u.entries()) if (one <= u) found = line.v[i];
    return found;
  };

  const shown = weights && inner({ sentence: 0, use: 2, layer: run.layer, head: 0, query: 0, key: 0, view: "matrix", notes: [] });
  let undo = () => {}, headsMoment = null;
  function drawHeads(u) {
    const kept = run.heads.filter(h => h.u <= u).at(-1) ?? run.heads[0];
    headsTitle.textContent = `Where the heads look after update ${kept.u}`;
    if (kept === headsMoment) return;
    const first = headsMoment === null, view = new DataView(weights, kept.start, kept.size);
    headsMoment = kept;
    shown.put({ sentences: kept.sentences });
    if (!first) return shown.set("weights", view);
    shown.put({ weights: view });
    undo = headsView({ model: shown, el: heads });
  }

  function draw() {
    const now = moment();
    show(model.get("moment"), `update ${now.u} of ${run.updates}`);
    for (const [rule, value, lines, x] of rules) {
      for (const end of ["x1", "x2"]) rule.setAttribute(end, x(now.u));
      value.textContent = lines.map(line => at(line, now.u)).filter(v => v !== undefined).map(short).join(" · ");
    }
    const speed = run.curves.speed && at(run.curves.speed[0], now.u);
    const part = run.peak && speed ? ` That is ${Math.round(100 * speed * run.peak)} % of what a matrix product reaches on this machine.` : "";
    const happened = run.events.filter(e => e.u <= now.u && e.u > (moments[model.get("moment") - 1]?.u ?? -1)).map(e => ` ${e.text}`).join("");
    says.textContent = `After update ${now.u.toLocaleString("en")} of ${run.updates.toLocaleString("en")}: validation loss ${short(now.loss)}`
      + `${now.bleu === null ? "" : `, BLEU ${now.bleu.toFixed(1)}`}${speed ? `, ${short(speed)} tokens a second` : ""}.${part}${happened}`;
    const hours = now.elapsed / 3600, left = Math.max(0, run.elapsed - now.elapsed), each = model.get("price");
    cost.textContent = `${clock(now.elapsed)} used, ${clock(left)} left`
      + (each ? `; at this price ${(hours * each).toFixed(2)} spent, ${(left / 3600 * each).toFixed(2)} to come` : "");
    wrote.replaceChildren(html("caption", { textContent: `What it writes after update ${now.u}` }), html("tbody", {},
      ...now.samples.map(([source, target]) => html("tr", {}, html("td", { textContent: source }),
        html("td", {}, html("b", { textContent: target || "(nothing)" }))))));
    headsTitle.hidden = heads.hidden = !weights;
    if (weights) drawHeads(now.u);
  }

  model.on("change:moment", draw);
  model.on("change:price", draw);
  drawTiles();
  const still = onWidth(el, drawTiles);
  return () => { stop(); still(); undo(); };
}

export default { render };
