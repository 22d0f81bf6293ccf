// Two texts, the n-grams that they share, and the BLEU that follows. Everything is computed here, from the texts alone;
// the tokenisers are sacreBLEU's, to the letter (tests/chapters/bleu/test_widget.py).
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // what Python calls white space
const words = text => text.split(SPACE).filter(Boolean);
const rstrip = text => text.replace(new RegExp(`(?:${SPACE.source})$`, "u"), "");

function tokenize13a(text) {
  let line = text.replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  for (const [from, to] of [["&quot;", '"'], ["&amp;", "&"], ["&lt;", "<"], ["&gt;", ">"]]) line = line.replaceAll(from, to);
  line = ` ${line} `.replace(/([\{-~\[-` -&\(-\+:-@\/])/gu, " $1 ").replace(/([^0-9])([\.,])/gu, "$1 $2 ")
    .replace(/([\.,])([^0-9])/gu, " $1 $2").replace(/([0-9])(-)/gu, "$1 $2 ");
  return words(line);
}
const intl = text => words(text.replace(/(\P{N})(\p{P})/gu, "$1 $2 ").replace(/(\p{P})(\P{N})/gu, " $1 $2").replace(/(\p{S})/gu, " $1 "));
const plainQuotes = text => text.replace(/[„“”‟«»]/gu, '"').replace(/[‚‘’‛‹›]/gu, "'");
const compounds = tokens => words(tokens.join(" ").replace(/([^ ])-([^ ])/gu, "$1 ##AT##-##AT## $2"));
const TOKENIZERS = {
  "13a": tokenize13a,
  none: words,
  intl,
  char: text => words([...text].join(" ")),
  paper: text => compounds(tokenize13a(rstrip(plainQuotes(text)))),
};
const tokens = (text, name) => TOKENIZERS[name](rstrip(text));

// The n-grams of a translation: each with its place, and whether it counts ("match"), came too often ("clipped"), or is not there.
function ngrams(hypothesis, reference, n) {
  const left = new Map(), found = [];
  const gram = (list, i) => list.slice(i, i + n).join(" ");
  for (let i = 0; i + n <= reference.length; i++) left.set(gram(reference, i), (left.get(gram(reference, i)) ?? 0) + 1);
  for (let i = 0; i + n <= hypothesis.length; i++) {
    const text = gram(hypothesis, i), count = left.get(text);
    found.push({ start: i, text, kind: count === undefined ? "missing" : count > 0 ? "match" : "clipped" });
    if (count > 0) left.set(text, count - 1);
  }
  return found;
}
// BLEU of one sentence, as sacreBLEU scores a corpus of one: smoothing "exp".
function score(hypothesis, reference) {
  const orders = [1, 2, 3, 4].map(n => ngrams(hypothesis, reference, n));
  const counts = orders.map(all => ["match", "clipped", "missing"].map(kind => all.filter(x => x.kind === kind).length));
  const brevity = hypothesis.length === 0 ? 0 : Math.min(1, Math.exp(1 - reference.length / hypothesis.length));
  let halving = 1;
  const precisions = counts.map(([match], i) => {
    const total = orders[i].length;
    return total === 0 ? 0 : match > 0 ? match / total : 1 / ((halving *= 2) * total);
  });
  const none = counts[0][0] === 0 || precisions.includes(0);
  const bleu = none ? 0 : 100 * brevity * Math.exp(precisions.reduce((sum, p) => sum + Math.log(p), 0) / 4);
  return { orders, counts, brevity, precisions, bleu };
}

function render({ model, el }) {
  const set = setter(model), examples = model.get("examples");
  const labels = { "13a": "13a (sacreBLEU's default)", none: "none (split at spaces)", intl: "intl (all punctuation)", char: "char (letters)", paper: "13a + compounds split" };
  const example = html("select", {}, ...examples.map(({ title }, i) => html("option", { value: i, textContent: title })));
  const kind = html("select", {}, ...Object.entries(labels).map(([value, textContent]) => html("option", { value, textContent })));
  const [own, gold] = ["hypothesis", "reference"].map(name => {
    const area = html("textarea", { rows: 2, spellcheck: false, maxLength: 400 });
    area.addEventListener("input", () => set({ [name]: area.value }));
    return area;
  });
  example.addEventListener("change", () => {
    const { hypothesis, reference } = examples[+example.value];
    set({ hypothesis, reference });
  });
  kind.addEventListener("change", () => set({ tokenizer: kind.value }));
  const label = (text, control) => html("label", {}, html("span", { textContent: text }), control);
  const strips = ["translation", "reference"].map(name => {
    const strip = html("p", { className: "strip" });
    strip.setAttribute("aria-label", `tokens of the ${name}`);
    strip.setAttribute("role", "group");
    return strip;
  });
  const legend = html("p", { className: "legend" }, "A small number is the length of the longest shared n-gram that a token is part of.");
  const name = `n-${Math.random().toString(36).slice(2)}`;
  const rows = [1, 2, 3, 4].map(n => {
    const radio = html("input", { type: "radio", name, value: n });
    radio.setAttribute("aria-label", `show ${n}-grams`);
    radio.addEventListener("change", () => set({ n }));
    const cells = [0, 1, 2, 3].map(() => html("td"));
    const choice = html("label", {}, radio, `${n}`);
    return { radio, cells, row: html("tr", {}, html("th", { scope: "row" }, choice), ...cells) };
  });
  const head = html("tr", {}, ...["n", "shared", "clipped", "of", "precision"].map(text => html("th", { scope: "col", textContent: text })));
  const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows.map(r => r.row)));
  const chips = html("div", { className: "chips" });
  chips.setAttribute("role", "group");
  const total = html("output"), bar = html("p", { className: "formula" });
  total.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "ngram-highlighter" },
    html("div", { className: "ask" }, label("example", example), label("tokeniser", kind)),
    html("div", { className: "texts" }, label("translation", own), label("reference", gold)),
    total, bar, html("div", { className: "strips" }, ...strips), legend, table, chips));

  const shown = text => text.replaceAll("##AT##-##AT##", "@-@");
  function strip(place, list, longest) {
    place.replaceChildren(...list.map((token, i) => {
      const span = html("span", { className: `token m${longest[i]}`, textContent: shown(token) });
      if (longest[i]) span.append(html("sub", { textContent: longest[i] }));
      return span;
    }));
  }
  const covered = (list, all) => { // the longest counted n-gram over each token
    const longest = list.map(() => 0);
    all.forEach((grams, k) => { for (const { start } of grams) for (let i = 0; i <= k; i++) longest[start + i] = k + 1; });
    return longest;
  };
  const point = (place, starts, n) => place.querySelectorAll(".token").forEach((span, i) =>
    span.classList.toggle("pointed", starts.some(s => i >= s && i < s + n)));

  function draw() {
    const texts = [model.get("hypothesis"), model.get("reference")], n = model.get("n");
    [own, gold].forEach((area, i) => { if (area.value !== texts[i]) area.value = texts[i]; });
    kind.value = model.get("tokenizer");
    const at = examples.findIndex(e => e.hypothesis === texts[0] && e.reference === texts[1]);
    example.value = at < 0 ? "" : at;
    const [h, r] = texts.map(text => tokens(text, kind.value));
    const { orders, counts, brevity, precisions, bleu } = score(h, r);
    strip(strips[0], h, covered(h, orders.map(all => all.filter(x => x.kind === "match"))));
    strip(strips[1], r, covered(r, [1, 2, 3, 4].map(k => ngrams(r, h, k).filter(x => x.kind === "match"))));
    rows.forEach(({ radio, cells, row }, k) => {
      radio.checked = k + 1 === n;
      row.classList.toggle("chosen", radio.checked);
      const [match, clipped] = counts[k], smoothed = match === 0 && precisions[k] > 0;
      [match, clipped, orders[k].length, `${(100 * precisions[k]).toFixed(1)} %${smoothed ? " *" : ""}`].forEach((text, c) => { cells[c].textContent = text; });
    });
    total.textContent = `BLEU ${bleu.toFixed(2)}`;
    const star = counts.some(([match], k) => match === 0 && precisions[k] > 0 && bleu > 0);
    bar.textContent = `${h.length} tokens for ${r.length}: brevity penalty ${brevity.toFixed(3)}. ` + (bleu > 0
      ? `BLEU = ${brevity.toFixed(3)} × ⁴√(${precisions.map(p => p.toFixed(3)).join(" · ")}).` + (star ? " * nothing shared: smoothed." : "")
      : counts[0][0] === 0 ? "No token is shared, so BLEU is 0." : "It has fewer than four tokens, so no 4-gram, and BLEU is 0.");
    chips.setAttribute("aria-label", `${n}-grams of the translation`);
    chips.replaceChildren(...orders[n - 1].map(({ start, text, kind: state }) => {
      const chip = html("button", { type: "button", className: state, textContent: shown(text) });
      const places = [...Array(Math.max(0, r.length - n + 1)).keys()].filter(i => r.slice(i, i + n).join(" ") === text);
      const show = () => { point(strips[0], [start], n); point(strips[1], places, n); };
      for (const event of ["mouseenter", "focus", "click"]) chip.addEventListener(event, show);
      chip.append(html("span", { className: "what", textContent: { match: " ✓", clipped: " used up", missing: "" }[state] }));
      return chip;
    }));
  }
  for (const trait of ["hypothesis", "reference", "tokenizer", "n"]) model.on(`change:${trait}`, draw);
  draw();
}
export default { render };
