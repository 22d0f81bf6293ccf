// The nearest rows of an embedding table to the row of a token that the reader types.
import { button, field, html, labelled, onTraits, readout, setter } from "../../viz/controls.js";
import { BLUE, GREEN, ORANGE, VIOLET } from "../../viz/drawing.js";

const COLOURS = [BLUE, ORANGE, GREEN, VIOLET], SUGGESTED = 8;

// The number of a token as a reader types it: of a word, with the space before it, if there is one; -1 for none.
export function numberOf(tokens, typed) {
  const text = typed.trim().replace(/^ /, "▁"), found = tokens.indexOf(`▁${text}`);
  return found < 0 ? tokens.indexOf(text) : found;
}

// Tokens that begin with what was typed, in any case of letters.
export function suggestions(tokens, typed) {
  const start = typed.trim().replace("▁", "").toLowerCase();
  return start ? tokens.filter(token => token.replace("▁", "").toLowerCase().startsWith(start)).slice(0, SUGGESTED) : [];
}

// A sentence over the bars: of which groups the nearest rows are.
export function titleOf(token, groups) {
  const counts = new Map(groups.map(group => [group, groups.filter(other => other === group).length]));
  const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([group, count]) => `${count} ${group}`);
  return `Of the ${groups.length} nearest rows to “${token}”: ${parts.join(", ")}`;
}

function render({ model, el }) {
  const set = setter(model), tokens = model.get("tokens"), groups = model.get("groups"), count = model.get("count");
  const bytes = name => { const view = model.get(name); return (i, wide) => wide ? view.getUint16(2 * i, true) : view.getUint8(i); };
  const nearest = bytes("nearest"), cosines = bytes("cosines"), groupOf = bytes("group_of");
  const input = field(token => set({ token }), { type: "search", size: 18, maxLength: 30, autocomplete: "off", value: model.get("token") });
  const title = readout("p", { className: "title" }), list = html("ol"), found = html("div", { className: "found" });
  el.append(html("div", { className: "neighbours" }, labelled("token", input), found, title, list));

  const row = (token, cosine, group) => html("li", {}, html("span", { className: "name", textContent: token }),
    html("span", { className: "track" }, html("span", { className: "bar", style: `width:${(100 * cosine).toFixed(1)}%;background:${COLOURS[group]}` })),
    html("span", { className: "value", textContent: `${cosine.toFixed(2)} ${groups[group]}` }));
  function draw() {
    const typed = model.get("token"), id = numberOf(tokens, typed);
    if (input.value !== typed) input.value = typed;
    const others = suggestions(tokens, typed).filter(token => token !== tokens[id]);
    found.replaceChildren(...(others.length ? ["also ", ...others.map(token => button(token, () => set({ token })))] : []));
    if (id < 0) {
      title.textContent = typed.trim() ? `“${typed.trim()}” is not one of the ${tokens.length.toLocaleString("en-GB")} tokens; a longer word is several of them.` : "Type a token.";
      list.replaceChildren();
      return;
    }
    const places = Array.from({ length: count }, (_, i) => id * count + i), ids = places.map(i => nearest(i, true));
    title.textContent = titleOf(tokens[id], ids.map(other => groups[groupOf(other)]));
    list.replaceChildren(...ids.map((other, i) => row(tokens[other], cosines(places[i]) / 255, groupOf(other))));
  }
  onTraits(model, ["token"], draw);
  draw();
}

export default { render };
