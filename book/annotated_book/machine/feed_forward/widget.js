// Hidden units of feed-forward networks: the strongest contexts of each, all its activity by token, what its value promotes.
import { button, field, group, html, onTraits, radios, readout, setter, slider, traits, unique } from "../../viz/controls.js";

const ENDS = { "<s>": "(start) ", "</s>": " (end)" };
const shown = text => text.replace(/<\/?s>/g, end => ENDS[end]).replaceAll("▁", " ");
const named = token => token.replaceAll("▁", "").trim() || "␣";
const bare = token => token.replaceAll("▁", "").toLowerCase();
const PROMOTED = 6, TALLIED = 4; // tokens on record for each unit

// The recorded activations: of each unit its strongest contexts, where it is active, what it promotes.
function recordOf(model) {
  const { units, top, sentences, names } = traits(model, "units", "top", "sentences", "names");
  const numbers = name => {
    const view = model.get(name);
    return Uint16Array.from({ length: view.byteLength / 2 }, (_, i) => view.getUint16(2 * i, true));
  };
  const places = numbers("places"), strengths = numbers("strengths"), tallies = numbers("tallies"), promoted = numbers("promoted");
  const where = sentences.flatMap((tokens, s) => tokens.map((_, p) => [s, p])); // of each token: sentence and position
  const row = (numbers, width, layer, unit) => Array.from(numbers.subarray((layer * units + unit) * width, (layer * units + unit + 1) * width));
  return {
    units, positions: where.length,
    contexts: (layer, unit) => Array.from({ length: top }, (_, i) => (layer * units + unit) * top + i).filter(i => strengths[i] > 0)
      .map(i => ({ s: where[places[i]][0], p: where[places[i]][1], strength: strengths[i] })),
    tally: (layer, unit) => {
      const [active, ...pairs] = row(tallies, 1 + 2 * TALLIED, layer, unit);
      const most = Array.from({ length: TALLIED }, (_, i) => [names[pairs[2 * i]], pairs[2 * i + 1]]).filter(([, n]) => n > 0);
      return { active, most, rest: active - most.reduce((sum, [, n]) => sum + n, 0) };
    },
    promoted: (layer, unit) => row(promoted, PROMOTED, layer, unit),
  };
}

// The units of a layer that have a token among their strongest contexts, those with most of it first.
function unitsActiveAt(wanted, layer, { units, contexts }, sentences) {
  const hits = [];
  for (let unit = 0; unit < units; unit++) {
    const same = contexts(layer, unit).filter(({ s, p }) => bare(sentences[s][p]) === wanted);
    if (same.length) hits.push([same.length, same[0].strength, unit]);
  }
  return hits.sort((a, b) => b[0] - a[0] || b[1] - a[1]).map(([, , unit]) => unit);
}

// The share of a unit's active positions that are at a token; of those not on record only the bound is known.
export function shareAt(wanted, { active, most }) {
  const found = most.filter(([token]) => bare(token) === wanted).reduce((sum, [, n]) => sum + n, 0);
  return found ? `${Math.round(100 * found / active)} %` : `under ${Math.max(1, Math.ceil(100 * most.at(-1)[1] / active))} %`;
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set, find) {
  const units = model.get("units"), step = by => set({ unit: (model.get("unit") + by + units) % units });
  const kinds = radios(unique("layer"), model.get("layers").map((name, i) => [i, name]), layer => set({ layer }));
  const knob = slider({ min: 1, max: units, step: 1 }, value => set({ unit: value - 1 })), count = html("span", { className: "count" });
  const search = field(text => { find(text, true); }, { type: "search", size: 12, autocomplete: "off" });
  const found = readout("div", { className: "found" }), title = readout("p", { className: "title" });
  const list = html("ol"), tally = html("div", { className: "tally" }), says = html("p", { className: "says" });
  el.append(html("div", { className: "neurons" }, group("Which layer?", ...kinds.labels),
    html("div", { className: "choose" }, html("label", {}, "unit", knob), button("‹", () => step(-1), { "aria-label": "previous unit" }),
      count, button("›", () => step(1), { "aria-label": "next unit" })),
    html("div", { className: "choose" }, html("label", {}, "find units most active at", search)), found,
    title, html("p", { className: "part" }, "Its strongest activations"), list, tally, says));
  return { kinds, knob, count, search, found, title, list, tally, says };
}

