// A beam search that runs in the page, on recorded continuations; its tree, its ranking, and what it threw away.
const EOS = 2, NONE = 0xffff, MINUS = "−";
const COLOURS = { winner: "#2f9e6e", greedy: "#d9731a", reference: "#b45fc4", forced: "#c4475f" };
const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;
const number = (x, digits = 2) => x === -Infinity ? `${MINUS}∞` : x.toFixed(digits).replace("-", MINUS);
let trees = 0;

// The record, as annotated/chapters/beam_search/tree.py wrote it: one object for each sentence.
function unpack(buffer) {
  const view = new DataView(buffer), count = view.getUint32(0, true);
  if (view.byteLength < 4 * count) throw new Error("the record is cut off");
  let at = 0;
  const take = (type, size, n) => {
    const read = { u2: i => view.getUint16(i, true), u4: i => view.getUint32(i, true), f4: i => view.getFloat32(i, true) }[type];
    const values = Array.from({ length: n }, (_, i) => read(at + i * size));
    at += n * size;
    return values;
  };
  const [total] = take("u4", 4, 1);
  take("u4", 4, total);
  return Array.from({ length: total }, () => {
    const [n] = take("u4", 4, 1), lp = [0, ...take("f4", 4, n)], parent = [-1, ...take("u2", 2, n)];
    const token = [-1, ...take("u2", 2, n)], children = lp.map(() => []), bases = take("u2", 2, n + 1);
    for (let i = 1; i <= n; i++) children[parent[i]].push(i);
    const [forced, tail] = take("u4", 4, 2), forcedLp = take("f4", 4, forced), counts = take("u2", 2, forced);
    const suffixes = take("u2", 2, tail), best = [];
    let which = 0, start = 0;
    for (const base of bases) {
      if (base === NONE) { best.push(null); continue; }
      best.push({ base, suffix: suffixes.slice(start, start + counts[which]), lp: forcedLp[which] });
      start += counts[which++];
    }
    const [length] = take("u4", 4, 1), steps = take("f4", 4, length), ranks = take("u2", 2, length);
    return { lp, parent, token, children, best, reference: { steps, ranks, tokens: take("u2", 2, length) } };
  });
}

// Beam search as the library does it: 2k candidates, an alive and a finished pool, the bound.
function search(one, k, alpha, places, cap) {
  let alive = [{ at: 0, lp: 0, node: null }], finished = [], proven = false, step = 0;
  const nodes = [], steps = [], most = k > 1 ? 2 * k : 1;
  while (!proven && step < cap) {
    step++;
    const candidates = alive.flatMap(mother => one.children[mother.at].map(at => ({ id: 0, at, step, parent: mother.node,
      token: one.token[at], lp: one.lp[at], score: one.lp[at] / penalty(step, alpha), fate: "pruned" })));
    candidates.sort((a, b) => b.lp - a.lp).splice(most);
    candidates.forEach((node, rank) => { node.id = nodes.length; node.rank = rank + 1; node.of = candidates.length; nodes.push(node); });
    const ended = candidates.filter(node => node.token === EOS);
    for (const node of [...finished, ...ended]) node.fate = "evicted";
    finished = [...finished, ...ended].sort((a, b) => b.score - a.score).slice(0, places);
    for (const node of finished) node.fate = "finished";
    const staying = candidates.filter(node => node.token !== EOS).slice(0, k);
    for (const node of staying) node.fate = "alive";
    alive = staying.map(node => ({ at: node.at, lp: node.lp, node }));
    const hope = alive.length ? alive[0].lp / penalty(cap, alpha) : -Infinity;
    const held = finished.length === places ? finished[places - 1].score : -Infinity;
    proven = held >= hope;
    steps.push({ hope, held, last: alive.length ? alive[alive.length - 1].lp : -Infinity, alive: alive.map(a => a.at) });
  }
  const returned = [...finished];
  if (step >= cap) returned.push(...alive.map(a => a.node).slice(0, places - finished.length));
  if (!proven) for (const { node } of alive) node.fate = "cap";
  return { nodes, steps, returned, stopped: proven ? "bound" : "cap" };
}

