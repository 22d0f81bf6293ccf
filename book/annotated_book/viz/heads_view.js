// Attention maps of sentence pairs, as matrices or as arcs between two columns of tokens.
import {
  arrowOf, button, clamp, group, html, onPointer, onTraits, onWidth, optionsOf, radios, readout, select, setter, traits, unique
} from "./controls.js";
import { bytesOf, pixels, setAttributes } from "./drawing.js";
import { drawArcs, drawMap } from "./heads_drawing.js";

// One hue whose opacity is the weight, so that light and dark pages need no redrawing.
const HUE = [59, 131, 214];

// The maps of each use: `weights(use, layer, head)` are bytes, row by row; `picture` paints them.
function weightsOf(model) {
  const sentences = model.get("sentences"), bytes = bytesOf(model.get("weights")), starts = new Map();
  let start = 0; // where the maps of each use begin
  for (const { uses } of sentences) for (const use of uses) {
    starts.set(use, start);
    start += use.layers * use.heads * use.queries.length * use.keys.length;
  }
  const weights = (use, layer, head) => {
    const size = use.queries.length * use.keys.length, from = starts.get(use) + (layer * use.heads + head) * size;
    return bytes.subarray(from, from + size);
  };
  const picture = (use, layer, head) => {
    const map = weights(use, layer, head), columns = use.keys.length;
    return pixels(columns, use.queries.length, (row, column) => [...HUE, map[row * columns + column]]);
  };
  return { sentences, weights, picture };
}

// On a page with a live panel of heads: a button that silences the shown head there, on the shown sentence.
function silencer(model) {
  const found = document.querySelector(".live[data-panel=atlas]");
  if (!found) return null;
  return button("Silence this head, and translate", () => {
    const { use, layer, head, sentence, sentences } = traits(model, "use", "layer", "head", "sentence", "sentences");
    const detail = { place: `${["encoder", "decoder", "cross"][use]}.${layer}.${head}`, text: sentences[sentence].title };
    document.dispatchEvent(new CustomEvent("annotated-head", { detail }));
    found.scrollIntoView({ block: "nearest" });
  }, { className: "silence" });
}

// Everything that the reader sees, once; returns the parts that change.
function buildHeads(model, el, set) {
  const sentences = model.get("sentences"), name = unique("use");
  const kinds = radios(name, sentences[0].uses.map((use, i) => [i, use.label]), use => set({ use, layer: 0, head: 0, query: 0, key: 0 }));
  const texts = select(sentences.map(({ title }, i) => [i, title]), value => set({ sentence: +value, query: 0, key: 0 }),
    { className: "sentence", "aria-label": "sentence" });
  const other = button("next sentence", () => set({ sentence: (model.get("sentence") + 1) % sentences.length, query: 0, key: 0 }));
  const choose = html("div", { className: "ask" }, html("label", {}, "sentence", texts), other);
  choose.hidden = sentences.length < 2;
  const views = radios(`view-${name}`, [["matrix", "matrix"], ["arcs", "arcs"]], view => set({ view }));
  const queries = select([], value => set({ query: +value }), { "aria-label": "query" });
  const keys = select([], value => set({ key: +value }), { "aria-label": "key" });
  const parts = { kinds, texts, views, queries, keys, grid: html("div", { className: "grid" }), title: html("p", { className: "title" }),
    note: html("p", { className: "note" }), silence: silencer(model), stage: html("div", { className: "stage" }), answer: readout() };
  const ask = html("div", { className: "ask" }, html("label", {}, "query", queries), html("label", {}, "key", keys));
  const all = html("div", { className: "all" }, group("Which attention?", ...kinds.labels), parts.grid);
  const bar = html("div", { className: "bar" }, group("Drawn as", ...views.labels), ...(parts.silence ? [parts.silence] : []));
  const one = html("div", { className: "one" }, parts.title, parts.note, bar, parts.stage, ask, parts.answer);
  el.append(html("div", { className: "attention-heads" }, choose, html("div", { className: "sides" }, all, one)));
  return parts;
}

