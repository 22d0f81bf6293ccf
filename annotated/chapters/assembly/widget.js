// Figure 1 with the number of parameters in every box, recounted by formula while the reader moves its sizes.
// Each box fills from the left by its share of the whole.
const powers = (from, to) => Array.from({ length: Math.log2(to / from) + 1 }, (_, i) => from * 2 ** i);
const steps = (from, to, step) => Array.from({ length: (to - from) / step + 1 }, (_, i) => from + i * step);
const SIZES = [
  ["num_encoder_layers", "layers N", steps(1, 12, 1)], ["d_model", "d_model", steps(64, 1280, 64)],
  ["d_ff", "d_ff", steps(256, 5120, 256)], ["num_heads", "heads h", powers(1, 64)],
  ["d_k", "d_k", powers(8, 512)], ["d_v", "d_v", powers(8, 512)],
  ["vocab_size", "vocabulary V", steps(1000, 60000, 500)],
];

export function count(s) {
  const d = s.d_model, keys = s.num_heads * s.d_k, values = s.num_heads * s.d_v, n = s.num_encoder_layers;
  const attention = d * (2 * keys + values) + values * d, feedForward = 2 * d * s.d_ff + s.d_ff + d, norm = 2 * d;
  const table = s.vocab_size * d;
  return {
    source: table, target: s.tie_embeddings ? 0 : table, linear: s.tie_embeddings ? 0 : table,
    es: n * attention, ef: n * feedForward, en: n * 2 * norm,
    ds: n * attention, dc: n * attention, df: n * feedForward, dn: n * 3 * norm,
  };
}

// Two columns that are read upwards, as in the paper: name, x, y, label.
const LEFT = 12, RIGHT = 208, WIDTH = 160, HEIGHT = 40;
const BOXES = [
  ["source", LEFT, 448, "source embedding"], ["target", RIGHT, 448, "target embedding"],
  ["es", LEFT, 356, "self-attention"], ["ef", LEFT, 310, "feed-forward"], ["en", LEFT, 264, "2 norms a layer"],
  ["ds", RIGHT, 356, "masked self-attention"], ["dc", RIGHT, 310, "cross-attention"],
  ["df", RIGHT, 264, "feed-forward"], ["dn", RIGHT, 218, "3 norms a layer"],
  ["linear", RIGHT, 130, "pre-softmax linear"],
];
const FILL = { source: "#d9731a", target: "#d9731a", linear: "#d9731a", ef: "#2f9e6e", df: "#2f9e6e" };

function shown(number) {
  if (number >= 1e5) return `${(number / 1e6).toFixed(2)} M`;
  return number.toLocaleString("en-GB");
}

