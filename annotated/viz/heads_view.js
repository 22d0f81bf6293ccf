// Attention maps of sentence pairs, as matrices or as arcs between two columns of tokens. Colour is one hue whose opacity is the weight, so that light and dark pages
// need no redrawing; labels follow the page's own text colour.
const HUE = [59, 131, 214];

function headsView({ model, el }) {
  let sentences, bytes;
  function load() {
    const view = model.get("weights");
    sentences = model.get("sentences");
    bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    let start = 0; // where the maps of each use begin
    for (const { uses } of sentences) for (const use of uses) {
      use.start = start;
      start += use.layers * use.heads * use.queries.length * use.keys.length;
    }
  }
  load();
  const current = () => sentences[model.get("sentence")].uses[model.get("use")];
  const map = (use, layer, head) => {
    const size = use.queries.length * use.keys.length, from = use.start + (layer * use.heads + head) * size;
    return bytes.subarray(from, from + size);
  };
  const paint = (canvas, use, layer, head) => {
    canvas.width = use.keys.length;
    canvas.height = use.queries.length;
    const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
    map(use, layer, head).forEach((weight, i) => image.data.set([...HUE, weight], 4 * i));
    context.putImageData(image, 0, 0);
    return canvas;
  };
  const set = setter(model);

  const name = `use-${Math.random().toString(36).slice(2)}`;
  const kinds = html("fieldset", {}, html("legend", { textContent: "Which attention?" }), ...sentences[0].uses.map((use, i) => {
    const radio = html("input", { type: "radio", name, value: i });
    radio.addEventListener("change", () => set({ use: i, layer: 0, head: 0, query: 0, key: 0 }));
    return html("label", {}, radio, use.label);
  }));
  const texts = html("select", { className: "sentence" }, ...sentences.map(({ title }, i) => html("option", { value: i, textContent: title })));
  texts.addEventListener("change", () => set({ sentence: +texts.value, query: 0, key: 0 }));
  const other = html("button", { type: "button", textContent: "next sentence" });
  other.addEventListener("click", () => set({ sentence: (model.get("sentence") + 1) % sentences.length, query: 0, key: 0 }));
  const choose = html("div", { className: "ask" }, html("label", {}, "sentence", texts), other);
  choose.hidden = sentences.length < 2;
  const views = html("fieldset", {}, html("legend", { textContent: "Drawn as" }), ...["matrix", "arcs"].map(value => {
    const radio = html("input", { type: "radio", name: `view-${name}`, value });
    radio.addEventListener("change", () => set({ view: value }));
    return html("label", {}, radio, value);
  }));
  const grid = html("div", { className: "grid" });
  const title = html("p", { className: "title" }), note = html("p", { className: "note" });
  const stage = html("div", { className: "stage" });
  const queries = html("select"), keys = html("select");
  for (const [select, label] of [[texts, "sentence"], [queries, "query"], [keys, "key"]]) select.setAttribute("aria-label", label);
  queries.addEventListener("change", () => set({ query: +queries.value }));
  keys.addEventListener("change", () => set({ key: +keys.value }));
  const ask = html("div", { className: "ask" }, html("label", {}, "query", queries), html("label", {}, "key", keys));
  const answer = html("output");
  answer.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "attention-heads" }, choose, kinds, grid, title, note, views, stage, ask, answer));

  function drawGrid() {
    const use = current();
    kinds.querySelectorAll("input")[model.get("use")].checked = true;
    texts.value = model.get("sentence");
    grid.replaceChildren(...Array.from({ length: use.layers }, (_, layer) => html("div", { className: "layer-row" },
      html("span", { textContent: `layer ${layer + 1}` }),
      html("div", { className: "thumbnails" }, ...Array.from({ length: use.heads }, (_, head) => {
        const button = html("button", { type: "button" }, paint(html("canvas"), use, layer, head));
        button.setAttribute("aria-label", `layer ${layer + 1}, head ${head + 1}`);
        button.addEventListener("click", () => set({ layer, head }));
        return button;
      })))));
    const options = tokens => tokens.map((token, i) => html("option", { value: i, textContent: `${i + 1} ${token}` }));
    queries.replaceChildren(...options(use.queries));
    keys.replaceChildren(...options(use.keys));
    drawMap();
  }

  let cursor = [], arcs = []; // what marks the chosen query and key
  let cell = 20, left = 0, top = 0;
  const short = (token, limit) => token.length > limit ? token.slice(0, limit - 1) + "…" : token;
  const last = (token, limit) => token.length > limit ? "…" + token.slice(1 - limit) : token; // what is written next stays
  const word = (token, x, y, size, limit, more = {}) => {
    const text = svg("text", { x, y, "dominant-baseline": "central", style: `font-size:${size}px`, ...more });
    text.textContent = short(token, limit);
    return text;
  };
  function drawMap() {
    const use = current(), layer = model.get("layer"), head = model.get("head");
    grid.querySelectorAll("button").forEach((button, i) =>
      button.setAttribute("aria-pressed", i === layer * use.heads + head));
    title.textContent = `${use.label}, layer ${layer + 1}, head ${head + 1}`;
    note.textContent = model.get("notes")[model.get("use")]?.[layer * use.heads + head] ?? "";
    note.hidden = !note.textContent;
    for (const radio of views.querySelectorAll("input")) radio.checked = radio.value === model.get("view");
    const picture = model.get("view") === "arcs" ? drawArcs(use, layer, head) : drawMatrix(use, layer, head);
    picture.setAttribute("aria-label", `${title.textContent}: queries ${model.get("view") === "arcs"
      ? "left, keys right" : "on rows, keys on columns"}. Arrow keys move.`);
    for (const [attribute, value] of [["tabindex", 0], ["role", "application"]]) picture.setAttribute(attribute, value);
    picture.addEventListener("keydown", event => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      set({ query: clamp(model.get("query") + move[0], use.queries.length),
        key: clamp(model.get("key") + move[1], use.keys.length) });
    });
    stage.replaceChildren(picture);
    pointOut();
  }

  // Queries in the left column, keys in the right one; a line is as wide as its weight.
  function drawArcs(use, layer, head) {
    const rows = use.queries.length, columns = use.keys.length, step = 24, width = Math.min(el.clientWidth || 600, 520);
    const size = 12, side = 0.36 * width, most = Math.floor(side / (size * 0.62));
    const picture = svg("svg", { width, height: step * Math.max(rows, columns) + 8 }), weights = map(use, layer, head);
    const y = i => (i + 0.5) * step + 4;
    const lines = svg("g", { fill: "none" });
    arcs = [];
    for (let q = 0; q < rows; q++) for (let k = 0; k < columns; k++) {
      const weight = weights[q * columns + k] / 255, middle = width / 2;
      if (weight < 0.03) continue;
      const line = svg("path", { d: `M${side} ${y(q)}C${middle} ${y(q)} ${middle} ${y(k)} ${width - side} ${y(k)}`,
        "stroke-width": Math.max(0.7, 7 * weight) });
      arcs.push([line, q, k, weight]);
      lines.append(line);
    }
    for (const [q, k] of use.gold) lines.append(svg("path", { d: `M${side} ${y(q)}L${width - side} ${y(k)}`,
      stroke: "#2f9e6e", "stroke-width": 1.6, "stroke-dasharray": "2 4" }));
    cursor = [svg("rect", { x: 1, width: side - 2, height: step - 2, rx: 4 }), svg("rect", { x: width - side + 1,
      width: side - 2, height: step - 2, rx: 4 })];
    for (const rect of cursor) for (const [n, v] of [["fill", "none"], ["stroke", "#d9731a"], ["stroke-width", 2]]) rect.setAttribute(n, v);
    cursor.place = (query, key) => {
      cursor[0].setAttribute("y", y(query) - step / 2 + 1);
      cursor[1].setAttribute("y", y(key) - step / 2 + 1);
      for (const [line, q, , weight] of arcs) {
        line.setAttribute("stroke", q === query ? "#d9731a" : `rgb(${HUE})`);
        line.setAttribute("stroke-opacity", q === query ? 0.35 + 0.6 * weight : 0.08 + 0.4 * weight);
      }
    };
    picture.append(lines, ...use.queries.map((token, i) => word(last(token, most), side - 6, y(i), size, most, { "text-anchor": "end" })),
      ...use.keys.map((token, i) => word(token, width - side + 6, y(i), size, most)), ...cursor);
    const point = event => {
      const box = picture.getBoundingClientRect(), i = Math.floor((event.clientY - box.top - 4) / step);
      const right = event.clientX - box.left > box.width / 2;
      if (i >= 0 && i < (right ? columns : rows)) set(right ? { key: i } : { query: i });
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    return picture;
  }

  function drawMatrix(use, layer, head) {
    const rows = use.queries.length, columns = use.keys.length;
    const longest = tokens => Math.max(...tokens.map(token => token.length));
    const width = el.clientWidth || 600;
    left = Math.min(8 + 7 * longest(use.queries), 0.38 * width);
    top = 12 + 6.6 * Math.min(longest(use.keys), 12);
    cell = Math.max(10, Math.min(30, (width - left - 26) / columns));
    const picture = svg("svg", { width: left + cell * columns + 24, height: top + cell * rows + 2 });
    const size = Math.min(12, cell * 0.85), most = Math.floor(left / (size * 0.56));
    use.queries.forEach((token, i) => picture.append(
      word(last(token, most), left - 5, top + (i + 0.5) * cell, size, most, { "text-anchor": "end" })));
    use.keys.forEach((token, i) => {
      const x = left + (i + 0.5) * cell, y = top - 5;
      picture.append(word(token, x, y, size, 12, { transform: `rotate(-60 ${x} ${y})` }));
    });
    picture.append(svg("image", { x: left, y: top, width: cell * columns, height: cell * rows,
      preserveAspectRatio: "none", href: paint(html("canvas"), use, layer, head).toDataURL() }));
    picture.append(svg("rect", { x: left, y: top, width: cell * columns, height: cell * rows, fill: "none",
      stroke: "currentColor", "stroke-opacity": 0.4 }));
    for (const [q, k] of use.gold) picture.append(svg("rect", { x: left + k * cell + 1.5, y: top + q * cell + 1.5,
      width: cell - 3, height: cell - 3, fill: "none", stroke: "#2f9e6e", "stroke-width": 2 }));
    cursor = [svg("rect", { fill: "none", stroke: "currentColor", "stroke-opacity": 0.7 }),
      svg("rect", { fill: "none", stroke: "#d9731a", "stroke-width": 3 })];
    cursor.place = (query, key) => {
      const put = (rect, x, width) => {
        const box = { x, y: top + query * cell, width, height: cell };
        for (const [attribute, value] of Object.entries(box)) rect.setAttribute(attribute, value);
      };
      put(cursor[0], left, cell * columns);
      put(cursor[1], left + key * cell, cell);
    };
    picture.append(...cursor);
    const point = event => {
      const box = picture.getBoundingClientRect(), scale = picture.width.baseVal.value / box.width;
      const key = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      const query = Math.floor(((event.clientY - box.top) * scale - top) / cell);
      if (key >= 0 && key < columns && query >= 0 && query < rows) set({ query, key });
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    return picture;
  }

  function pointOut() {
    const use = current(), columns = use.keys.length;
    const query = Math.min(model.get("query"), use.queries.length - 1), key = Math.min(model.get("key"), columns - 1);
    cursor.place(query, key);
    queries.value = query;
    keys.value = key;
    const row = [...map(use, model.get("layer"), model.get("head")).subarray(query * columns, (query + 1) * columns)];
    const percent = weight => `${Math.round(weight / 2.55)} %`;
    const best = row.map((weight, i) => [weight, i]).filter(([weight]) => weight > 2).sort((a, b) => b[0] - a[0]);
    const most = best.slice(0, 3).map(([weight, i]) => `${use.keys[i]} ${percent(weight)}`).join(", ") || "nothing";
    answer.textContent = `“${use.queries[query]}” gives “${use.keys[key]}” ${percent(row[key])} of its attention. `
      + `Most goes to: ${most}.`;
  }

  model.on("change:weights", () => { load(); drawGrid(); }); // the same sentences at another moment of a training
  for (const trait of ["sentence", "use"]) model.on(`change:${trait}`, drawGrid);
  for (const trait of ["layer", "head", "view"]) model.on(`change:${trait}`, drawMap);
  for (const trait of ["query", "key"]) model.on(`change:${trait}`, pointOut);
  drawGrid();
  return onWidth(el, drawMap);
}
