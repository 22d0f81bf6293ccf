// Views of the live panels: tokens with their probabilities, source tokens with attention, compared sentences.
import { button, html } from "../controls.js";

export const percent = p => p >= 0.995 ? "100 %" : p < 0.01 ? "<1 %" : `${Math.round(100 * p)} %`;

// A number of nats with a true minus sign; none before a zero. From ten thousand on it is whole.
export const nats = x => (Math.abs(x) < 1e4 ? x.toFixed(Math.abs(x) < 10 ? 2 : 1).replace(/^-(?=0\.?0*$)/, "")
  : Math.round(x).toLocaleString("en-GB")).replace("-", "−");

const TENS = "⁰¹²³⁴⁵⁶⁷⁸⁹", LAST_POWER = 300; // about the last power of ten that a float64 can hold
// How much less (or more) probable something becomes when its log-probability changes by so many nats.
export function timesText(change) {
  const ratio = Math.exp(Math.abs(change)), power = Math.floor(Math.abs(change) / Math.LN10);
  if (ratio < 1.005) return "equally probable";
  const more = change > 0 ? "more" : "less";
  if (ratio < 9.95) return `${ratio.toFixed(ratio < 1.95 ? 2 : 1)} times ${more} probable`;
  if (ratio < 9999.5) return `${Number(ratio.toPrecision(2)).toLocaleString("en-GB")} times ${more} probable`;
  const [about, tens] = power > LAST_POWER ? ["more than", LAST_POWER] : ["about", power];
  return `${about} 10${[...String(tens)].map(digit => TENS[digit]).join("")} times ${more} probable`;
}

export const caption = textContent => html("p", { className: "live-caption", textContent });

function tokenElement({ text, begins, special }, below, choose) {
  const made = choose ? button("", choose) : html("span");
  made.className = `live-token${begins ? " live-begins" : ""}${special ? " live-special" : ""}`;
  made.replaceChildren(html("span", { textContent: text }), ...(below === undefined ? [] : [" ", html("small", { textContent: below })]));
  return made;
}

// Tokens that the model writes, joined to words as a human writes them, the probability of each under it.
// `start(engine)` clears; `add(step)` shows one more (a step of engine.js); `show(engine, steps)` shows all;
// `choose`, if given, makes them buttons: it gets the step and its number, also of a token that is pointed at or reached with
// the keyboard. `pick(i)` marks one.
export function writtenView(label, { choose } = {}) {
  const element = html("div", { className: "live-tokens", role: "group", "aria-label": label });
  let spell, steps = [];
  if (choose) for (const event of ["pointerover", "focusin"]) element.addEventListener(event, ({ target }) => chosen(target));
  function chosen(target) {
    const at = [...element.children].indexOf(target.closest(".live-token"));
    if (steps[at]) { pick(at); choose(steps[at], at); }
  }
  function add(step) {
    steps.push(step);
    const made = tokenElement(spell(step.id), percent(step.probability), choose && (() => chosen(made)));
    made.style.setProperty("--p", step.probability.toFixed(3));
    made.title = `log-probability ${nats(step.logProbability)}`;
    element.append(made);
    element.style.minHeight = `${Math.max(parseFloat(element.style.minHeight) || 0, element.offsetHeight)}px`;
  }
  function start(engine) {
    element.style.minHeight = `${element.offsetHeight}px`; // no jump of the page while new tokens come
    spell = engine.tokenizer.speller();
    steps = [];
    element.replaceChildren();
  }
  function pick(at) {
    [...element.children].forEach((token, i) => token.setAttribute("aria-pressed", String(i === at)));
  }
  // Marks the words that do not stand in `other`; `text` is what was written.
  function compare(text, other) {
    const words = changedWords(text, other);
    let word = -1;
    for (const token of element.children) {
      if (token.classList.contains("live-special")) continue;
      if (token.classList.contains("live-begins")) word++;
      token.classList.toggle("live-changed", Boolean(words[word]?.[1]));
    }
    if (!choose) foldEnd(element);
  }
  return { element, start, add, pick, compare, show(engine, all) { start(engine); all.forEach(add); }, tokens: () => [...element.children] };
}

const MOST_ALIKE = 8; // of one token, over and over at the end

// Hides what only repeats the last token, and says how often.
function foldEnd(element) {
  const tokens = [...element.children], spelled = tokens.map(token => token.querySelector("span")?.textContent);
  const alike = tokens.length - 1 - spelled.findLastIndex(word => word !== spelled.at(-1));
  if (alike <= MOST_ALIKE) return;
  for (const token of tokens.slice(tokens.length - alike + MOST_ALIKE)) token.hidden = true;
  element.append(html("small", { textContent: `… ${alike - MOST_ALIKE} more` }));
}

// Tokens of the source. `show(engine, ids)` writes them; `weigh(weights)` underlines each by its share of attention.
export function sourceView(label) {
  const element = html("div", { className: "live-tokens live-source", role: "group", "aria-label": label });
  const show = (engine, ids) => {
    const spell = engine.tokenizer.speller();
    element.replaceChildren(...ids.map(id => tokenElement(spell(id))));
  };
  const weigh = weights => {
    const most = Math.max(...weights);
    [...element.children].forEach((token, i) => {
      token.style.setProperty("--p", (weights[i] / most).toFixed(3));
      token.title = `${percent(weights[i])} of the attention`;
    });
  };
  return { element, show, weigh, tokens: () => [...element.children] };
}

// Words of two sentences: of `text`, which do not stand in the same order in `other` (longest common subsequence).
export function changedWords(text, other) {
  const a = text.split(" ").filter(Boolean), b = other.split(" ").filter(Boolean);
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const words = [];
  for (let i = 0, j = 0; i < a.length;) {
    if (j < b.length && a[i] === b[j]) { words.push([a[i++], false]); j++; }
    else if (j < b.length && common[i][j + 1] > common[i + 1][j]) j++;
    else words.push([a[i++], true]);
  }
  return words;
}

// A sentence whose words are marked where they differ from another's. `show(text, other)`; without `other` nothing is marked.
export function sentenceView(label) {
  const text = html("span", { className: "live-text" }), element = html("p", { className: "live-whole" }, html("span", { textContent: label }), text);
  const show = (sentence, other = sentence) => text.replaceChildren(...(changedWords(sentence, other).flatMap(([word, changed], i) =>
    [...(i ? [" "] : []), changed ? html("mark", { textContent: word }) : word])));
  return { element, show, clear: () => text.replaceChildren() };
}

// Cells of a table of class "live-table"; `content` is text or an element.
export function tableCell(content, className = "") {
  const made = html("td", { className });
  made.append(content);
  return made;
}
export const tableHead = (textContent, scope, properties = {}) => html("th", { textContent, scope, ...properties });
