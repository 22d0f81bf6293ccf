// Byte-pair encoding of the reader's own text (section 5.1), merge by merge. Cuts as annotated.data.tokenizer does.
// White space is Unicode's: JavaScript's own \s takes U+FEFF for a space, and U+0085 for none.
const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORDS = new RegExp(`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, "gu");

// Every byte has a printable character: printable bytes stand for themselves, the others for 256 and up.
const SYMBOLS = [], BYTES = new Map();
for (let byte = 0, others = 0; byte < 256; byte++) {
  const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte < 0xad) || byte > 0xad;
  SYMBOLS.push(String.fromCodePoint(printable ? byte : 256 + others++));
  BYTES.set(SYMBOLS[byte], byte);
}

// A piece for human eyes: a space as "▁", a byte that is only part of a character as "<0xC3>".
function readable(piece) {
  const bytes = Uint8Array.from(piece, symbol => BYTES.get(symbol)), decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let shown = "";
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at], length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    try { shown += decoder.decode(bytes.subarray(at, at + length)); at += length; }
    catch { shown += `<0x${lead.toString(16).toUpperCase().padStart(2, "0")}>`; at += 1; }
  }
  return shown.replaceAll(" ", "▁");
}

const cutWords = text => [...text.matchAll(WORDS)].map(([word]) => [...new TextEncoder().encode(word)].map(byte => SYMBOLS[byte]));

// The first `count` merges, carried out in the order in which they were learned: the lowest rank first.
function mergeAll(symbols, rank, count, used) {
  for (;;) {
    let best = count, pair;
    for (let i = 0; i + 1 < symbols.length; i++) {
      const at = rank.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
      if (at < best) [best, pair] = [at, [symbols[i], symbols[i + 1]]];
    }
    if (!pair) return symbols;
    const merged = [];
    for (let i = 0; i < symbols.length; i++) {
      if (symbols[i] === pair[0] && symbols[i + 1] === pair[1]) { merged.push(pair[0] + pair[1]); i++; } else merged.push(symbols[i]);
    }
    used?.set(best, (used.get(best) ?? 0) + symbols.length - merged.length);
    symbols = merged;
  }
}

function render({ model, el }) {
  const pairs = model.get("merges").split("\n").map(line => line.split(" ")), M = pairs.length;
  const rank = new Map(pairs.map(([a, b], i) => [`${a} ${b}`, i])), idOf = new Map();
  [...SYMBOLS].sort().forEach((symbol, i) => idOf.set(symbol, model.get("first") + i));
  pairs.forEach(([a, b], i) => idOf.set(a + b, model.get("first") + 256 + i));
  const set = setter(model), calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const field = html("textarea", { rows: 2, maxLength: model.get("longest"), spellcheck: false, autocomplete: "off" });
  const slider = html("input", { type: "range", min: 0, max: M, step: 1 });
  slider.setAttribute("aria-label", "merges carried out");
  const many = html("output");
  const button = words => html("button", { type: "button", textContent: words });
  const back = button("◀ back"), play = button("▶ play"), next = button("next ▶"), from = button("from the bytes"), all = button("all merges");
  const says = html("p", { className: "says" }), counts = html("p", { className: "counts" });
  says.setAttribute("aria-live", "polite");
  const stage = html("div", { className: "stage" }), curve = html("div", { className: "curve" });
  const numbers = html("p", { className: "ids" });
  el.append(html("div", { className: "merge-replay" },
    html("label", { className: "own" }, "your text", field),
    html("div", { className: "bar" }, html("label", {}, "merges ", slider, many)),
    html("div", { className: "buttons" }, from, back, play, next, all),
    says, stage, counts, curve, html("details", {}, html("summary", { textContent: "the numbers that the model gets" }), numbers)));

  let words = [], steps = [], lengths = []; // the merges that this text uses, and its pieces after each
  const text = value => { // readable, and on one line
    const span = html("span");
    span.textContent = readable(value).replaceAll("\n", "⏎").replaceAll("\t", "⇥");
    return span.textContent;
  };

  function read() {
    const used = new Map(), known = new Map();
    words = cutWords(model.get("text"));
    for (const word of words) {
      const key = word.join("");
      if (!known.has(key)) { known.set(key, new Map()); mergeAll(word, rank, M, known.get(key)); }
      for (const [at, n] of known.get(key)) used.set(at, (used.get(at) ?? 0) + n);
    }
    steps = [...used.keys()].sort((a, b) => a - b);
    let pieces = words.reduce((sum, word) => sum + word.length, 0);
    lengths = [[0, pieces], ...steps.map(at => [at + 1, pieces -= used.get(at)])];
    if (field.value !== model.get("text")) field.value = model.get("text");
    show();
  }

  function show() {
    const done = model.get("merged"), last = pairs[done - 1], newest = last && steps.includes(done - 1) ? last.join("") : null;
    slider.value = done;
    many.textContent = ` ${done} of ${M}`;
    let pieces = 0, fresh = 0;
    const ids = [];
    stage.replaceChildren(...words.map(word => html("span", { className: "word" }, ...mergeAll(word, rank, done).map(piece => {
      pieces++;
      ids.push(idOf.get(piece));
      const chip = html("span", { className: "piece", textContent: text(piece) });
      chip.dataset.piece = readable(piece);
      if (piece === newest) { chip.classList.add("fresh"); fresh++; }
      return chip;
    }))));
    const [a, b] = last ?? [];
    says.textContent = !words.length ? "Type something." : !last ? "No merge yet: every byte of the text is a piece of its own."
      : `Merge ${done}: “${text(a)}” + “${text(b)}” → “${text(a + b)}”` + (newest ? `, ${fresh ? `now ${fresh} time${fresh > 1 ? "s" : ""} in this text.` : "."}` : ". This text has no such pair.");
    const characters = [...model.get("text")].length, bytes = words.reduce((sum, word) => sum + word.length, 0);
    counts.textContent = `${characters} characters, ${bytes} bytes, ${words.length} words → ${pieces} pieces`;
    stage.setAttribute("aria-label", `${pieces} pieces`);
    numbers.textContent = ids.join(" ");
    back.disabled = from.disabled = done === 0;
    next.disabled = !steps.some(at => at + 1 > done);
    all.disabled = done === M;
    draw(done, pieces);
  }

  // How many pieces the text has after each merge; the axis of merges is logarithmic, for the early ones do most.
  function draw(done, pieces) {
    const W = 340, H = 96, L = 34, B = 20, most = Math.max(1, lengths[0][1]);
    const x = m => L + (W - L - 8) * Math.log(1 + m) / Math.log(1 + M), y = n => 8 + (H - B - 8) * (1 - n / most);
    let path = `M${x(0)} ${y(most)}`;
    for (const [m, n] of lengths.slice(1)) path += `H${x(m)}V${y(n)}`;
    const word = (content, at, up, anchor) => { const t = svg("text", { x: at, y: up, "text-anchor": anchor }); t.textContent = content; return t; };
    curve.replaceChildren(svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Pieces of this text: ${most} before the first merge, ${lengths.at(-1)[1]} after all; ${pieces} now.` },
      svg("path", { d: `M${L} 8V${H - B}H${W - 8}`, class: "axis" }), svg("path", { d: `${path}H${x(M)}`, class: "line" }),
      svg("line", { x1: x(done), x2: x(done), y1: 8, y2: H - B, class: "now" }), svg("circle", { cx: x(done), cy: y(pieces), r: 4, class: "dot" }),
      word(most, L - 4, 14, "end"), word("0", L - 4, H - B + 3, "end"), word("pieces", L + 5, H - B - 5, "start"),
      ...[0, 10, 100, 1000, 10000].filter(m => x(m) < W - 100).map(m => word(m, x(m), H - 6, "middle")), word(`${M} merges`, W - 8, H - 6, "end")));
  }

  let timer = 0;
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = "▶ play"; };
  const forward = () => { const at = steps.find(at => at + 1 > model.get("merged")); if (at === undefined) stop(); else set({ merged: at + 1 }); };
  field.addEventListener("input", () => set({ text: field.value }));
  slider.addEventListener("input", () => { stop(); set({ merged: +slider.value }); });
  back.addEventListener("click", () => { stop(); set({ merged: (steps.findLast(at => at + 1 < model.get("merged")) ?? -1) + 1 }); });
  next.addEventListener("click", () => { stop(); forward(); });
  from.addEventListener("click", () => { stop(); set({ merged: 0 }); });
  all.addEventListener("click", () => { stop(); set({ merged: M }); });
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (!steps.some(at => at + 1 > model.get("merged"))) set({ merged: 0 }); else forward();
    play.textContent = "❚❚ pause";
    timer = setInterval(forward, calm ? 1800 : 700);
  });
  model.on("change:text", read);
  model.on("change:merged", show);
  read();
  return stop;
}

export default { render };
