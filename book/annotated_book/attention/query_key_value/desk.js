// One query at a time: its token joined to the tokens that answer, and the matrix with its row framed.
import { arrowOf, clamp, html, labelled, onPointer, onTraits, onWidth, readout, select, setter, slider, unique } from "../../viz/controls.js";
import { setAttributes, shorten, svg, unmarked } from "../../viz/drawing.js";
import { onOwnSentence } from "../../viz/own_sentence.js";

const ROW = 25, TOP = 40, COLUMN = 116;
const LANGUAGES = { source: "English", target: "German" };
const word = token => unmarked(token) || token;

// The keys that answer the query, strongest first, as [number, weight].
export const strongest = (row, least = 0.005) =>
  row.map((weight, n) => [n, weight]).filter(([, weight]) => weight >= least).sort((a, b) => b[1] - a[1]);

// The same uses of attention on another sentence: what the engine's trace found for the box and head of each.
export const onSentence = (sites, { maps, sourceTokens, readTokens, nextTokens }) => sites.map(site => {
  if (!site.box) return site;
  const side = kind => (kind === "source" ? sourceTokens : readTokens), queries = side(site.asks), keys = side(site.answers);
  const all = maps[site.box][site.head - 1];
  return { ...site, queries, keys, writes: site.asks === "target" ? nextTokens : [], weights: queries.map((_, i) => [...all.subarray(i * keys.length, (i + 1) * keys.length)]) };
});

// A query by its token and, in the decoder, the token that its position is about to write: "die → grü".
export const nameOf = ({ queries, writes }, i, quote = "") => [queries[i], ...(writes?.length ? [writes[i]] : [])]
  .map(token => quote ? `“${word(token)}”` : word(token)).join(" → ");

// The head of a site, "Layer 3, head 2: ", from the name of its box.
const headOf = ({ box, head }) => box ? `Layer ${box.split(".")[1]}, head ${head}: the` : "The";

function build(el, sites, id, { choose, ask }) {
  const use = select(sites.map((site, i) => [i, site.name]), i => choose(+i), { id: `${id}-use` });
  const query = slider({ id: `${id}-query`, name: "query", min: 1, step: 1 }, ask), token = html("output");
  const stage = html("div", { className: "stage" }), says = readout("p");
  const move = labelled("query (row)", query, { htmlFor: query.id });
  move.append(token);
  el.append(html("div", { className: "desk" }, html("div", { className: "bar" }, labelled("attention", use, { htmlFor: use.id }), move), stage, says));
  return { use, query, token, stage, says };
}

function side(tokens, kind, x, anchor, first) {
  const mark = i => kind === "source" ? svg("circle", { cx: x, cy: TOP + i * ROW, r: 5, class: "source" })
    : svg("rect", { x: x - 5, y: TOP + i * ROW - 5, width: 10, height: 10, class: "target" });
  return tokens.map((token, i) => svg("g", { class: "token", "data-row": first ? i : -1 }, mark(i),
    svg("text", { x: x + (anchor === "end" ? -11 : 44), y: TOP + i * ROW + 4.5, "text-anchor": anchor }, shorten(word(token), 12))));
}

function drawLines({ queries, keys, asks, answers, weights }, query, width) {
  const left = COLUMN, right = width - COLUMN - 44, y = i => TOP + i * ROW;
  const from = side(queries, asks, left, "end", true), to = side(keys, answers, right, "start", false);
  from.forEach((group, i) => group.classList.toggle("now", i === query));
  const lines = [], numbers = [];
  for (const [n, w] of strongest(weights[query])) {
    lines.push(svg("line", { x1: left + 8, y1: y(query), x2: right - 8, y2: y(n), "stroke-width": Math.max(0.6, 11 * w), class: "link" }));
    numbers.push(svg("text", { x: right + 9, y: y(n) + 4.5, class: "number" }, w.toFixed(2)));
  }
  const heads = [svg("text", { x: left, y: 16, "text-anchor": "end", class: "head" }, "queries"),
    svg("text", { x: right, y: 16, class: "head" }, "keys and values")];
  const height = TOP + Math.max(queries.length, keys.length) * ROW - 8;
  return svg("svg", { width, height, class: "lines", tabindex: 0, role: "application" }, ...heads, ...lines, ...from, ...to, ...numbers);
}

