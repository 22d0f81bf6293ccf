// Hidden units of feed-forward networks: the contexts that fire one most, and what its value row promotes.
import { button, field, group, html, onTraits, radios, readout, setter, slider, traits, unique } from "../../viz/controls.js";

const ENDS = { "<s>": "(start) ", "</s>": " (end)" };
const shown = text => text.replace(/<\/?s>/g, end => ENDS[end]).replaceAll("▁", " ");
const bare = piece => piece.replaceAll("▁", "").toLowerCase();
const PROMOTED = 6; // pieces on record for each unit

// The recorded activations: of each unit its strongest contexts, how often it is active, what it promotes.
function recordOf(model) {
  const { units, top, sentences } = traits(model, "units", "top", "sentences");
  const numbers = name => {
    const view = model.get(name);
    return Uint16Array.from({ length: view.byteLength / 2 }, (_, i) => view.getUint16(2 * i, true));
  };
  const places = numbers("places"), strengths = numbers("strengths"), shares = numbers("shares"), promoted = numbers("promoted");
  const where = sentences.flatMap((pieces, s) => pieces.map((_, p) => [s, p])); // of each token: sentence and position
  return {
    units, pieces: where.length,
    contexts: (layer, unit) => Array.from({ length: top }, (_, i) => (layer * units + unit) * top + i).filter(i => strengths[i] > 0)
      .map(i => ({ s: where[places[i]][0], p: where[places[i]][1], strength: strengths[i] })),
    share: (layer, unit) => shares[layer * units + unit] / 100,
    promoted: (layer, unit) => Array.from(promoted.subarray((layer * units + unit) * PROMOTED, (layer * units + unit + 1) * PROMOTED)),
  };
}

// The units of a layer that have a piece among their strongest contexts, those with most of it first.
function unitsThatFireAt(wanted, layer, { units, contexts }, sentences) {
  const hits = [];
  for (let unit = 0; unit < units; unit++) {
    const same = contexts(layer, unit).filter(({ s, p }) => bare(sentences[s][p]) === wanted);
    if (same.length) hits.push([same.length, same[0].strength, unit]);
  }
  return hits.sort((a, b) => b[0] - a[0] || b[1] - a[1]).map(([, , unit]) => unit);
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set, find) {
  const units = model.get("units"), step = by => set({ unit: (model.get("unit") + by + units) % units });
  const kinds = radios(unique("layer"), model.get("layers").map((name, i) => [i, name]), layer => set({ layer }));
  const knob = slider({ min: 1, max: units, step: 1 }, value => set({ unit: value - 1 })), count = html("span", { className: "count" });
  const search = field(find, { type: "search", size: 12, autocomplete: "off" });
  const found = readout("div", { className: "found" }), title = readout("p", { className: "title" });
  const list = html("ol"), says = html("p", { className: "says" });
  el.append(html("div", { className: "neurons" }, group("Which layer?", ...kinds.labels),
    html("div", { className: "choose" }, html("label", {}, "unit", knob), button("‹", () => step(-1), { "aria-label": "previous unit" }),
      count, button("›", () => step(1), { "aria-label": "next unit" })),
    html("div", { className: "choose" }, html("label", {}, "find units that fire at", search)), found,
    title, list, says));
  return { kinds, knob, count, search, found, title, list, says };
}

// A context: how strongly the unit fires, the text before, the piece that it fires at, and what comes next.
function contextItem({ s, p, strength }, most, sentences, next) {
  const pieces = sentences[s], bar = html("span", { className: "bar" });
  bar.style.width = `${Math.max(3, strength / most * 60)}px`;
  const text = html("span", { className: "text" }, shown(pieces.slice(0, p).join("")));
  if (pieces[p].startsWith("▁")) text.append(" ");
  text.append(html("mark", { textContent: shown(pieces[p]).trim() || "␣" }));
  if (next.length) text.append(" → ", html("b", { textContent: shown(next[s][p]).trim() || "␣" }));
  else text.append(shown(pieces.slice(p + 1).join("")));
  return html("li", {}, html("span", { className: "value" }, (strength / 1000).toFixed(2), bar), text);
}

function render({ model, el }) {
  const set = setter(model), record = recordOf(model), { units } = record, parts = build(model, el, set, find);
  const { layers, sentences, next_pieces: next, vocabulary } = traits(model, "layers", "sentences", "next_pieces", "vocabulary");

  function find() {
    const wanted = bare(parts.search.value.trim());
    parts.found.replaceChildren();
    if (!wanted) return;
    const hits = unitsThatFireAt(wanted, model.get("layer"), record, sentences);
    const label = hits.length ? `${hits.length} of ${units} units have it among their strongest: ` : "no unit of this layer";
    parts.found.append(html("span", { textContent: label }), ...hits.slice(0, 8).map(unit =>
      button(unit + 1, () => set({ unit }), { "aria-label": `show unit ${unit + 1}` })));
  }
  function draw() {
    const { layer, unit } = traits(model, "layer", "unit"), all = record.contexts(layer, unit), promoted = record.promoted(layer, unit);
    parts.kinds.show(layer);
    parts.knob.value = unit + 1;
    parts.knob.setAttribute("aria-valuetext", `unit ${unit + 1}`);
    parts.count.textContent = `${unit + 1} of ${units}`;
    parts.title.textContent = `${layers[layer]}, unit ${unit + 1}: active at ${record.share(layer, unit)} % of ${record.pieces} pieces`;
    parts.list.replaceChildren(...all.map(context => contextItem(context, all[0].strength, sentences, next)));
    if (!all.length) parts.list.append(html("li", { textContent: "never active in these sentences" }));
    if (promoted.length) parts.says.replaceChildren("Its value row says: ", ...promoted.flatMap((id, i) =>
      [i ? ", " : "", html("b", { textContent: vocabulary[id].replaceAll("▁", "␣") })]));
  }

  model.on("change:layer", () => { draw(); find(); });
  onTraits(model, ["unit"], draw);
  draw();
}

export default { render };
