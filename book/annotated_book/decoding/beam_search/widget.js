// A beam search that runs in the page, on recorded continuations; its tree, its ranking, and what it threw away.
import { button, html, knob, labelled, onTraits, onWidth, readout, select, setter, traits, unique } from "../../viz/controls.js";
import { inflate, setAttributes, svg } from "../../viz/drawing.js";
import { COLOURS, drawTree, mark } from "./picture.js";
import { pathOf, penalty, unpack } from "./search.js";
import { missesOf, number, progressOn, rankingOf, readingOf, storiesOf, verdictOn, wording } from "./sentences.js";
import { NARROW, SHRUNK, compare, cutAt, layout, neighbour, nodesOf } from "./tree.js";

const LEGEND = { alive: "went on", pruned: "pruned", finished: "ended, is returned", evicted: "ended, then displaced",
  cap: "cut off at the cap", ghost: "never in the search" };
const TOGGLES = { greedy: "what greedy lost", reference: "the reference's path", graveyard: "pruned hypotheses",
  bound: "the stopping bound", all: "return the whole beam" };
const COLUMNS = ["no.", "translation", "n", "log p", "penalty", "score"];
const SEARCHED = ["sentence", "beam", "alpha", "all", "graveyard", "greedy", "reference", "bound", "force", "step"];
const OWN = -1, FROM_START = { force: -1, step: 0 }; // the number of the reader's own sentence; step 0: the whole search

function groupsOf(sentences) {
  const groups = new Map();
  sentences.forEach((s, i) => groups.set(s.group, [...groups.get(s.group) ?? [], [i, s.text]]));
  return [...groups];
}

function legend() {
  const key = (width, height, shape) => svg("svg", { width, height, "aria-hidden": "true" }, shape);
  return html("p", { className: "legend" },
    ...Object.entries(LEGEND).map(([fate, text]) => html("span", { "data-of": fate }, key(14, 14, mark(fate, 7, 7)), text)),
    ...Object.entries(COLOURS).map(([name, stroke]) => html("span", { className: `key ${name}`, "data-of": name },
      key(26, 8, svg("path", { d: "M1 4 H25", class: `route ${name}`, stroke })), name)));
}

// Of the legend only what the picture has.
function showLegend(legend, { shown, lines }) {
  const present = new Set([...[...shown.values()].map(node => node.fate), ...Object.keys(lines).filter(name => lines[name].length)]);
  for (const span of legend.children) span.hidden = !present.has(span.dataset.of);
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set) {
  const groups = groupsOf(model.get("sentences")), choose = value => set({ sentence: +value, node: 0, ...FROM_START });
  const menu = select(groups, choose, { id: unique("beam-tree-sentence") });
  const beam = knob("beam size k", { min: 1, max: 8 }, value => set({ beam: value, ...FROM_START }));
  const alpha = knob("length penalty α", { min: 0, max: 2, step: 0.1, digits: 1 }, value => set({ alpha: value, step: 0 }));
  const step = knob("steps shown", { min: 1 }, value => set({ step: value === +step.input.max ? 0 : value }));
  const toggles = Object.fromEntries(Object.entries(TOGGLES).map(([trait, text]) =>
    [trait, button(text, () => set({ [trait]: !model.get(trait) }))]));
  const force = button("", () => set({ force: model.get("force") === model.get("node") ? -1 : model.get("node") }), { className: "force" });
  const parts = { menu, groups, choose, beam, alpha, step, toggles, force, body: html("tbody"), stage: html("div", { className: "stage" }),
    reading: readout("output", { className: "reading" }), verdict: readout("p", { className: "verdict" }),
    legend: legend(), stories: html("div", { className: "stories" }), dead: html("div", { className: "dead" }) };
  const table = html("table", {}, html("caption", { textContent: "Ranking: score = log-probability / penalty, penalty = ((5 + n) / 6)^α" }),
    html("thead", {}, html("tr", {}, ...COLUMNS.map(textContent => html("th", { textContent, scope: "col" })))), parts.body);
  el.append(html("div", { className: "beam-tree" },
    html("div", { className: "choices" }, labelled("sentence", menu, { htmlFor: menu.id }), beam.label, alpha.label, step.label),
    parts.verdict, parts.stage, parts.legend, html("div", { className: "buttons" }, ...Object.values(toggles)),
    html("div", { className: "pointed" }, parts.reading, force), parts.stories, html("div", { className: "ranking" }, table), parts.dead));
  return parts;
}

function showControls({ menu, beam, alpha, step, toggles }, { one, found }, state) {
  menu.value = state.sentence;
  beam.show(state.beam);
  alpha.show(state.alpha);
  step.input.max = found.steps.length;
  step.show(state.step || found.steps.length);
  for (const [name, toggle] of Object.entries(toggles)) toggle.setAttribute("aria-pressed", state[name]);
  toggles.reference.disabled = !one.reference;
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
  dead.replaceChildren(html("p", { textContent: `${count} hypotheses were pruned. Those that missed the beam by least:` }),
    html("ul", {}, ...misses.map(({ node, gap }) => html("li", {},
      button(write(pathOf(one, node.at)), () => set({ node: node.at, force: node.at })),
      ` step ${node.step}, ${number(node.lp)}, missed by ${number(gap)}`))));
}