function drawMatrix({ queries, keys, weights }, query, width) {
  const left = 84, top = 90, cell = Math.min(28, (width - left - 24) / keys.length), parts = [];
  weights.forEach((row, i) => row.forEach((w, j) => parts.push(svg("rect", { x: left + j * cell, y: top + i * cell, width: cell, height: cell,
    class: "cell", "fill-opacity": w }))));
  queries.forEach((token, i) => parts.push(svg("text", { x: left - 6, y: top + (i + 0.5) * cell + 4, "text-anchor": "end" }, shorten(word(token), 11))));
  keys.forEach((token, j) => {
    const x = left + (j + 0.65) * cell;
    parts.push(svg("text", { x, y: top - 6, transform: `rotate(-55 ${x} ${top - 6})` }, shorten(word(token), 11)));
  });
  const frame = svg("rect", { x: left, y: top + query * cell, width: cell * keys.length, height: cell, class: "frame" });
  const made = svg("svg", { width, height: top + cell * queries.length + 4, class: "matrix", role: "img",
    "aria-label": `Matrix of all weights: ${queries.length} queries on rows, ${keys.length} keys on columns; the row of the chosen query is framed.` }, ...parts, frame);
  return { made, top, cell };
}

function render({ model, el }) {
  const set = setter(model), id = unique("desk"), recorded = model.get("sites");
  const site = () => model.get("sites")[model.get("use")], last = () => site().queries.length - 1, at = () => clamp(model.get("query"), last() + 1);
  const parts = build(el, recorded, id, { choose: use => set({ use }), ask: row => set({ query: row - 1 }) });

  function draw() {
    const one = site(), query = at(), whole = parts.stage.clientWidth || 720, wide = whole > 640;
    const lines = drawLines(one, query, Math.min(460, wide ? whole * 0.54 : whole)), matrix = drawMatrix(one, query, wide ? whole * 0.44 : whole);
    const held = parts.stage.contains(document.activeElement);
    parts.stage.replaceChildren(lines, matrix.made);
    onPointer(lines, ({ x, y }) => { if (x < COLUMN + 20) set({ query: clamp(Math.round((y - TOP) / ROW), last() + 1) }); }, ["pointerdown"]);
    onPointer(matrix.made, ({ y }) => { if (y > matrix.top) set({ query: clamp(Math.floor((y - matrix.top) / matrix.cell), last() + 1) }); }, ["pointerdown"]);
    lines.addEventListener("keydown", event => {
      const move = arrowOf(event);
      if (!move) return;
      set({ query: clamp(query + move[0] + move[1], last() + 1) });
      event.preventDefault();
    });
    const best = strongest(one.weights[query]).slice(0, 3).map(([n, w]) => `${word(one.keys[n])} ${Math.round(100 * w)} %`).join(", ");
    parts.use.value = model.get("use");
    setAttributes(parts.query, { max: last() + 1, "aria-valuetext": `${query + 1}, ${nameOf(one, query)}` });
    parts.query.value = query + 1;
    parts.token.textContent = `${query + 1}: ${nameOf(one, query)}`;
    parts.says.textContent = `${headOf(one)} ${LANGUAGES[one.asks]} token ${query + 1}, ${nameOf(one, query, true)}, attends to the ${LANGUAGES[one.answers]} tokens. Most weight: ${best}.`;
    lines.setAttribute("aria-label", `${one.name}. ${parts.says.textContent} Arrow keys choose another row.`);
    if (held) lines.focus();
  }

  onTraits(model, ["use", "query", "sites"], draw);
  draw();
  const deaf = onOwnSentence("desk", found => set({ sites: onSentence(recorded, found) })), still = onWidth(el, draw);
  return () => { deaf(); still(); };
}

export default { render };