// A thumbnail of each head, a row a layer.
function thumbnails(use, picture, choose) {
  const one = (layer, head) => {
    const made = button("", () => choose(layer, head), { "aria-label": `layer ${layer + 1}, head ${head + 1}` });
    made.append(picture(use, layer, head));
    return made;
  };
  return Array.from({ length: use.layers }, (_, layer) => html("div", { className: "layer-row" },
    html("span", { textContent: `layer ${layer + 1}` }),
    html("div", { className: "thumbnails" }, ...Array.from({ length: use.heads }, (__, head) => one(layer, head)))));
}

// What the chosen query gives to the chosen key, and where most of it goes.
export function answerTo(use, row, query, key) {
  const percent = weight => `${Math.round(weight / 2.55)} %`;
  const best = [...row].map((weight, i) => [weight, i]).filter(([weight]) => weight > 2).sort((a, b) => b[0] - a[0]);
  const most = best.slice(0, 3).map(([weight, i]) => `${use.keys[i]} ${percent(weight)}`).join(", ") || "nothing";
  return `“${use.queries[query]}” gives “${use.keys[key]}” ${percent(row[key])} of its attention. Most goes to: ${most}.`;
}

// The picture can be walked through with arrow keys and pointed at.
function listen({ picture, cellAt }, use, name, model, set) {
  const places = model.get("view") === "arcs" ? "left, keys right" : "on rows, keys on columns";
  setAttributes(picture, { "aria-label": `${name}: queries ${places}. Arrow keys move.`, tabindex: 0, role: "application" });
  picture.addEventListener("keydown", event => {
    const move = arrowOf(event);
    if (!move) return;
    event.preventDefault();
    set({ query: clamp(model.get("query") + move[0], use.queries.length), key: clamp(model.get("key") + move[1], use.keys.length) });
  });
  onPointer(picture, at => { const chosen = cellAt(at); if (chosen) set(chosen); });
}

export function headsView({ model, el }) {
  const set = setter(model), parts = buildHeads(model, el, set);
  let maps = weightsOf(model), place;
  const current = () => maps.sentences[model.get("sentence")].uses[model.get("use")];

  function drawGrid() {
    const use = current(), numbered = tokens => optionsOf(tokens.map((token, i) => [i, `${i + 1} ${token}`]));
    parts.kinds.show(model.get("use"));
    parts.texts.value = model.get("sentence");
    parts.grid.replaceChildren(...thumbnails(use, maps.picture, (layer, head) => set({ layer, head })));
    parts.queries.replaceChildren(...numbered(use.queries));
    parts.keys.replaceChildren(...numbered(use.keys));
    drawChosen();
  }
  function drawChosen() {
    const use = current(), { layer, head, view, notes } = traits(model, "layer", "head", "view", "notes");
    const name = `${use.label}, layer ${layer + 1}, head ${head + 1}`, index = layer * use.heads + head;
    parts.grid.querySelectorAll("button").forEach((made, i) => made.setAttribute("aria-pressed", i === index));
    parts.title.textContent = name;
    parts.note.textContent = notes[model.get("use")]?.[index] ?? "";
    parts.note.hidden = !parts.note.textContent;
    parts.views.show(view);
    const room = parts.stage.clientWidth || 600; // the stage is as wide as its column, whatever it holds
    const drawn = view === "arcs" ? drawArcs(use, maps.weights(use, layer, head), room)
      : drawMap(use, maps.picture(use, layer, head), room);
    place = drawn.place;
    listen(drawn, use, name, model, set);
    parts.stage.replaceChildren(drawn.picture);
    pointOut();
  }
  function pointOut() {
    const use = current(), columns = use.keys.length, { layer, head } = traits(model, "layer", "head");
    const query = clamp(model.get("query"), use.queries.length), key = clamp(model.get("key"), columns);
    place(query, key);
    parts.queries.value = query;
    parts.keys.value = key;
    const row = maps.weights(use, layer, head).subarray(query * columns, (query + 1) * columns);
    parts.answer.textContent = answerTo(use, row, query, key);
  }

  model.on("change:weights", () => { maps = weightsOf(model); drawGrid(); }); // another moment of a training
  onTraits(model, ["sentence", "use"], drawGrid);
  onTraits(model, ["layer", "head", "view"], drawChosen);
  onTraits(model, ["query", "key"], pointOut);
  drawGrid();
  return onWidth(el, drawChosen);
}