// Everything that is said of a search, and the controls that made it.
function showSearch(parts, about, state, words, set) {
  const stories = storiesOf(about, state, words);
  parts.verdict.replaceChildren(...(state.step ? [progressOn(about, state.step, words)]
    : [html("b", { textContent: words.write(about.best.tokens) || "(nothing)" }), verdictOn(about, state)]));
  parts.stories.replaceChildren(...stories.map(([className, textContent]) => html("p", { className, textContent })));
  showRanking(parts.body, about, state, words.write);
  if (state.graveyard) showGraveyard(parts.dead, about, words.write, set); else parts.dead.replaceChildren();
  showControls(parts, about, state);
}

function showPointed({ reading, force }, node, words, isForcible, isForced) {
  reading.textContent = readingOf(node, words);
  force.hidden = !isForcible;
  force.textContent = isForced ? "let the search choose again" : `force “${words.label(node.token, node.step)}”`;
}

// Scrolls the stage so that a place in it is seen.
function reveal(stage, [x, y]) {
  const room = stage.clientWidth;
  if (x - 20 < stage.scrollLeft || x + 90 > stage.scrollLeft + room) stage.scrollLeft = x - room / 2;
  if (y - 20 < stage.scrollTop || y + 20 > stage.scrollTop + stage.clientHeight) stage.scrollTop = y - stage.clientHeight / 2;
}

// A picture that is a little too wide for its place becomes smaller.
function shrink(picture, { width, height }, room) {
  if (room >= width || room < SHRUNK * width) return;
  setAttributes(picture, { viewBox: `0 0 ${width} ${height}`, width: room, height: height * room / width });
}

// Puts a new picture on the stage; the scroll and the focus stay.
function place(stage, picture) {
  const focused = stage.contains(document.activeElement), scroll = stage.scrollLeft;
  stage.replaceChildren(picture);
  stage.scrollLeft = scroll;
  if (focused) picture.focus({ preventScroll: true });
}

// A page that can search for other sentences too has one field for all of them: then the menu goes (`takeMenu`, which returns its
// choices), `choose(i)` shows recorded sentence i, and `show(search)` one of the reader's own.
function handOver(el, { menu, groups }, choose, show) {
  const takeMenu = () => { menu.closest("label").remove(); return groups; };
  el.beamTree = { takeMenu, choose, show };
  el.dispatchEvent(new CustomEvent("annotated-beam-tree", { bubbles: true }));
}

// The recorded searches, by number: { one, cap, words }.
async function recordedSearches(model) {
  const words = wording(model.get("tokens")), records = unpack(await inflate(model.get("searches")));
  return new Map(model.get("sentences").map(({ cap }, i) => [i, { one: records[i], cap, words }]));
}

// Several traits change at once: the work is done once for all of them.
function together(work) {
  const later = () => {
    if (later.waits) return;
    later.waits = true;
    queueMicrotask(() => { work(); later.waits = false; });
  };
  return later;
}

async function render({ model, el }) {
  const set = setter(model), searches = await recordedSearches(model), parts = build(model, el, set);
  let words, about, shown, at, cursor;
  const pointed = () => shown.get(model.get("node")) ?? shown.get(0);
  const forcible = node => typeof node.at === "number" && about.one.forcible(node.at);

  function draw() {
    const state = traits(model, ...SEARCHED), searched = searches.get(state.sentence);
    words = searched.words;
    about = compare(searched.one, searched.cap, state);
    const nodes = nodesOf(about, state);
    ({ shown } = nodes);
    const room = parts.stage.clientWidth, placed = () => layout(shown, words.label, state.bound, room > 0 ? room - 12 : NARROW);
    const { height } = placed(); // the picture of some steps is as high as that of all
    if (state.step) cutAt(nodes, about.found, state.step);
    at = { ...placed(), height };
    if (!shown.has(model.get("node"))) model.set("node", 0);
    const drawn = drawTree({ found: about.found, ...nodes, at, label: words.label, bound: state.bound, choose });
    cursor = drawn.cursor;
    drawn.picture.addEventListener("keydown", move);
    shrink(drawn.picture, at, room - 12);
    place(parts.stage, drawn.picture);
    showLegend(parts.legend, nodes);
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
    const node = pointed();
    setAttributes(cursor, at.box(node));
    if (scroll) reveal(parts.stage, at.place(node));
    showPointed(parts, node, words, forcible(node), model.get("force") === node.at);
  }

  const later = together(() => { draw(); point(); });
  onTraits(model, SEARCHED, later);
  model.on("change:node", () => { if (!later.waits && shown.has(model.get("node"))) point(); });
  draw();
  const still = onWidth(el, later);
  handOver(el, parts, parts.choose, search => {
    searches.set(OWN, { ...search, words: wording(search.words) });
    set({ sentence: OWN, node: 0, ...FROM_START });
    later(); // also if the sentence before was the reader's own
  });
  return still;
}

export default { render };