// A context: how active the unit is, the text before, the token at which it is, and what comes next.
function contextItem({ s, p, strength }, most, sentences, next) {
  const tokens = sentences[s], bar = html("span", { className: "bar" });
  bar.style.width = `${Math.max(3, strength / most * 60)}px`;
  const text = html("span", { className: "text" }, shown(tokens.slice(0, p).join("")));
  if (tokens[p].startsWith("▁")) text.append(" ");
  text.append(html("mark", { textContent: shown(tokens[p]).trim() || "␣" }));
  if (next.length) text.append(" → ", html("b", { textContent: shown(next[s][p]).trim() || "␣" }));
  else text.append(shown(tokens.slice(p + 1).join("")));
  return html("li", {}, html("span", { className: "value" }, (strength / 100).toFixed(2), bar), text);
}

// All active positions by token: a bar for each of the most frequent, and one for the others.
function tallyRows({ active, most, rest }, following) {
  const rows = rest ? [...most, ["others", rest]] : most;
  return [html("p", { className: "part" }, `All ${active} positions at which it is active, by ${following ? "the token that followed" : "token"}`),
    html("ul", {}, ...rows.map(([token, n]) => {
      const bar = html("span", { className: "bar" });
      bar.style.width = `${(100 * n / active).toFixed(1)}%`;
      return html("li", {}, html("span", { className: "name" }, named(token)), html("span", { className: "track" }, bar),
        html("span", { className: "value" }, `${n} (${(100 * n / active).toFixed(0)} %)`));
    }))];
}

function render({ model, el }) {
  const set = setter(model), record = recordOf(model), { units } = record, parts = build(model, el, set, find);
  const { layers, sentences, next_tokens: next, vocabulary } = traits(model, "layers", "sentences", "next_tokens", "vocabulary");

  // Lists the units, and goes to the first if the reader has just asked.
  function find(_, jump = false) {
    const wanted = bare(parts.search.value.trim());
    parts.found.replaceChildren();
    if (!wanted) return;
    const hits = unitsActiveAt(wanted, model.get("layer"), record, sentences);
    const layer = model.get("layer"), counted = next.length === 0; // with values, positions are counted by what followed
    const label = !hits.length ? "no unit of this layer"
      : `${hits.length} of ${units} units have it among their strongest${counted ? "; behind each, the share of all its active positions that are at it" : ""}: `;
    parts.found.append(html("span", { textContent: label }), ...hits.slice(0, 8).map(unit => {
      const share = counted ? ` · ${shareAt(wanted, record.tally(layer, unit))}` : "";
      return button(`${unit + 1}${share}`, () => set({ unit }), { "aria-label": `show unit ${unit + 1}${share}` });
    }));
    if (jump && hits.length) set({ unit: hits[0] });
  }
  function draw() {
    const { layer, unit } = traits(model, "layer", "unit"), all = record.contexts(layer, unit), promoted = record.promoted(layer, unit);
    const tally = record.tally(layer, unit);
    parts.kinds.show(layer);
    parts.knob.value = unit + 1;
    parts.knob.setAttribute("aria-valuetext", `unit ${unit + 1}`);
    parts.count.textContent = `${unit + 1} of ${units}`;
    parts.title.textContent = `${layers[layer]}, unit ${unit + 1}: active at ${tally.active.toLocaleString("en-GB")} of ${record.positions.toLocaleString("en-GB")} positions`;
    parts.list.replaceChildren(...all.map(context => contextItem(context, all[0].strength, sentences, next)));
    if (!all.length) parts.list.append(html("li", { textContent: "never active in these sentences" }));
    parts.tally.replaceChildren(...(tally.active ? tallyRows(tally, next.length > 0) : []));
    if (promoted.length) parts.says.replaceChildren("Its value raises most the logits of: ", ...promoted.flatMap((id, i) =>
      [i ? ", " : "", html("b", { textContent: named(vocabulary[id]) })]));
  }

  model.on("change:layer", () => { draw(); find(""); });
  onTraits(model, ["unit"], draw);
  draw();
}

export default { render };
