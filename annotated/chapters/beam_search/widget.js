// A beam search that runs in the page, on recorded continuations; its tree, its ranking, and what it threw away.
import { button, html, labelled, onTraits, readout, select, setter, slider, traits, unique } from "../../viz/controls.js";
import { inflate, setAttributes, svg } from "../../viz/drawing.js";
import { COLOURS, drawTree, mark } from "./picture.js";
import { pathOf, penalty, unpack } from "./search.js";
import { missesOf, number, rankingOf, readingOf, storiesOf, verdictOn, wording } from "./sentences.js";
import { compare, layout, neighbour, nodesOf } from "./tree.js";

const LEGEND = { alive: "went on", pruned: "pruned", finished: "ended, is returned", evicted: "ended, then displaced",
  cap: "cut off at the cap", ghost: "never in the search" };
const TOGGLES = { greedy: "what greedy lost", reference: "where the reference died", graveyard: "the graveyard",
  bound: "the stopping bound", all: "return the whole beam" };
const COLUMNS = ["no.", "translation", "n", "log p", "penalty", "score"];
const SEARCHED = ["sentence", "beam", "alpha", "all", "graveyard", "greedy", "reference", "bound", "force"];

function sentenceMenu(sentences, id, set) {
  const groups = new Map();
  sentences.forEach((s, i) => groups.set(s.group, [...groups.get(s.group) ?? [], [i, s.text]]));
  return select([...groups], value => set({ sentence: +value, force: -1, node: 0 }), { id });
}

function slide(text, id, range, move) {
  const input = slider({ id, ...range }, move), value = html("output", { htmlFor: id });
  return { input, value, label: html("label", { htmlFor: id }, html("span", { textContent: text }), input, value) };
}

function legend() {
  const key = (width, height, shape) => svg("svg", { width, height, "aria-hidden": "true" }, shape);
  return html("p", { className: "legend" },
    ...Object.entries(LEGEND).map(([fate, text]) => html("span", {}, key(14, 14, mark(fate, 7, 7)), text)),
    ...Object.entries(COLOURS).map(([name, stroke]) => html("span", { className: `key ${name}` },
      key(26, 8, svg("path", { d: "M1 4 H25", class: `route ${name}`, stroke })), name)));
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set) {
  const id = unique("beam-tree"), menu = sentenceMenu(model.get("sentences"), `${id}-sentence`, set);
  const beam = slide("beam size k", `${id}-beam`, { min: 1, max: 8, step: 1 }, value => set({ beam: value, force: -1 }));
  const alpha = slide("length penalty α", `${id}-alpha`, { min: 0, max: 2, step: 0.1 }, value => set({ alpha: value }));
  const toggles = Object.fromEntries(Object.entries(TOGGLES).map(([trait, text]) =>
    [trait, button(text, () => set({ [trait]: !model.get(trait) }))]));
  const force = button("", () => set({ force: model.get("force") === model.get("node") ? -1 : model.get("node") }), { className: "force" });
  const parts = { menu, beam, alpha, toggles, force, body: html("tbody"), stage: html("div", { className: "stage" }),
    reading: readout("output", { className: "reading" }), verdict: readout("p", { className: "verdict" }),
    stories: html("div", { className: "stories" }), dead: html("div", { className: "dead" }) };
  const table = html("table", {}, html("caption", { textContent: "Ranking: score = log-probability / penalty, penalty = ((5 + n) / 6)^α" }),
    html("thead", {}, html("tr", {}, ...COLUMNS.map(textContent => html("th", { textContent, scope: "col" })))), parts.body);
  el.append(html("div", { className: "beam-tree" },
    html("div", { className: "choices" }, labelled("sentence", menu, { htmlFor: menu.id }), beam.label, alpha.label),
    html("div", { className: "buttons" }, ...Object.values(toggles)), parts.verdict, parts.stage, legend(),
    html("div", { className: "pointed" }, parts.reading, force), parts.stories, html("div", { className: "ranking" }, table), parts.dead));
  return parts;
}

function showControls({ menu, beam, alpha, toggles }, state) {
  menu.value = state.sentence;
  beam.input.value = beam.value.value = state.beam;
  alpha.input.value = state.alpha;
  alpha.value.value = state.alpha.toFixed(1);
  for (const [name, toggle] of Object.entries(toggles)) toggle.setAttribute("aria-pressed", state[name]);
}