function render({ model, el }) {
  const rows = model.get("rows");
  let chosen = rows.find(row => fits(row, model.get("sizes")))?.row ?? "";
  function fits(row, sizes) { return Object.entries(row.sizes).every(([name, value]) => sizes[name] === value); }

  const choice = html("select", {}, html("option", { value: "", textContent: "none: my own" }),
    ...rows.map(row => html("option", { value: row.row, textContent: `${row.row}: ${row.change}` })));
  choice.addEventListener("change", () => {
    const row = rows.find(r => r.row === choice.value);
    if (row) change({ ...model.get("sizes"), ...row.sizes });
  });
  const controls = html("div", { className: "controls" }, html("label", { className: "row" }, "row of Table 3", choice));
  const inputs = SIZES.map(([name, label, values]) => {
    const input = html("input", { type: "range", min: 0, max: values.length - 1, step: 1, name });
    const number = html("b");
    input.addEventListener("input", () => change({ ...model.get("sizes"), [name]: values[+input.value] }));
    controls.append(html("label", {}, html("span", {}, `${label} = `, number), input));
    return { name, values, input, number };
  });
  const tie = html("input", { type: "checkbox", name: "tie_embeddings" });
  tie.addEventListener("change", () => change({ ...model.get("sizes"), tie_embeddings: tie.checked }));
  controls.append(html("label", { className: "tick" }, tie, "one matrix, tied three ways"));

  const picture = svg("svg", { viewBox: "0 88 380 428", role: "img" });
  const name = svg("title");
  picture.append(name);
  const wire = path => picture.append(svg("path", { class: "wire", d: path }));
  const text = (x, y, content) => svg("text", { class: "small", x, y, "text-anchor": "middle" }, content);
  wire("M92 448V435M92 415V402"); wire("M288 448V435M288 415V402"); wire("M288 212V170"); wire("M288 130V112");
  wire("M92 258V240H192V330H208");
  picture.append(svg("rect", { class: "stack", x: 4, y: 258, width: 176, height: 144, rx: 8 }));
  picture.append(svg("rect", { class: "stack", x: 200, y: 212, width: 176, height: 190, rx: 8 }));
  const stacks = [svg("text", { x: 6, y: 250 }), svg("text", { x: 202, y: 204 })];
  picture.append(...stacks, text(288, 104, "softmax"), text(92, 428, "+ sinusoids: 0"), text(288, 428, "+ sinusoids: 0"),
    text(92, 506, "source tokens"), text(288, 506, "target, shifted right"));
  const tied = svg("path", { class: "tie", d: "M172 468H208 M368 468H378V150H368" });
  picture.append(tied);
  const boxes = Object.fromEntries(BOXES.map(([key, x, y, label]) => {
    const fill = svg("rect", { x, y, height: HEIGHT, fill: FILL[key] ?? "#3b83d6", "fill-opacity": 0.45 });
    const number = svg("text", { class: "count", x: x + 8, y: y + 34 });
    picture.append(fill, svg("rect", { class: "box", x, y, width: WIDTH, height: HEIGHT, rx: 4 }),
      svg("text", { class: "small", x: x + 8, y: y + 16 }, label), number);
    return [key, { fill, number }];
  }));
  const answer = html("output");
  answer.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "parameter-figure" }, controls, picture, answer));

  function change(sizes) {
    model.set("sizes", sizes);
    model.save_changes();
  }

  function draw() {
    const sizes = model.get("sizes"), parts = count(sizes);
    const total = Object.values(parts).reduce((a, b) => a + b, 0);
    for (const { name, values, input, number } of inputs) {
      const index = values.reduce((best, value, i) =>
        Math.abs(value - sizes[name]) < Math.abs(values[best] - sizes[name]) ? i : best, 0);
      input.value = index;
      number.textContent = sizes[name].toLocaleString("en-GB");
      input.setAttribute("aria-valuetext", sizes[name]);
    }
    tie.checked = sizes.tie_embeddings;
    // Rows C4 and others may share sizes with none: keep the reader's choice while it fits.
    const now = rows.find(r => r.row === chosen && fits(r, sizes)) ?? rows.find(r => fits(r, sizes));
    chosen = choice.value = now?.row ?? "";
    for (const [key, { fill, number }] of Object.entries(boxes)) {
      fill.setAttribute("width", WIDTH * parts[key] / total);
      number.textContent = parts[key] ? shown(parts[key]) : "the same matrix";
    }
    stacks[0].textContent = `${sizes.num_encoder_layers} × encoder`;
    stacks[1].textContent = `${sizes.num_encoder_layers} × decoder`;
    tied.setAttribute("visibility", sizes.tie_embeddings ? "visible" : "hidden");
    const share = keys => `${(100 * keys.reduce((sum, key) => sum + parts[key], 0) / total).toFixed(0)} %`;
    const millions = total / 1e6, printed = now?.printed;
    answer.textContent = `${millions.toFixed(1)} million parameters: embeddings ${share(["source", "target", "linear"])}, `
      + `attention ${share(["es", "ds", "dc"])}, feed-forward ${share(["ef", "df"])}. `
      + (printed ? `Table 3 prints ${printed} for row ${now.row}; the difference is ${(millions - printed).toFixed(1)}.`
        : now ? `Table 3 prints no number for row ${now.row}.` : "Table 3 has no such row.");
    name.textContent = `Figure 1 with parameters in each box. ${answer.textContent}`;
    if (model.get("total") !== total) { model.set("total", total); model.save_changes(); }
  }
  model.on("change:sizes", draw);
  draw();
}

export default { render };
