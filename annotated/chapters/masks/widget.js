// A mask painted over real scores. Everything is computed here: which cells are open, the fill, the softmax, the leaks.
const PAD = "<pad>", BLUE = "#3b83d6", ORANGE = "#d9731a";
const USES = ["Encoder self-attention", "Decoder self-attention", "Cross-attention"];
const FILLS = [["the library: −∞, and an empty row gives zeros", -Infinity], ["−∞ and nothing else", -Infinity],
  ["−1e9", -1e9], ["−1e-12, a slip of the pen", -1e-12]];
const percent = x => `${(100 * x).toFixed(x > 0 && x < 0.001 ? 2 : 1)} %`;
let instances = 0;

function render({ model, el }) {
  const sentences = model.get("sentences"), view = model.get("scores"), id = `mask-${instances++}-`;
  const numbers = new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  let start = 0;
  for (const one of sentences) {
    one.maps = [[one.source, one.source], [one.target, one.target], [one.target, one.source]].map(([queries, keys]) => {
      const map = { queries, keys, scores: numbers.subarray(start, start + queries.length * keys.length) };
      start += queries.length * keys.length;
      return map;
    });
  }
  const current = () => sentences[model.get("sentence")].maps[model.get("use")];
  const square = () => model.get("use") < 2;
  const set = setter(model);
  const isFlipped = (i, j) => model.get("flipped").some(([q, k]) => q === i && k === j);
  const ingredients = (map, i, j) =>
    !(model.get("padding") && map.keys[j] === PAD) && !(square() && model.get("causal") && j > i);
  const open = (map, i, j) => ingredients(map, i, j) !== isFlipped(i, j);

  // Masked softmax, one row: what the chosen fill makes of it.
  function weigh(map, i) {
    const n = map.keys.length, opened = map.keys.map((_, j) => open(map, i, j)), fill = model.get("fill");
    if (fill === 0 && !opened.includes(true)) return { opened, weights: Array(n).fill(0) };
    const scores = opened.map((yes, j) => yes ? map.scores[i * n + j] : FILLS[fill][1]);
    const top = Math.max(...scores), powers = scores.map(s => Math.exp(s - top));
    const total = powers.reduce((a, b) => a + b, 0);
    return { opened, weights: powers.map(p => p / total) };
  }

  const choice = (label, options, trait) => {
    const select = html("select", { id: id + trait }, ...options.map((text, value) =>
      html("option", { value, textContent: text })));
    const reset = trait === "fill" ? {} : { flipped: [], query: 0, key: 0 };
    select.addEventListener("change", () => set({ ...reset, [trait]: +select.value,
      ...(trait === "use" ? { causal: select.value === "1" } : {}) })); // as the model has it
    return [select, html("label", { htmlFor: select.id }, html("span", { textContent: label }), select)];
  };
  const [sentence, sentenceLabel] = choice("sentence", sentences.map(s => s.label), "sentence");
  const [use, useLabel] = choice("attention", USES, "use");
  const [fill, fillLabel] = choice("hidden scores become", FILLS.map(f => f[0]), "fill");
  const box = (text, trait) => {
    const input = html("input", { type: "checkbox" });
    input.addEventListener("change", () => set({ [trait]: input.checked }));
    return [input, html("label", { className: "tick" }, input, text)];
  };
  const [padding, paddingLabel] = box("hide padding", "padding"), [causal, causalLabel] = box("hide the future", "causal");
  const clear = html("button", { type: "button", textContent: "undo my painting" });
  clear.addEventListener("click", () => set({ flipped: [] }));
  const close = html("button", { type: "button", textContent: "close this row" });
  close.addEventListener("click", () => {
    const map = current(), i = model.get("query");
    const rest = model.get("flipped").filter(([q]) => q !== i);
    set({ flipped: [...rest, ...map.keys.map((_, j) => [i, j]).filter(([, j]) => ingredients(map, i, j))] });
  });
  const meters = {};
  const meter = (name, text) => {
    const bar = html("span", { className: "bar" }, html("span")), value = html("b");
    meters[name] = { bar: bar.firstChild, value, row: html("div", { className: "meter" }, html("span", { textContent: text }), bar, value) };
    return meters[name].row;
  };
  const stage = html("div", { className: "stage" }), answer = html("output"), verdict = html("p", { className: "verdict" });
  answer.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "mask-painter" },
    html("div", { className: "choices" }, sentenceLabel, useLabel, fillLabel),
    html("div", { className: "ticks" }, paddingLabel, causalLabel, close, clear), stage, answer,
    html("div", { className: "meters" }, meter("future", "weight on the future"), meter("padding", "weight on padding")),
    verdict));

  let cells = [], cursor, empties = [], cell, left, top;
  function build() {
    const map = current(), rows = map.queries.length, columns = map.keys.length, width = el.clientWidth || 600;
    const longest = tokens => Math.max(...tokens.map(token => token.length));
    left = Math.min(10 + 7.2 * longest(map.queries), 0.27 * width);
    top = 10 + 6.6 * Math.min(longest(map.keys), 10);
    cell = Math.max(12, Math.min(34, (width - left - 22) / columns));
    const size = Math.min(13, cell * 0.6), most = Math.floor(left / (size * 0.58));
    const picture = svg("svg", { width: left + cell * columns + 20, height: top + cell * rows + 2, tabindex: 0,
      role: "application", "aria-label": `${USES[model.get("use")]}: queries on rows, keys on columns. `
        + "Arrow keys move, the space bar opens or closes a cell." });
    const short = (token, limit) => token.length > limit ? token.slice(0, limit - 1) + "…" : token;
    const write = (token, attributes, limit) => {
      const text = svg("text", { "dominant-baseline": "central", style: `font-size:${size}px`, ...attributes });
      if (token === PAD) text.setAttribute("class", "pad");
      text.textContent = short(token.replace("▁", ""), limit);
      picture.append(text);
    };
    map.queries.forEach((token, i) => write(token, { x: left - 5, y: top + (i + 0.5) * cell, "text-anchor": "end" }, most));
    map.keys.forEach((token, j) => {
      const x = left + (j + 0.5) * cell, y = top - 5;
      write(token, { x, y, transform: `rotate(-60 ${x} ${y})` }, 10);
    });
    cells = map.queries.map((_, i) => map.keys.map((_, j) => {
      const x = left + j * cell, y = top + i * cell, a = cell * 0.32;
      const paint = svg("rect", { x, y, width: cell, height: cell });
      const frame = svg("rect", { x, y, width: cell, height: cell, class: "frame" });
      const cross = svg("path", { class: "cross",
        d: `M${x + a} ${y + a}L${x + cell - a} ${y + cell - a}M${x + cell - a} ${y + a}L${x + a} ${y + cell - a}` });
      picture.append(paint, frame, cross);
      return { paint, cross };
    }));
    empties = map.queries.map((_, i) => {
      const text = svg("text", { x: left + cell * columns / 2, y: top + (i + 0.5) * cell, "text-anchor": "middle",
        "dominant-baseline": "central", class: "empty", style: `font-size:${Math.min(13, cell * 0.7)}px` });
      picture.append(text);
      return text;
    });
    cursor = svg("rect", { width: cell, height: cell, class: "cursor" });
    picture.append(cursor);
    listen(picture, rows, columns);
    stage.replaceChildren(picture);
    update();
  }

  function listen(picture, rows, columns) {
    let brush = null; // while the mouse is down: what the cells under it become
    const place = event => {
      const frame = picture.getBoundingClientRect(), scale = picture.width.baseVal.value / frame.width;
      const key = Math.floor(((event.clientX - frame.left) * scale - left) / cell);
      const query = Math.floor(((event.clientY - frame.top) * scale - top) / cell);
      return key >= 0 && key < columns && query >= 0 && query < rows ? [query, key] : null;
    };
    const paint = (query, key, wanted) => {
      const rest = model.get("flipped").filter(([q, k]) => q !== query || k !== key);
      set({ query, key, flipped: wanted === ingredients(current(), query, key) ? rest : [...rest, [query, key]] });
    };
    picture.addEventListener("pointerdown", event => {
      const at = place(event);
      if (!at || event.pointerType === "touch") return;
      brush = !open(current(), ...at);
      paint(...at, brush);
    });
    picture.addEventListener("click", event => { // a finger taps; it must stay able to scroll
      const at = place(event);
      if (at && event.pointerType === "touch") paint(...at, !open(current(), ...at));
    });
    picture.addEventListener("pointermove", event => {
      const at = place(event);
      if (!at || event.pointerType === "touch") return;
      if (brush === null || !event.buttons) { brush = null; set({ query: at[0], key: at[1] }); }
      else if (open(current(), ...at) !== brush) paint(...at, brush);
    });
    picture.addEventListener("keydown", event => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const query = model.get("query"), key = model.get("key"), clamp = (x, n) => Math.max(0, Math.min(n - 1, x));
      if (move) set({ query: clamp(query + move[0], rows), key: clamp(key + move[1], columns) });
      else if (event.key === " " || event.key === "Enter") paint(query, key, !open(current(), query, key));
      else return;
      event.preventDefault();
    });
  }

  function update() {
    const map = current(), fillText = FILLS[model.get("fill")][0], decoder = model.get("use") === 1;
    sentence.value = model.get("sentence");
    use.value = model.get("use");
    fill.value = model.get("fill");
    padding.checked = model.get("padding");
    causal.checked = model.get("causal") && square();
    causal.disabled = !square();
    let total = 0, future = 0, onPadding = 0, empty = [], broken = 0;
    map.queries.forEach((token, i) => {
      const { opened, weights } = weigh(map, i), real = token !== PAD, bad = weights.some(Number.isNaN);
      if (!opened.includes(true)) empty.push(i);
      if (bad && real) broken++;
      empties[i].textContent = bad ? "NaN in every cell" : opened.includes(true) ? "" :
        weights[0] ? `empty row: ${percent(weights[0])} each` : "empty row: zeros";
      weights.forEach((w, j) => {
        const secret = map.keys[j] === PAD || (decoder && j > i), { paint, cross } = cells[i][j];
        paint.setAttribute("fill", bad || secret ? ORANGE : BLUE);
        paint.setAttribute("fill-opacity", bad ? 0.25 : (real ? 1 : 0.35) * Math.sqrt(w));
        cross.style.display = opened[j] ? "none" : "";
        if (!real || bad) return;
        total += w;
        if (square() && j > i && map.keys[j] !== PAD) future += w;
        if (map.keys[j] === PAD) onPadding += w;
      });
    });
    const show = (name, value) => {
      meters[name].bar.style.width = `${total ? 100 * value / total : 0}%`;
      meters[name].value.textContent = total ? percent(value / total) : "–";
    };
    show("future", future);
    show("padding", onPadding);
    meters.future.row.hidden = !square();
    meters.future.row.firstChild.textContent = decoder ? "weight on the future" : "weight on later words";
    verdict.textContent = broken ? `${broken} row${broken > 1 ? "s are" : " is"} NaN: the loss would be NaN too.`
      : model.get("fill") === 3 && future + onPadding > 1e-9
        ? "The crosses are in place and hide nothing: −1e-12 is a score like any other."
      : empty.length && model.get("fill") > 1 ? "An empty row still sums to one: it attends evenly to what it must not see."
      : decoder && future > 1e-9 ? `The answers leak: the decoder sees words that it is about to predict.`
      : onPadding > 1e-9 ? "Padding takes part: the result depends on how far the batch was padded."
      : empty.length ? "Nothing leaks, and the empty row brings nothing to the sum."
      : decoder ? "Nothing leaks." : model.get("use") === 0 ? "No leak: an encoder may look ahead, the source is all known."
      : "Nothing leaks: the source is all known.";
    verdict.title = fillText;
    point();
  }

  function point() {
    const map = current(), i = Math.min(model.get("query"), map.queries.length - 1);
    const j = Math.min(model.get("key"), map.keys.length - 1), { opened, weights } = weigh(map, i);
    cursor.setAttribute("x", left + j * cell);
    cursor.setAttribute("y", top + i * cell);
    const name = (tokens, n) => `${n + 1} “${tokens[n].replace("▁", "")}”`;
    answer.textContent = `Query ${name(map.queries, i)}, key ${name(map.keys, j)}: score `
      + `${map.scores[i * map.keys.length + j].toFixed(2)}, ${opened[j] ? "open" : "hidden"}, weight `
      + `${Number.isNaN(weights[j]) ? "NaN" : percent(weights[j])}.`;
  }

  for (const trait of ["sentence", "use"]) model.on(`change:${trait}`, build);
  for (const trait of ["fill", "padding", "causal", "flipped"]) model.on(`change:${trait}`, update);
  for (const trait of ["query", "key"]) model.on(`change:${trait}`, point);
  build();
  return onWidth(el, build);
}

export default { render };
