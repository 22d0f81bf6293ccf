// Batches as rows of tiles: what each of them holds, and how much of it is padding. The reader chooses the text, the
// way of batching, the budget and the pool; all of it is arithmetic on the lengths of pairs, done here.
const SOURCE = "#3b83d6", TARGET = "#d9731a", EMPTY = "rgba(138, 143, 152, 0.32)";
const BAND = 128, BANDS = 3, LABEL = 15, STRIP = 74;
const BUDGETS = [250, 500, 1000, 2000, 4000, 8000, 16000, 25000];
const POOLS = [20, 100, 500, 1000, 2000, 4000];
const WAYS = {
  fixed: "32 sentences, always 72 wide", come: "as they come", pools: "sorted in pools, then cut", packed: "packed: no padding",
};
const FIXED_PAIRS = 32, FIXED_WIDTH = 72;

// Lengths [source, target] of each batch, in the order of training.
export function batchesOf(pairs, { way, budget, pool, shuffle }) {
  let batches = [];
  const order = way === "pools" ? pooled(pairs, pool) : pairs;
  if (way === "fixed") {
    for (let i = 0; i < pairs.length; i += FIXED_PAIRS) batches.push(pairs.slice(i, i + FIXED_PAIRS));
  } else {
    let batch = [], cost = [0, 0], longest = [0, 0];
    for (const pair of order) {
      longest = longest.map((x, side) => Math.max(x, pair[side]));
      cost = way === "packed" ? cost.map((x, side) => x + pair[side]) : longest.map(x => x * (batch.length + 1));
      if (batch.length && Math.max(...cost) > budget) {
        batches.push(batch);
        batch = []; longest = [...pair]; cost = [...pair];
      }
      batch.push(pair);
    }
    if (batch.length) batches.push(batch);
  }
  if (!shuffle) return batches;
  let state = 1;  // a small generator, so that the same choice always gives the same order
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let i = batches.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [batches[i], batches[j]] = [batches[j], batches[i]];
  }
  return batches;
}

function pooled(pairs, size) {
  const sorted = [];
  for (let i = 0; i < pairs.length; i += size) {
    sorted.push(...pairs.slice(i, i + size).sort((a, b) =>
      Math.max(...a) - Math.max(...b) || a[0] - b[0] || a[1] - b[1]));
  }
  return sorted;
}

const widths = (batch, way) => way === "fixed" ? [FIXED_WIDTH, FIXED_WIDTH]
  : [0, 1].map(side => batch.reduce((most, pair) => Math.max(most, pair[side]), 0));

export function measure(batches, way) {
  let real = 0, cells = 0, cut = 0;
  for (const batch of batches) {
    const [s, t] = widths(batch, way);
    for (const pair of batch) {
      real += Math.min(pair[0], way === "fixed" ? s : 1e9) + Math.min(pair[1], way === "fixed" ? t : 1e9);
      if (way === "fixed" && Math.max(...pair) > FIXED_WIDTH) cut += 1;
    }
    cells += batch.length * (s + t);
  }
  return { padding: way === "packed" ? 0 : 1 - real / cells, cut };
}