function showRanking(body, about, state, write) {
  let place = 0;
  body.replaceChildren(...rankingOf(about, state).map(row => {
    const tags = row.names.map(name => html("span", { className: `tag ${name.split(" ")[0]}`, textContent: name }));
    const best = row.tokens.join() === about.best.tokens.join();
    return html("tr", { className: best ? "best" : row.extra ? "extra" : "" },
      html("td", { textContent: row.extra ? "" : ++place }), html("td", {}, write(row.tokens) || "(nothing)", ...tags),
      ...[row.n, number(row.lp), number(penalty(row.n, state.alpha)), number(row.score, 3)].map(textContent => html("td", { textContent })));
  }));
}

function showGraveyard(dead, { one, found }, write, set) {
  const { count, misses } = missesOf(found);
  dead.replaceChildren(html("p", { textContent: `${count} beginnings lie in the graveyard. Those that missed the beam by least:` }),
    html("ul", {}, ...misses.map(({ node, gap }) => html("li", {},
      button(write(pathOf(one, node.at)), () => set({ node: node.at, force: node.at })),
      ` step ${node.step}, ${number(node.lp)}, missed by ${number(gap)}`))));
}

// Everything that is said of a search, and the controls that made it.
function showSearch(parts, about, state, words, set) {
  const stories = storiesOf(about, state, words);
  parts.verdict.replaceChildren(html("b", { textContent: words.write(about.best.tokens) || "(nothing)" }), verdictOn(about, state));
  parts.stories.replaceChildren(...stories.map(([className, textContent]) => html("p", { className, textContent })));
  showRanking(parts.body, about, state, words.write);
  if (state.graveyard) showGraveyard(parts.dead, about, words.write, set); else parts.dead.replaceChildren();
  showControls(parts, state);
}

// Scrolls the stage so that a place in it is seen.
function reveal(stage, [x, y]) {
  const room = stage.clientWidth;
  if (x - 20 < stage.scrollLeft || x + 90 > stage.scrollLeft + room) stage.scrollLeft = x - room / 2;
  if (y - 20 < stage.scrollTop || y + 20 > stage.scrollTop + stage.clientHeight) stage.scrollTop = y - stage.clientHeight / 2;
}

// Puts a new picture on the stage; the scroll and the focus stay.
function place(stage, picture) {
  const focused = stage.contains(document.activeElement), scroll = stage.scrollLeft;
  stage.replaceChildren(picture);
  stage.scrollLeft = scroll;
  if (focused) picture.focus({ preventScroll: true });
}

async function render({ model, el }) {
  const set = setter(model), sentences = model.get("sentences"), words = wording(model.get("tokens"));
  const records = unpack(await inflate(model.get("searches"))), parts = build(model, el, set);
  let about, shown, at, cursor;
  const pointed = () => shown.get(model.get("node")) ?? shown.get(0);
  const forcible = node => typeof node.at === "number" && node.at > 0 && about.one.best[node.at];

  function draw() {
    const state = traits(model, ...SEARCHED);
    about = compare(records[state.sentence], sentences[state.sentence].cap, state);
    const nodes = nodesOf(about, state);
    shown = nodes.shown;
    if (!shown.has(model.get("node"))) model.set("node", 0);
    at = layout(shown, words.label, state.bound);
    const drawn = drawTree({ found: about.found, ...nodes, at, label: words.label, bound: state.bound, choose });
    cursor = drawn.cursor;
    drawn.picture.addEventListener("keydown", move);
    place(parts.stage, drawn.picture);
    showSearch(parts, about, state, words, set);
    point(false);
  }
  function choose(node) {
    const { node: old, force } = traits(model, "node", "force"), again = old === node.at && force === node.at;
    set({ node: node.at, force: again ? -1 : forcible(node) ? node.at : force });
  }
  function move(event) {
    const here = pointed(), next = neighbour(shown, here, event.key);
    if (next) set({ node: next.at });
    else if (event.key === "Escape") set({ force: -1 });
    else if ((event.key === "Enter" || event.key === " ") && forcible(here)) set({ force: model.get("force") === here.at ? -1 : here.at });
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  }
  function point(scroll = true) {
    const node = pointed(), [x, y] = at.place(node);
    setAttributes(cursor, { x: x - 10, y: y - 12, width: 22 + at.wide(node) });
    if (scroll) reveal(parts.stage, [x, y]);
    parts.reading.textContent = readingOf(node, words);
    parts.force.hidden = !forcible(node);
    parts.force.textContent = model.get("force") === node.at ? "let the search choose again" : `force “${words.label(node.token, node.step)}”`;
  }

  let waiting = false;
  function later() { // several traits change at once: one search for all of them
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { draw(); waiting = false; point(); });
  }
  onTraits(model, SEARCHED, later);
  model.on("change:node", () => { if (!waiting && shown.has(model.get("node"))) point(); });
  draw();
  return () => {};
}

export default { render };
