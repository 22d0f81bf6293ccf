// BLEU of one sentence in the page (section 6.1): sacreBLEU's tokenisers to the letter, n-grams with clipping, the score.
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u; // what Python calls white space
const words = text => text.split(SPACE).filter(Boolean);
const rstrip = text => text.replace(new RegExp(`(?:${SPACE.source})$`, "u"), "");

function tokenize13a(text) {
  let line = text.replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  for (const [from, to] of [["&quot;", '"'], ["&amp;", "&"], ["&lt;", "<"], ["&gt;", ">"]]) line = line.replaceAll(from, to);
  line = ` ${line} `.replace(/([{-~[-` -&(-+:-@/])/gu, " $1 ").replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2").replace(/([0-9])(-)/gu, "$1 $2 ");
  return words(line);
}
const intl = text => words(text.replace(/(\P{N})(\p{P})/gu, "$1 $2 ").replace(/(\p{P})(\P{N})/gu, " $1 $2").replace(/(\p{S})/gu, " $1 "));
const plainQuotes = text => text.replace(/[„“”‟«»]/gu, '"').replace(/[‚‘’‛‹›]/gu, "'");
// Moses' replace-unicode-punctuation.perl, which the authors' script runs on translations alone.
const ASCII = { "…": "...", "？": "?", "）": ")", "！": "!", "（": "(", "；": ";", "～": "~", "’": "'", "━": "-", "〈": "<", "〉": ">", "【": "[", "】": "]", "％": "%" };
const punctuation = text => text.replace(/[。．] */gu, ". ").replace(/[，、]/gu, ",").replace(/[”“《》」「１]/gu, '"').replace(/[∶：]/gu, ":")
  .replace(/[０２-９]/gu, digit => String.fromCodePoint(digit.codePointAt(0) - 0xff10 + 0x30)).replace(/[…？）！（；～’━〈〉【】％]/gu, sign => ASCII[sign]);
const compounds = tokens => words(tokens.join(" ").replace(/([^ ])-([^ ])/gu, "$1 ##AT##-##AT## $2"));
const TOKENIZERS = {
  "13a": tokenize13a,
  none: words,
  intl,
  char: text => words([...text].join(" ")),
  quotes: text => tokenize13a(rstrip(plainQuotes(text))),
  compounds: text => compounds(tokenize13a(text)),
  paper: text => compounds(TOKENIZERS.quotes(text)),
};
const REPLACED = ["quotes", "paper"]; // the settings that replace punctuation of a translation
export const tokens = (text, name, translated = false) => TOKENIZERS[name](rstrip(translated && REPLACED.includes(name) ? punctuation(text) : text));

// The n-grams of a translation: each with its place, and whether it counts ("match"), came too often ("clipped"), or is not there.
export function ngrams(hypothesis, reference, n) {
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

// As sacreBLEU scores a corpus of one: smoothing "exp".
export function score(hypothesis, reference) {
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

// The longest counted n-gram over each token; `orders` holds the n-grams of each n, from 1.
export function covered(list, orders) {
  const most = list.map(() => 0);
  orders.forEach((grams, k) => { for (const { start, kind } of grams) if (kind === "match") for (let i = 0; i <= k; i++) most[start + i] = k + 1; });
  return most;
}
