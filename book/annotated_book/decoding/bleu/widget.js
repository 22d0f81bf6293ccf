// Two texts, the n-grams that they share, and the BLEU that follows. Everything is computed here, from the texts alone.
import { button, field, html, labelled, onTraits, radios, readout, select, setter, traits, unique } from "../../viz/controls.js";
import { covered, ngrams, score, tokens } from "./score.js";

const LABELS = { "13a": "13a (sacreBLEU's default)", none: "none (split at spaces)", intl: "intl (all punctuation)",
  char: "char (letters)", quotes: "13a + plain quotes", compounds: "13a + compounds split",
  paper: "the paper's way: quotes + compounds" };
const ROOM = { rows: 2, maxLength: 400 };
const COLUMNS = ["n", "shared", "clipped", "of", "precision"];
const shown = text => text.replaceAll("##AT##-##AT##", "@-@");

// The table of counts, a row for each n; the row's radio button chooses the n-grams that are shown.
function countTable(choose) {
  const { inputs, labels } = radios(unique("n"), [1, 2, 3, 4].map(n => [n, `${n}`]), choose);
  const rows = inputs.map((radio, k) => {
    radio.setAttribute("aria-label", `show ${k + 1}-grams`);
    const cells = [0, 1, 2, 3].map(() => html("td"));
    return { radio, cells, row: html("tr", {}, html("th", { scope: "row" }, labels[k]), ...cells) };
  });
  const head = html("tr", {}, ...COLUMNS.map(text => html("th", { scope: "col", textContent: text })));
  return { rows, table: html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows.map(r => r.row))) };
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set) {
  const examples = model.get("examples");
  const example = select(examples.map(({ title }, i) => [i, title]), value => {
    const { hypothesis, reference } = examples[+value];
    set({ hypothesis, reference });
  });
  const kind = select(Object.entries(LABELS), tokenizer => set({ tokenizer }));
  const own = field(hypothesis => set({ hypothesis }), ROOM), gold = field(reference => set({ reference }), ROOM);
  const strips = ["translation", "reference"].map(name => html("p", { className: "strip", "aria-label": `tokens of the ${name}`, role: "group" }));
  const { rows, table } = countTable(n => set({ n })), chips = html("div", { className: "chips", role: "group" });
  const total = readout(), bar = html("p", { className: "formula" });
  const legend = html("p", { className: "legend" }, "A small number is the length of the longest shared n-gram that a token is part of.");
  el.append(html("div", { className: "ngram-highlighter" },
    html("div", { className: "ask" }, labelled("example", example), labelled("tokeniser", kind)),
    html("div", { className: "texts" }, labelled("translation", own), labelled("reference", gold)),
    total, bar, html("div", { className: "strips" }, ...strips), legend, table, chips));
  return { example, kind, fields: [own, gold], strips, rows, chips, total, bar };
}

function showStrip(place, list, most) {
  place.replaceChildren(...list.map((token, i) => {
    const span = html("span", { className: `token m${most[i]}`, textContent: shown(token) });
    if (most[i]) span.append(html("sub", { textContent: most[i] }));
    return span;
  }));
}

function showCounts(rows, { counts, orders, precisions }, n) {
  rows.forEach(({ radio, cells, row }, k) => {
    radio.checked = k + 1 === n;
    row.classList.toggle("chosen", radio.checked);
    // Without a shared n-gram a precision is smoothed; without a shared token BLEU is 0, and nothing needs smoothing.
    const [match, clipped] = counts[k], some = counts[0][0] > 0, star = some && match === 0 && precisions[k] > 0 ? " *" : "";
    const texts = [match, clipped, orders[k].length, `${(some ? 100 * precisions[k] : 0).toFixed(1)} %${star}`];
    texts.forEach((text, c) => { cells[c].textContent = text; });
  });
}

function formulaOf({ counts, brevity, precisions, bleu }, own, gold) {
  const lengths = `${own.length} tokens for ${gold.length}: brevity penalty ${brevity.toFixed(3)}. `;
  if (counts[0][0] === 0) return `${lengths}No token is shared, so BLEU is 0.`;
  if (bleu === 0) return `${lengths}It has fewer than four tokens, so no 4-gram, and BLEU is 0.`;
  const star = counts.some(([match], k) => match === 0 && precisions[k] > 0);
  return `${lengths}BLEU = ${brevity.toFixed(3)} × ⁴√(${precisions.map(p => p.toFixed(3)).join(" · ")}).`
    + (star ? " * nothing shared: smoothed." : "");
}

// The n-grams of the translation as buttons, which point at their places in both texts.
function chipsOf(grams, gold, n, strips) {
  const point = (place, starts) => place.querySelectorAll(".token").forEach((span, i) =>
    span.classList.toggle("pointed", starts.some(s => i >= s && i < s + n)));
  return grams.map(({ start, text, kind }) => {
    const places = [...Array(Math.max(0, gold.length - n + 1)).keys()].filter(i => gold.slice(i, i + n).join(" ") === text);
    const show = () => { point(strips[0], [start]); point(strips[1], places); };
    const chip = button(shown(text), show, { className: kind });
    for (const event of ["mouseenter", "focus"]) chip.addEventListener(event, show);
    chip.append(html("span", { className: "what", textContent: { match: " ✓", clipped: " used up", missing: "" }[kind] }));
    return chip;
  });
}

function render({ model, el }) {
  const parts = build(model, el, setter(model)), examples = model.get("examples");

  function draw() {
    const { hypothesis, reference, tokenizer, n } = traits(model, "hypothesis", "reference", "tokenizer", "n");
    parts.fields.forEach((area, i) => { const text = [hypothesis, reference][i]; if (area.value !== text) area.value = text; });
    parts.kind.value = tokenizer;
    const at = examples.findIndex(e => e.hypothesis === hypothesis && e.reference === reference);
    parts.example.value = at < 0 ? "" : at;
    const own = tokens(hypothesis, tokenizer, true), gold = tokens(reference, tokenizer), found = score(own, gold);
    showStrip(parts.strips[0], own, covered(own, found.orders));
    showStrip(parts.strips[1], gold, covered(gold, [1, 2, 3, 4].map(k => ngrams(gold, own, k))));
    showCounts(parts.rows, found, n);
    parts.total.textContent = `BLEU ${found.bleu.toFixed(2)}`;
    parts.bar.textContent = formulaOf(found, own, gold);
    parts.chips.setAttribute("aria-label", `${n}-grams of the translation`);
    parts.chips.replaceChildren(...chipsOf(found.orders[n - 1], gold, n, parts.strips));
  }
  onTraits(model, ["hypothesis", "reference", "tokenizer", "n"], draw);
  draw();
}

export default { render };