// Rows for a tree that grows to the right: a best child stands beside its mother, and no two lines cross.
function layout(root) {
  const free = [];
  const chain = node => node.kids.length ? [node, ...chain(node.kids[0])] : [node];
  (function place(node, low) {
    const line = chain(node), row = Math.max(low, ...line.map(n => free[n.step] ?? 0));
    for (const n of line) { n.row = row; free[n.step] = row + 1; }
    for (const n of [...line].reverse()) for (const kid of n.kids.slice(1)) place(kid, row + 1);
  })(root, 0);
  return Math.max(...free.filter(x => x !== undefined));
}

async function inflate(view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

async function render({ model, el }) {
  const sentences = model.get("sentences"), words = model.get("tokens"), id = `beam-tree-${trees++}-`, set = setter(model);
  const records = unpack(await inflate(model.get("searches")));
  const piece = token => token === EOS ? "end" : words[token] ?? "?";
  const label = (token, step) => { // a piece that continues a word has a hyphen
    const text = piece(token);
    return step === 1 ? text.replace("▁", "") : text.startsWith("▁") ? text.slice(1) || "␣" : /^[\p{L}\p{N}]/u.test(text) && token !== EOS ? `-${text}` : text;
  };
  const write = tokens => tokens.filter(t => t !== EOS).map(piece).join("").replaceAll("▁", " ").trim();
  const quote = tokens => tokens.length ? `“${write(tokens)}”` : "the beginning";
  const pathOf = (one, at) => at > 0 ? [...pathOf(one, one.parent[at]), one.token[at]] : [];

  // Controls.
  const options = new Map();
  sentences.forEach((s, i) => options.set(s.group, [...options.get(s.group) ?? [], [i, s.text]]));
  const sentence = html("select", { id: id + "sentence" }, ...[...options].map(([group, list]) =>
    html("optgroup", { label: group }, ...list.map(([value, textContent]) => html("option", { value, textContent })))));
  sentence.addEventListener("change", () => set({ sentence: +sentence.value, force: -1, node: 0 }));
  const slide = (name, text, properties) => {
    const input = html("input", { type: "range", id: id + name, ...properties }), value = html("output", { htmlFor: input.id });
    input.addEventListener("input", () => set({ [name]: +input.value, ...(name === "beam" ? { force: -1 } : {}) }));
    return [input, value, html("label", { htmlFor: input.id }, html("span", { textContent: text }), input, value)];
  };
  const [beam, beamValue, beamLabel] = slide("beam", "beam size k", { min: 1, max: 8, step: 1 });
  const [alpha, alphaValue, alphaLabel] = slide("alpha", "length penalty α", { min: 0, max: 2, step: 0.1 });
  const toggle = (trait, text) => {
    const button = html("button", { type: "button", textContent: text });
    button.addEventListener("click", () => set({ [trait]: !model.get(trait) }));
    return button;
  };
  const buttons = { greedy: toggle("greedy", "what greedy lost"), reference: toggle("reference", "where the reference died"),
    graveyard: toggle("graveyard", "the graveyard"), bound: toggle("bound", "the stopping bound"), all: toggle("all", "return the whole beam") };
  const stage = html("div", { className: "stage" }), reading = html("output", { className: "reading" });
  const verdict = html("p", { className: "verdict" }), stories = html("div", { className: "stories" });
  const force = html("button", { type: "button", className: "force" }), body = html("tbody");
  force.addEventListener("click", () => set({ force: model.get("force") === model.get("node") ? -1 : model.get("node") }));
  reading.setAttribute("aria-live", "polite");
  verdict.setAttribute("aria-live", "polite");
  const table = html("table", {}, html("caption", { textContent: "Ranking: score = log-probability / penalty, penalty = ((5 + n) / 6)^α" }),
    html("thead", {}, html("tr", {}, ...["no.", "translation", "n", "log p", "penalty", "score"].map(textContent =>
      html("th", { textContent, scope: "col" })))), body);
  const dead = html("div", { className: "dead" });
  el.append(html("div", { className: "beam-tree" }, html("div", { className: "choices" },
    html("label", { htmlFor: sentence.id }, html("span", { textContent: "sentence" }), sentence), beamLabel, alphaLabel),
    html("div", { className: "buttons" }, ...Object.values(buttons)), verdict, stage, html("p", { className: "legend" }),
    html("div", { className: "pointed" }, reading, force), stories, html("div", { className: "ranking" }, table), dead));
  el.querySelector(".legend").append(...[["alive", "went on"], ["pruned", "pruned"], ["finished", "ended, is returned"],
    ["evicted", "ended, then displaced"], ["cap", "cut off at the cap"], ["ghost", "never in the search"]].map(([fate, text]) =>
    html("span", {}, svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, mark(fate, 7, 7)), text)),
  ...Object.entries(COLOURS).map(([name, stroke]) => html("span", { className: `key ${name}` },
    svg("svg", { width: 26, height: 8, "aria-hidden": "true" }, svg("path", { d: "M1 4 H25", class: `route ${name}`, stroke })), name)));

  function mark(fate, x, y) {
    const shape = fate === "finished" || fate === "evicted" ? svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 })
      : fate === "pruned" ? svg("path", { d: `M${x - 4} ${y - 4} l8 8 m0 -8 l-8 8` })
      : fate === "cap" ? svg("path", { d: `M${x} ${y - 6} l6 6 l-6 6 l-6 -6 Z` }) : svg("circle", { cx: x, cy: y, r: fate === "ghost" ? 4 : 5 });
    shape.setAttribute("class", `mark ${fate}`);
    return shape;
  }

  let one, found, cap, shown, cursor;
  const spot = at => shown.get(at);

  function build() {
    const about = sentences[model.get("sentence")], k = model.get("beam"), a = model.get("alpha");
    one = records[model.get("sentence")];
    cap = about.cap;
    found = search(one, k, a, model.get("all") ? k : 1, cap);
    const winner = found.returned[0], gold = one.reference, greedy = search(one, 1, a, 1, cap).returned[0];
    const goldLp = gold.steps.reduce((x, y) => x + y, 0), forced = model.get("force") > 0 ? one.best[model.get("force")] : null;
    const result = (name, tokens, lp) => ({ name, tokens, n: tokens.length, lp, score: lp / penalty(tokens.length, a) });
    const best = result("winner", pathOf(one, winner.at), winner.lp);
    const others = { greedy: result("greedy", pathOf(one, greedy.at), greedy.lp), reference: result("reference", gold.tokens, goldLp) };
    if (forced) { // recorded with a beam of 4 and alpha 0.6; the search shown may have come upon a better ending
      const begins = at => at === model.get("force") || (at > 0 && begins(one.parent[at]));
      const met = found.nodes.filter(n => n.token === EOS && begins(n.at)).map(n => result("forced", pathOf(one, n.at), n.lp));
      others.forced = [result("forced", [...pathOf(one, forced.base), ...forced.suffix], forced.lp), ...met].reduce((x, y) => y.score > x.score + 1e-6 ? y : x);
    }

    // The picture's nodes: those of the search, and those of paths that it never took.
    shown = new Map([[0, { at: 0, step: 0, kids: [], fate: "alive", token: -1, lp: 0 }]]);
    for (const node of found.nodes) {
      if (node.fate !== "pruned" || model.get("graveyard")) shown.set(node.at, { ...node, kids: [], up: spot(one.parent[node.at]) });
    }
    const routes = { winner: best.tokens };
    for (const name of ["greedy", "reference"]) if (model.get(name)) routes[name] = others[name].tokens;
    if (forced) routes.forced = others.forced.tokens;
    const lines = {};
    for (const [name, tokens] of Object.entries(routes)) {
      let here = spot(0), at = 0, key = "";
      lines[name] = tokens.map((token, i) => {
        const next = at === null ? undefined : one.children[at].find(c => one.token[c] === token);
        at = next ?? null;
        key += `/${token}`;
        const own = at ?? key;
        if (!shown.has(own)) {
          const node = at && found.nodes.find(n => n.at === at);
          shown.set(own, { ...(node || { fate: "ghost" }), at: own, step: i + 1, token, kids: [], up: here, lp: at ? one.lp[at] : null });
        }
        return here = spot(own);
      });
    }
    for (const node of shown.values()) node.up?.kids.push(node);
    const first = new Set(lines.winner);
    for (const node of shown.values()) node.kids.sort((x, y) => first.has(y) - first.has(x) || (y.lp ?? -99) - (x.lp ?? -99));
    if (!shown.has(model.get("node"))) model.set("node", 0);
    draw(lines);
    tell(best, others);
    point(false);
  }

  function draw(lines) {
    const count = layout(spot(0)), bound = model.get("bound"), top = bound ? 66 : 24, height = 25, left = bound ? 44 : 14;
    const widest = [], x = [left];
    for (const n of shown.values()) widest[n.step] = Math.max(widest[n.step] ?? 0, n.step ? label(n.token, n.step).length : 0);
    widest.forEach((letters, step) => { x[step + 1] = x[step] + (step ? Math.max(bound ? 52 : 40, 30 + 7.3 * letters) : 26); });
    const width = x[x.length - 1] + 8, y = row => top + 14 + row * height;
    const picture = svg("svg", { width, height: y(count) + 4, tabindex: 0, role: "application", "aria-label":
      `A tree of ${found.nodes.length} candidates in ${found.steps.length} steps. Right and left arrow follow a hypothesis, up and down walk through a step, Enter forces the token.` });
    const text = (content, at, attributes = {}) => { const t = svg("text", { x: at[0], y: at[1], ...attributes }); t.textContent = content; return t; };
    for (let step = 1; step < widest.length; step++) {
      const info = found.steps[step - 1], stop = step === found.steps.length;
      picture.append(text(step, [x[step] + 2, 14], { class: "head" }));
      if (bound && info) picture.append(text(number(info.hope), [x[step], 34], { class: stop ? "head stop" : "head" }),
        text(number(info.held), [x[step], 52], { class: stop ? "head stop" : "head" }));
    }
    picture.append(text(bound ? "step" : "", [0, 14], { class: "head" }));
    if (bound) picture.append(text("hope", [0, 34], { class: "head" }), text("held", [0, 52], { class: "head" }));
    const turn = (node, shift) => { // from the mother's label to the mark
      const from = [x[node.up.step] + (node.up.step ? 13 + 7.3 * label(node.up.token, node.up.step).length : 5), y(node.up.row) + shift];
      const to = [x[node.step], y(node.row) + shift], gap = x[node.step] - 7 + shift;
      return from[1] === to[1] ? `M${from} H${to[0]}` : `M${from[0]} ${from[1]} H${gap} V${to[1]} H${to[0]}`;
    };
    for (const node of shown.values()) if (node.up) picture.append(svg("path", { d: turn(node, 0), class: `edge ${node.fate}` }));
    Object.entries(lines).forEach(([name, nodes], i) => picture.append(svg("path", { class: `route ${name}`, stroke: COLOURS[name],
      d: nodes.map(node => `${turn(node, 3 * (i - (Object.keys(lines).length > 1 ? 1 : 0)))}${node.step < nodes.length ? ` h${13 + 7.3 * label(node.token, node.step).length}` : ""}`).join(" ") })));
    for (const node of shown.values()) {
      const at = [x[node.step], y(node.row)], group = svg("g", { class: `node ${node.fate}`, "data-at": node.at }, mark(node.fate, ...at));
      if (node.step) group.append(text(label(node.token, node.step), [at[0] + 9, at[1] + 4]));
      group.append(svg("rect", { x: at[0] - 9, y: at[1] - 12, width: 20 + 7.3 * (node.step ? label(node.token, node.step).length : 0), height: 24, class: "hit" }));
      group.addEventListener("click", () => {
        const same = model.get("node") === node.at && model.get("force") === node.at;
        set({ node: node.at, force: same ? -1 : forcible(node) ? node.at : model.get("force") });
      });
      node.box = at;
      picture.append(group);
    }
    cursor = svg("rect", { class: "cursor", height: 24, rx: 5 });
    picture.append(cursor);
    picture.addEventListener("keydown", move);
    const focused = stage.contains(document.activeElement), scroll = stage.scrollLeft;
    stage.replaceChildren(picture);
    stage.scrollLeft = scroll;
    if (focused) picture.focus({ preventScroll: true });
  }

  const forcible = node => typeof node.at === "number" && node.at > 0 && one.best[node.at];

  function move(event) {
    const here = spot(model.get("node")) ?? spot(0);
    const column = [...shown.values()].filter(n => n.step === here.step).sort((a, b) => a.row - b.row), i = column.indexOf(here);
    const next = { ArrowRight: here.kids[0], ArrowLeft: here.up, ArrowUp: column[i - 1], ArrowDown: column[i + 1], Home: spot(0) }[event.key];
    if (next) set({ node: next.at });
    else if (event.key === "Escape") set({ force: -1 });
    else if ((event.key === "Enter" || event.key === " ") && forcible(here)) set({ force: model.get("force") === here.at ? -1 : here.at });
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  }

  function point(scroll = true) {
    const node = spot(model.get("node")) ?? spot(0), length = node.step ? label(node.token, node.step).length : 0;
    cursor.setAttribute("x", node.box[0] - 10);
    cursor.setAttribute("y", node.box[1] - 12);
    cursor.setAttribute("width", 22 + 7.3 * length);
    if (scroll) {
      const room = stage.clientWidth;
      if (node.box[0] - 20 < stage.scrollLeft || node.box[0] + 90 > stage.scrollLeft + room) stage.scrollLeft = node.box[0] - room / 2;
      if (node.box[1] - 20 < stage.scrollTop || node.box[1] + 20 > stage.scrollTop + stage.clientHeight) stage.scrollTop = node.box[1] - stage.clientHeight / 2;
    }
    const fates = { alive: "it went on", pruned: "pruned: not among the best k", finished: "ended, and is returned",
      evicted: "ended, and better ones took its place", cap: "still unfinished at the cap", ghost: "the search never considered it" };
    const tokens = []; for (let n = node; n.step; n = n.up) tokens.unshift(n.token);
    reading.textContent = !node.step ? "The empty beginning. Walk with the arrow keys, or click a token to force it."
      : `Step ${node.step}, ${quote(tokens.slice(0, -1))} + “${label(node.token, node.step)}”: ` + (node.lp === null ? "" : `log-probability ${number(node.lp)}`
        + (node.up.lp === null ? "" : ` (${number(node.lp - node.up.lp)} for this token)`)
        + (node.rank ? `, candidate ${node.rank} of ${node.of}` : "") + "; ") + `${fates[node.fate]}.`;
    force.hidden = !forcible(node);
    force.textContent = model.get("force") === node.at ? "let the search choose again" : `force “${label(node.token, node.step)}”`;
  }

  function tell(best, others) {
    const k = model.get("beam"), a = model.get("alpha"), last = found.steps[found.steps.length - 1], paragraphs = [];
    verdict.replaceChildren(html("b", { textContent: write(best.tokens) || "(nothing)" }), ` scores ${number(best.score, 3)}. `,
      found.stopped === "bound" ? `Stopped after step ${found.steps.length}: ${last.hope === -Infinity ? "nothing is alive any more" : `nothing alive can still score more than ${number(last.hope)}`}, and ${model.get("all") && k > 1 ? "the worst that is returned" : "the best"} has ${number(last.held)}.`
        : `Cut off at the cap of ${cap} symbols.`);
    const apart = (x, y) => x.findIndex((token, i) => token !== y[i]), same = (x, y) => x.join() === y.join();
    const say = (name, text) => paragraphs.push(html("p", { className: name, textContent: text }));
    if (others.forced) {
      const f = others.forced, lead = f.score - best.score, own = same(f.tokens, best.tokens);
      say("forced", `You force ${quote(pathOf(one, model.get("force")))}. The best found that begins so: ${quote(f.tokens)}, score ${number(f.score, 3)}: `
        + (own ? "the winner itself." : lead > 0 ? `you win by ${number(lead, 3)}. The search had pruned a better one.` : `${number(-lead, 3)} worse than the winner. The search was right, by its own measure.`));
    }
    if (model.get("greedy")) {
      const g = others.greedy, i = apart(g.tokens, best.tokens);
      say("greedy", i < 0 ? "Greedy search writes the same: it lost nothing here."
        : `Greedy search writes ${quote(g.tokens)}, score ${number(g.score, 3)}: it lost ${number(best.score - g.score, 3)}. They part at step ${i + 1}: `
          + `“${label(g.tokens[i], i + 1)}” is the likelier token there${best.tokens[i] === undefined ? "" : `, “${label(best.tokens[i], i + 1)}” leads to the better whole`}.`);
    }
    if (model.get("reference")) {
      const r = others.reference, gold = one.reference;
      let t = 0, at = 0, total = 0;
      for (; t < gold.tokens.length && t < found.steps.length; t++) {
        total += gold.steps[t];
        at = one.children[at].find(c => one.token[c] === gold.tokens[t]) ?? -1;
        if (at < 0 || !(found.steps[t].alive.includes(at) || gold.tokens[t] === EOS)) break;
      }
      const place = found.returned.findIndex(node => same(pathOf(one, node.at), r.tokens)), judge = r.score > best.score + 1e-6
        ? "It scores more than the winner: the search is at fault." : "It scores less than the winner: the model is at fault, not the search.";
      say("reference", place === 0 ? `The winner is the reference: ${quote(r.tokens)}.` : `The reference is ${quote(r.tokens)}, score ${number(r.score, 3)}. `
        + (place > 0 ? `It is returned too, as number ${place + 1}. ` : t >= gold.tokens.length ? "Its path was followed to the end, and then displaced. "
          : t >= found.steps.length ? "Its path was alive when the search stopped. "
          : `Its path died at step ${t + 1}: “${label(gold.tokens[t], t + 1)}” is number ${gold.ranks[t]} among all tokens there, with ${number(total)} in all; the last that stayed had ${number(found.steps[t].last)}, ${number(found.steps[t].last - total)} more. `) + judge);
    }
    if (model.get("bound")) say("bound", `hope: the best alive log-probability divided by the penalty at the cap of ${cap} symbols, ${number(penalty(cap, a))}; no continuation can score more. held: the worst score that would be returned. When hope is no more than held, the search stops.`);
    stories.replaceChildren(...paragraphs);
    rank(best, others);
    bury();
    sentence.value = model.get("sentence");
    beam.value = beamValue.value = k;
    alpha.value = a;
    alphaValue.value = a.toFixed(1);
    for (const [name, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", model.get(name));
  }

  function rank(best, others) {
    const a = model.get("alpha"), list = found.returned.map(node => ({ tokens: pathOf(one, node.at), lp: node.lp, at: node.at,
      n: node.step, score: node.lp / penalty(node.step, a), names: node.fate === "finished" ? [] : ["unfinished"] }));
    for (const [name, other] of Object.entries(others)) {
      if (name !== "forced" && !model.get(name)) continue;
      const twin = list.find(row => row.tokens.join() === other.tokens.join());
      if (twin) twin.names.push(name); else list.push({ ...other, names: [name, "not returned"], extra: true });
    }
    list.sort((x, y) => y.score - x.score);
    let place = 0;
    body.replaceChildren(...list.map(row => {
      const tags = row.names.map(name => html("span", { className: `tag ${name.split(" ")[0]}`, textContent: name }));
      return html("tr", { className: row.tokens.join() === best.tokens.join() ? "best" : row.extra ? "extra" : "" },
        html("td", { textContent: row.extra ? "" : ++place }), html("td", {}, write(row.tokens) || "(nothing)", ...tags),
        ...[row.n, number(row.lp), number(penalty(row.n, a)), number(row.score, 3)].map(textContent => html("td", { textContent })));
    }));
  }

  function bury() {
    const pruned = found.nodes.filter(node => node.fate === "pruned");
    if (!model.get("graveyard")) return dead.replaceChildren();
    const misses = pruned.map(node => ({ node, gap: found.steps[node.step - 1].last - node.lp })).sort((x, y) => x.gap - y.gap).slice(0, 8);
    dead.replaceChildren(html("p", { textContent: `${pruned.length} beginnings lie in the graveyard. Those that missed the beam by least:` }),
      html("ul", {}, ...misses.map(({ node, gap }) => {
        const button = html("button", { type: "button", textContent: write(pathOf(one, node.at)) });
        button.addEventListener("click", () => set({ node: node.at, force: node.at }));
        return html("li", {}, button, ` step ${node.step}, ${number(node.lp)}, missed by ${number(gap)}`);
      })));
  }

  for (const trait of ["sentence", "beam", "alpha", "all", "graveyard", "greedy", "reference", "bound", "force"]) model.on(`change:${trait}`, later);
  let waiting = false;
  function later() { // several traits change at once: one search for all of them
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { build(); waiting = false; point(); });
  }
  model.on("change:node", () => { if (!waiting && shown.has(model.get("node"))) point(); });
  build();
  return () => {};
}

export { search, unpack };
export default { render };
