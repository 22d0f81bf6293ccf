// Hidden units of feed-forward networks: the contexts that fire one most, and what its value row promotes.
const ENDS = { "<s>": "(start) ", "</s>": " (end)" };
const shown = text => text.replace(/<\/?s>/g, end => ENDS[end]).replaceAll("▁", " ");
const plain = piece => piece.replaceAll("▁", "").toLowerCase();

function render({ model, el }) {
  const layers = model.get("layers"), units = model.get("units"), top = model.get("top");
  const sentences = model.get("sentences"), next = model.get("next_pieces"), names = model.get("vocabulary");
  const numbers = name => {
    const view = model.get(name);
    return Uint16Array.from({ length: view.byteLength / 2 }, (_, i) => view.getUint16(2 * i, true));
  };
  const places = numbers("places"), strengths = numbers("strengths"), shares = numbers("shares");
  const promoted = numbers("promoted");
  const where = sentences.flatMap((pieces, s) => pieces.map((_, p) => [s, p])); // of each token: sentence and position
  const contexts = (layer, unit) => Array.from({ length: top }, (_, i) => (layer * units + unit) * top + i)
    .filter(i => strengths[i] > 0);
  const fired = i => { const [s, p] = where[places[i]]; return sentences[s][p]; };
  const set = setter(model);

  const group = `layer-${Math.random().toString(36).slice(2)}`;
  const kinds = html("fieldset", {}, html("legend", { textContent: "Which layer?" }), ...layers.map((name, i) => {
    const radio = html("input", { type: "radio", name: group, value: i });
    radio.addEventListener("change", () => set({ layer: i }));
    return html("label", {}, radio, name);
  }));
  const slider = html("input", { type: "range", min: 1, max: units, step: 1 });
  slider.addEventListener("input", () => set({ unit: slider.value - 1 }));
  const count = html("span", { className: "count" });
  const step = (sign, label) => {
    const button = html("button", { type: "button", textContent: label });
    button.setAttribute("aria-label", sign < 0 ? "previous unit" : "next unit");
    button.addEventListener("click", () => set({ unit: (model.get("unit") + sign + units) % units }));
    return button;
  };
  const search = html("input", { type: "search", size: 12, autocomplete: "off", spellcheck: false });
  search.addEventListener("input", find);
  const found = html("div", { className: "found" });
  found.setAttribute("aria-live", "polite");
  const title = html("p", { className: "title" });
  title.setAttribute("aria-live", "polite");
  const list = html("ol"), says = html("p", { className: "says" });
  el.append(html("div", { className: "neurons" }, kinds,
    html("div", { className: "choose" }, html("label", {}, "unit", slider), step(-1, "‹"), count, step(1, "›")),
    html("div", { className: "choose" }, html("label", {}, "find units that fire at", search)), found,
    title, list, says));

  function find() {
    const wanted = plain(search.value.trim()), layer = model.get("layer");
    found.replaceChildren();
    if (!wanted) return;
    const hits = [];
    for (let unit = 0; unit < units; unit++) {
      const all = contexts(layer, unit), same = all.filter(i => plain(fired(i)) === wanted);
      if (same.length) hits.push([same.length, strengths[same[0]], unit]);
    }
    hits.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    const label = hits.length ? `${hits.length} of ${units} units have it among their strongest: ` : "no unit of this layer";
    found.append(html("span", { textContent: label }), ...hits.slice(0, 8).map(([, , unit]) => {
      const button = html("button", { type: "button", textContent: unit + 1 });
      button.setAttribute("aria-label", `show unit ${unit + 1}`);
      button.addEventListener("click", () => set({ unit }));
      return button;
    }));
  }

  function draw() {
    const layer = model.get("layer"), unit = model.get("unit");
    kinds.querySelectorAll("input")[layer].checked = true;
    slider.value = unit + 1;
    slider.setAttribute("aria-valuetext", `unit ${unit + 1}`);
    count.textContent = `${unit + 1} of ${units}`;
    const share = shares[layer * units + unit] / 100, all = contexts(layer, unit);
    title.textContent = `${layers[layer]}, unit ${unit + 1}: active at ${share} % of ${where.length} pieces`;
    list.replaceChildren(...all.map(i => {
      const [s, p] = where[places[i]], pieces = sentences[s];
      const value = (strengths[i] / 1000).toFixed(2);
      const bar = html("span", { className: "bar" });
      bar.style.width = `${Math.max(3, strengths[i] / strengths[all[0]] * 60)}px`;
      const text = html("span", { className: "text" }, shown(pieces.slice(0, p).join("")));
      const mark = html("mark", { textContent: shown(pieces[p]).trim() || "␣" });
      if (pieces[p].startsWith("▁")) text.append(" ");
      text.append(mark);
      if (next.length) text.append(" → ", html("b", { textContent: shown(next[s][p]).trim() || "␣" }));
      else text.append(shown(pieces.slice(p + 1).join("")));
      return html("li", {}, html("span", { className: "value" }, value, bar), text);
    }));
    if (!all.length) list.append(html("li", { textContent: "never active in these sentences" }));
    if (promoted.length) {
      const best = Array.from(promoted.subarray((layer * units + unit) * 6, (layer * units + unit) * 6 + 6));
      says.replaceChildren("Its value row says: ", ...best.flatMap((id, i) =>
        [i ? ", " : "", html("b", { textContent: names[id].replaceAll("▁", "␣") })]));
    }
  }

  model.on("change:layer", () => { draw(); find(); });
  model.on("change:unit", draw);
  draw();
}

export default { render };