function render({ model, el }) {
  const set = setter(model), bytes = model.get("lengths"), texts = model.get("texts");
  const data = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
  let at = 0;
  const corpora = texts.map(({ count }) => {
    const pairs = Array.from({ length: count }, (_, i) => [data[at + 2 * i], data[at + 2 * i + 1]]);
    at += 2 * count;
    return pairs;
  });
  const number = x => x.toLocaleString("en-GB");

  const label = (text, input, shown = "") => html("label", {}, html("span", {}, text, " ", shown), input);
  const select = (name, options) => {
    const menu = html("select", { name }, ...options.map(([value, text]) => html("option", { value, textContent: text })));
    menu.addEventListener("change", () => set({ [name]: name === "text" ? +menu.value : menu.value, first: 1 }));
    return menu;
  };
  const text = select("text", texts.map(({ name }, i) => [i, name]));
  const way = select("way", Object.entries(WAYS));
  const range = (name, values) => {
    const input = html("input", { type: "range", name, min: 0, max: values.length - 1, step: 1 }), shown = html("b");
    input.addEventListener("input", () => set({ [name]: values[+input.value], first: 1 }));
    return { input, shown, update(value) {
      input.value = values.reduce((best, x, i) => Math.abs(x - value) < Math.abs(values[best] - value) ? i : best, 0);
      shown.textContent = number(value);
      input.setAttribute("aria-valuetext", number(value));
    } };
  };
  const budget = range("budget", BUDGETS), pool = range("pool", POOLS);
  const first = html("input", { type: "range", name: "first", min: 1, step: 1 }), firstShown = html("b");
  first.addEventListener("input", () => set({ first: +first.value }));
  const shuffle = html("input", { type: "checkbox", name: "shuffle" });
  shuffle.addEventListener("change", () => set({ shuffle: shuffle.checked }));
  const canvas = html("canvas");
  canvas.setAttribute("role", "img");
  const answer = html("output");
  answer.setAttribute("aria-live", "polite");
  const key = html("p", { className: "key" },
    html("i", { style: `background: ${SOURCE}` }), "source tokens", html("i", { style: `background: ${TARGET}` }),
    "target tokens", html("i", { style: `background: ${EMPTY}` }), "padding: a row is a pair");
  el.append(html("div", { className: "padding-tiles" },
    html("div", { className: "controls" }, label("text", text), label("batches", way),
      label("tokens a side =", budget.input, budget.shown),
      label("pairs in a pool =", pool.input, pool.shown),
      label("first drawn =", first, firstShown),
      html("label", { className: "tick" }, shuffle, "shuffle the batches")),
    answer, key, canvas));

  function draw() {
    const state = Object.fromEntries(["way", "budget", "pool", "shuffle"].map(name => [name, model.get(name)]));
    const pairs = corpora[model.get("text")], batches = batchesOf(pairs, state);
    const { padding, cut } = measure(batches, state.way);
    text.value = model.get("text"); way.value = state.way; shuffle.checked = state.shuffle;
    budget.update(state.budget); pool.update(state.pool);
    budget.input.disabled = state.way === "fixed"; pool.input.disabled = state.way !== "pools";
    const start = Math.min(model.get("first"), batches.length);
    first.max = batches.length; first.value = start; firstShown.textContent = `${start} of ${batches.length}`;
    const sizes = batches.map(batch => batch.length);
    const few = Math.min(...sizes), many = Math.max(...sizes);
    const share = `${(100 * padding).toFixed(1)} %`;
    answer.replaceChildren(html("strong", { textContent: `${share} of all cells are padding.` }),
      ` ${number(pairs.length)} pairs make ${number(batches.length)} batches of ${few === many ? few
        : `${number(few)} to ${number(many)}`} pairs.` + (cut ? ` ${cut} pairs are longer than 72 and lose their ends.` : ""));
    const width = Math.max(280, canvas.parentElement.clientWidth || 700), ratio = window.devicePixelRatio || 1;
    const height = BANDS * (BAND + LABEL) + STRIP;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const ink = getComputedStyle(el).color;
    const last = tiles(pen, batches, start - 1, state, width, ink);
    strip(pen, batches, start - 1, last, state, width, ink);
    canvas.setAttribute("aria-label", `Batches ${start} to ${last} of ${batches.length} as rows of tiles. ${share} padding.`);
    canvas.dataset.drawn = `${start}-${last}`;
  }

  // Draws batches from `from` on, shelf after shelf, until the picture is full; says how many are drawn in the end.
  function tiles(pen, batches, from, { way: kind, budget: room }, width, ink) {
    const tokens = kind === "fixed" ? FIXED_PAIRS * FIXED_WIDTH : room;
    const widest = kind === "packed" ? 1 : Math.max(...batches.map(batch => widths(batch, kind)[0] + widths(batch, kind)[1]));
    const cell = Math.min(6, Math.max(1, Math.sqrt(width * BAND / (6.5 * tokens))), (width - 3) / widest);
    const rows = Math.floor(BAND / cell), limit = BANDS * (BAND + LABEL);
    let x = 0, y = 0, shelf = [], drawn = from;
    pen.font = "11px system-ui, sans-serif";
    const flush = () => {
      for (const { left, column, name } of shelf) {
        if (name) { pen.fillStyle = ink; pen.fillText(name, left, y + LABEL - 4); drawn = +name; }
        for (const [colour, start, row, length] of column.cells) {
          pen.fillStyle = colour;
          pen.fillRect(left + start * cell + (start >= column.split ? 2 : 0), y + LABEL + row * cell,
            length * cell, cell > 2.5 ? cell - 0.7 : cell);
        }
      }
      y += LABEL + cell * Math.max(...shelf.map(({ column }) => column.rows));
      shelf = []; x = 0;
    };
    for (let i = from; i < batches.length; i++) {
      const columns = kind === "packed" ? packedColumns(batches[i], rows, cell, width) : paddedColumns(batches[i], rows, kind);
      for (const [c, column] of columns.entries()) {
        const wide = column.width * cell + 2;
        if (x + wide > width && shelf.length) flush();
        const tall = Math.max(column.rows, ...shelf.map(other => other.column.rows));
        if (y + LABEL + tall * cell > limit) { if (shelf.length) flush(); return drawn; }
        shelf.push({ left: x, column, name: c ? "" : String(i + 1) });
        x += wide + (c === columns.length - 1 ? 10 : 3);
      }
    }
    if (shelf.length) flush();
    return drawn;
  }

  function paddedColumns(batch, rows, kind) {
    const [s, t] = widths(batch, kind), columns = [];
    const tall = Math.ceil(batch.length / Math.ceil(batch.length / rows));
    for (let i = 0; i < batch.length; i += tall) {
      const cells = batch.slice(i, i + tall).flatMap((pair, row) => {
        const a = Math.min(pair[0], s), b = Math.min(pair[1], t);
        return [[SOURCE, 0, row, a], [EMPTY, a, row, s - a], [TARGET, s, row, b], [EMPTY, s + b, row, t - b]]
          .filter(part => part[3] > 0);
      });
      columns.push({ width: s + t, split: s, cells, rows: Math.min(tall, batch.length - i) });
    }
    return columns;
  }

  // A packed batch is one line a side; here it is folded, and sentences alternate in strength.
  function packedColumns(batch, rows, cell, width) {
    const totals = [0, 1].map(side => batch.reduce((sum, pair) => sum + pair[side], 0));
    const side = Math.min(Math.floor((width / cell - 4) / 2), Math.max(20, Math.ceil(Math.max(...totals) / rows)));
    const cells = [];
    for (const which of [0, 1]) {
      let place = 0;
      batch.forEach((pair, i) => {
        for (let left = pair[which]; left > 0;) {
          const column = place % side, length = Math.min(left, side - column);
          cells.push([(which ? TARGET : SOURCE) + (i % 2 ? "99" : ""), which * side + column, Math.floor(place / side), length]);
          place += length; left -= length;
        }
      });
    }
    return [{ width: 2 * side, split: side, cells, rows: Math.ceil(Math.max(...totals) / side) }];
  }

  // All batches of the epoch, in order: how long their longest sentence is. Those drawn above are marked.
  function strip(pen, batches, from, last, { way: kind }, width, ink) {
    const top = BANDS * (BAND + LABEL) + 18, tall = STRIP - 22, wide = width / batches.length;
    const longest = batches.map(batch => Math.max(...widths(batch, kind === "fixed" ? "come" : kind)));
    const scale = tall / Math.max(...longest);
    pen.fillStyle = ink;
    pen.fillText(`longest sentence of each batch, first to last (highest: ${Math.max(...longest)})`, 0, top - 5);
    longest.forEach((length, i) => {
      pen.fillStyle = i >= from && i < last ? "#2f9e6e" : "#8a8f98";
      const high = length * scale;
      pen.fillRect(i * wide, top + tall - high, Math.max(0.8, wide > 3 ? wide - 1 : wide), high);
    });
  }

  for (const name of ["text", "way", "budget", "pool", "shuffle", "first"]) model.on(`change:${name}`, later);
  let waiting = 0;  // several traits may change at once
  function later() { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); }
  draw();
  return onWidth(canvas.parentElement, draw);
}

export default { render };
