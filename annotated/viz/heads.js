// Attention maps of one sentence pair. Colour is one hue whose opacity is the weight, so that light and dark pages
// need no redrawing; labels follow the page's own text colour.
const HUE = [59, 131, 214];
const SVG = "http://www.w3.org/2000/svg";
const html = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const svg = (tag, attributes = {}) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

function render({ model, el }) {
  const uses = model.get("uses"), view = model.get("weights");
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  let start = 0; // where the maps of each use begin
  for (const use of uses) {
    use.start = start;
    start += use.layers * use.heads * use.queries.length * use.keys.length;
  }
  const current = () => uses[model.get("use")];
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
  const set = values => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };

  const name = `use-${Math.random().toString(36).slice(2)}`;
  const kinds = html("fieldset", {}, html("legend", { textContent: "Which attention?" }), ...uses.map((use, i) => {
    const radio = html("input", { type: "radio", name, value: i });
    radio.addEventListener("change", () => set({ use: i, layer: 0, head: 0, query: 0, key: 0 }));
    return html("label", {}, radio, use.label);
  }));
  const grid = html("div", { className: "grid" });
  const title = html("p", { className: "title" });
  const stage = html("div", { className: "stage" });
  const queries = html("select"), keys = html("select");
  queries.addEventListener("change", () => set({ query: +queries.value }));
  keys.addEventListener("change", () => set({ key: +keys.value }));
  const ask = html("div", { className: "ask" }, html("label", {}, "query", queries), html("label", {}, "key", keys));
  const answer = html("output");
  answer.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "attention-heads" }, kinds, grid, title, stage, ask, answer));

  function drawGrid() {
    const use = current();
    kinds.querySelectorAll("input")[model.get("use")].checked = true;
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

  let cursor; // what marks the chosen query and key
  let cell = 20, left = 0, top = 0;
  function drawMap() {
    const use = current(), layer = model.get("layer"), head = model.get("head");
    const rows = use.queries.length, columns = use.keys.length;
    grid.querySelectorAll("button").forEach((button, i) =>
      button.setAttribute("aria-pressed", i === layer * use.heads + head));
    title.textContent = `${use.label}, layer ${layer + 1}, head ${head + 1}`;
    const longest = tokens => Math.max(...tokens.map(token => token.length));
    const width = el.clientWidth || 600;
    left = Math.min(8 + 7 * longest(use.queries), 0.38 * width);
    top = 12 + 6.6 * Math.min(longest(use.keys), 12);
    cell = Math.max(10, Math.min(30, (width - left - 26) / columns));
    const picture = svg("svg", { width: left + cell * columns + 24, height: top + cell * rows + 2, tabindex: 0,
      role: "application", "aria-label": `${title.textContent}: queries on rows, keys on columns. Arrow keys move.` });
    const size = Math.min(12, cell * 0.85), most = Math.floor(left / (size * 0.56));
    const short = (token, limit) => token.length > limit ? token.slice(0, limit - 1) + "…" : token;
    use.queries.forEach((token, i) => {
      const text = svg("text", { x: left - 5, y: top + (i + 0.5) * cell, "text-anchor": "end",
        "dominant-baseline": "central", style: `font-size:${size}px` });
      text.textContent = short(token, most);
      picture.append(text);
    });
    use.keys.forEach((token, i) => {
      const x = left + (i + 0.5) * cell, y = top - 5;
      const text = svg("text", { x, y, transform: `rotate(-60 ${x} ${y})`, "dominant-baseline": "central",
        style: `font-size:${size}px` });
      text.textContent = short(token, 12);
      picture.append(text);
    });
    picture.append(svg("image", { x: left, y: top, width: cell * columns, height: cell * rows,
      preserveAspectRatio: "none", href: paint(html("canvas"), use, layer, head).toDataURL() }));
    picture.append(svg("rect", { x: left, y: top, width: cell * columns, height: cell * rows, fill: "none",
      stroke: "currentColor", "stroke-opacity": 0.4 }));
    for (const [q, k] of use.gold) picture.append(svg("rect", { x: left + k * cell + 1.5, y: top + q * cell + 1.5,
      width: cell - 3, height: cell - 3, fill: "none", stroke: "#2f9e6e", "stroke-width": 2 }));
    cursor = [svg("rect", { fill: "none", stroke: "currentColor", "stroke-opacity": 0.7 }),
      svg("rect", { fill: "none", stroke: "#d9731a", "stroke-width": 3 })];
    picture.append(...cursor);
    const point = event => {
      const box = picture.getBoundingClientRect(), scale = picture.width.baseVal.value / box.width;
      const key = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      const query = Math.floor(((event.clientY - box.top) * scale - top) / cell);
      if (key >= 0 && key < columns && query >= 0 && query < rows) set({ query, key });
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("keydown", event => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      set({ query: clamp(model.get("query") + move[0], rows), key: clamp(model.get("key") + move[1], columns) });
    });
    stage.replaceChildren(picture);
    pointOut();
  }

  function pointOut() {
    const use = current(), columns = use.keys.length;
    const query = Math.min(model.get("query"), use.queries.length - 1), key = Math.min(model.get("key"), columns - 1);
    const place = (rect, x, y, width) => {
      for (const [attribute, value] of Object.entries({ x, y, width, height: cell })) rect.setAttribute(attribute, value);
    };
    place(cursor[0], left, top + query * cell, cell * columns);
    place(cursor[1], left + key * cell, top + query * cell, cell);
    queries.value = query;
    keys.value = key;
    const row = [...map(use, model.get("layer"), model.get("head")).subarray(query * columns, (query + 1) * columns)];
    const percent = weight => `${Math.round(weight / 2.55)} %`;
    const best = row.map((weight, i) => [weight, i]).filter(([weight]) => weight > 2).sort((a, b) => b[0] - a[0]);
    const most = best.slice(0, 3).map(([weight, i]) => `${use.keys[i]} ${percent(weight)}`).join(", ") || "nothing";
    answer.textContent = `“${use.queries[query]}” gives “${use.keys[key]}” ${percent(row[key])} of its attention. `
      + `Most goes to: ${most}.`;
  }

  model.on("change:use", drawGrid);
  for (const trait of ["layer", "head"]) model.on(`change:${trait}`, drawMap);
  for (const trait of ["query", "key"]) model.on(`change:${trait}`, pointOut);
  drawGrid();
  let width = el.clientWidth;
  const watch = new ResizeObserver(() => {
    if (el.clientWidth && el.clientWidth !== width) { width = el.clientWidth; drawMap(); }
  });
  watch.observe(el);
  return () => watch.disconnect();
}

export default { render };
