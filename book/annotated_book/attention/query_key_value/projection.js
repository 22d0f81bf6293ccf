// Picture of one head: x becomes q, k and v; the query meets all keys; the weights mix the values. Six steps.
import { button, clamp, html, isCalm, labelled, onTraits, optionsOf, readout, select, setter, unique } from "../../viz/controls.js";
import { bytesOf, pixels } from "../../viz/drawing.js";
import { onOwnSentence } from "../../viz/own_sentence.js";
import { playing } from "../../viz/player.js";
import { headNumbers, whole } from "./head_numbers.js";

const POSITIVE = [59, 131, 214], NEGATIVE = [217, 115, 26];
const STEPS = 6;

const signed = x => x.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "−");

// The tiles of the picture: in which step each appears, in which a phone shows it, its row, its name and sign.
export const TILES = [
  { name: "x", row: "query", step: 0, narrow: [0, 1] }, { name: "w_q", row: "query", step: 1, narrow: [1], sign: "×" },
  { name: "q", row: "query", step: 1, narrow: [1, 3], sign: "=" },
  { name: "X for K", row: "key", step: 1, narrow: [1, 2] }, { name: "w_k", row: "key", step: 1, narrow: [1, 2], sign: "×" },
  { name: "k", row: "key", step: 1, narrow: [1, 2, 3], sign: "=" },
  { name: "scores", row: "key", step: 3, narrow: [3, 4], sign: "→" }, { name: "weights", row: "key", step: 4, narrow: [4], sign: "→" },
  { name: "X for V", row: "value", step: 1, narrow: [1, 2] }, { name: "w_v", row: "value", step: 1, narrow: [1, 2], sign: "×" },
  { name: "v", row: "value", step: 1, narrow: [1, 2, 5], sign: "=" },
  { name: "mixed", row: "value", step: 5, narrow: [5], sign: "→" }, { name: "output", row: "value", step: 5, narrow: [5], sign: "=" },
];

// Matrices by name: `rows`, `columns`, `at`, and `most`, the largest size of a number.
export function matrices(bytes, scales, numbers, { D, K }, count) {
  const found = {};
  let from = 0;
  for (const [i, [name, rows, columns]] of [["x", count, D], ["w_q", D, K], ["w_k", D, K], ["w_v", D, K]].entries()) {
    const start = from;
    found[name] = { rows, columns, most: scales[i], at: (r, c) => (bytes[start + r * columns + c] - 128) / 127 * scales[i] };
    from += rows * columns;
  }
  for (const name of ["q", "k", "v", "output"]) found[name] = whole(numbers[name]);
  return found;
}

// The sentence that goes with a step.
export function saying(step, token, { tokens, numbers, sizes }) {
  const name = `“${tokens[token]}”`, some = row => `${row.slice(0, 3).map(signed).join(", ")}, …`;
  const scores = numbers.scores[token], weights = numbers.weights[token], best = weights.indexOf(Math.max(...weights));
  return [
    `The token ${name} is a vector x of ${sizes.D} numbers: ${some(numbers.first[token])}`,
    `Three matrices make three vectors of ${sizes.K} numbers: q = ${some(numbers.q[token])}; k = ${some(numbers.k[token])}; v = ${some(numbers.v[token])}`,
    "Every token has a key and a value of its own, made with the same two matrices.",
    `The score of ${name} with each token is the dot product of its query and that token’s key, divided by √${sizes.K}: `
      + `${signed(scores[best])} with “${tokens[best]}”.`,
    `The softmax turns the scores into weights, which sum to 1: ${Math.round(100 * weights[best])} % for “${tokens[best]}”.`,
    `The output for ${name} is the sum of all values, each multiplied by its weight: ${some(numbers.output[token])}`,
  ][step];
}

function picture({ rows, columns, at, most }, factor = () => 1) {
  return pixels(columns, rows, (r, c) => {
    const value = at(r, c) / most * factor(r);
    return [...(value > 0 ? POSITIVE : NEGATIVE), 255 * Math.min(1, 1.6 * Math.abs(value)) ** 0.75];
  });
}

const one = (matrix, row) => ({ ...matrix, rows: 1, at: (_, c) => matrix.at(row, c) });

const NAMES = {
  x: ["x", "D"], w_q: ["W Q", "D × K"], q: ["q", "K"], "X for K": ["X", "S × D"], w_k: ["W K", "D × K"], k: ["K", "S × K"],
  scores: ["q · k / √dₖ", "S"], weights: ["softmax", "S"], "X for V": ["X", "S × D"], w_v: ["W V", "D × K"], v: ["V", "S × K"],
  mixed: ["weights × V", "S × K"], output: ["sum", "K"],
};
const AGAIN = { 3: "k", 4: "scores", 5: "v" }; // where a phone, which shows no X any more, names the tokens again
const LETTERS = { q: "q of this token", x: "x of this token" };

// The names of the sizes, in numbers.
const shapeText = (shape, sizes, count) => shape.replace("S", count).replace("D", sizes.D).replace("K", sizes.K);

function bars(values, tokens, show) {
  const low = Math.min(0, ...values), high = Math.max(...values), span = high - low || 1;
  return html("div", { className: "bars" }, ...values.map((x, i) => html("span", { title: `${tokens[i]}: ${show(x)}` },
    html("b", { textContent: show(x) }),
    html("i", {}, html("span", { className: x < 0 ? "negative" : "", style: `left:${100 * (Math.min(0, x) - low) / span}%;width:${100 * Math.abs(x) / span}%` })))));
}

// "W Q" with the Q lowered.
const symbol = text => text.startsWith("W ") ? ["W", html("sub", { textContent: text.slice(2) })] : [text];

// What is inside a tile.
function content(name, found, { tokens, numbers }, token, step) {
  const rows = html("div", { className: "numbers", style: `--count:${tokens.length}` });
  const all = matrix => { rows.append(picture(matrix)); return rows; };
  if (name === "x" || name === "q") return all(one(found[name], token));
  if (name === "output") return all(one(found.output, token));
  if (name.startsWith("w_")) return all(found[name]);
  if (name === "scores") return bars(numbers.scores[token], tokens, signed);
  if (name === "weights") return bars(numbers.weights[token], tokens, x => `${Math.round(100 * x)} %`);
  const visible = r => step > 1 || r === token ? 1 : 0; // one row first, then all
  if (name === "mixed") rows.append(picture({ ...found.v, most: found.v.most * 0.6 }, r => numbers.weights[token][r]));
  else if (name === "k" || name === "v") rows.append(picture(found[name], visible));
  else rows.append(picture(found.x, visible));
  if (name !== "mixed") rows.append(html("span", { className: "chosen", style: `top:${100 * token / tokens.length}%;height:${100 / tokens.length}%` }));
  return rows;
}

function tile({ name, step: from, narrow, sign }, found, about, token, step) {
  const [label, shape] = NAMES[name], count = about.tokens.length, isRow = ["x", "q", "output"].includes(name);
  const words = className => html("ol", { className }, ...about.tokens.map((word, i) =>
    html("li", { className: i === token ? "now" : "", textContent: word })));
  const body = html("div", { className: `tensor${isRow ? " single" : ""}${name.startsWith("w_") ? " weight" : ""}` },
    ...(name.startsWith("X") ? [words("tokens")] : AGAIN[step] === name ? [words("tokens again")] : []),
    content(name, found, about, token, step));
  return html("div", { className: `tile tile-${name.replaceAll(" ", "-")}${step < from ? " later" : ""}${step === from ? " new" : ""}${narrow.includes(step) ? "" : " aside"}` },
    html("span", { className: "sign", textContent: sign ?? "" }),
    html("div", {}, html("p", { className: "name" }, html("b", {}, ...symbol(LETTERS[name] ?? label)), ` ${shapeText(shape, about.sizes, count)}`), body));
}

const choices = tokens => tokens.map((text, i) => [i, text]);

function render({ model, el }) {
  const set = setter(model), id = unique("projection"), sizes = model.get("sizes");
  const shown = { tokens: model.get("tokens"), numbers: model.get("numbers"), sizes };
  const drawn = matrices(bytesOf(model.get("data")), model.get("scales"), shown.numbers, sizes, shown.tokens.length);
  let about = shown, found = drawn;
  const word = select(choices(about.tokens), i => set({ token: +i }), { id: `${id}-token` });
  const at = () => model.get("step"), go = step => set({ step: clamp(step, STEPS) });
  const { stop, toggle } = playing({ every: isCalm() ? 5000 : 3200, begin: () => go(at() === STEPS - 1 ? 0 : at() + 1),
    forward: () => { if (at() === STEPS - 1 || !el.isConnected) stop(); else go(at() + 1); },
    show: on => { play.textContent = on ? "❚❚ pause" : "▶ play"; } });
  const jump = by => { stop(); go(at() + by); };
  const back = button("‹ back", () => jump(-1)), next = button("next ›", () => jump(1)), play = button("▶ play", toggle);
  const number = html("b", { className: "step" }), said = readout("p", { className: "said" }), stage = html("div", { className: "stage" });
  el.append(html("div", { className: "projection" }, html("div", { className: "controls" }, labelled("Token", word, { htmlFor: word.id }),
    number, html("span", { className: "buttons" }, back, play, next)), said, stage));
  function draw() {
    const now = at(), token = clamp(model.get("token"), about.tokens.length);
    word.value = token;
    back.disabled = now === 0;
    next.disabled = now === STEPS - 1;
    number.textContent = `Step ${now + 1} of ${STEPS}`;
    said.textContent = saying(now, token, about);
    stage.replaceChildren(...["query", "key", "value"].map(row => html("div", { className: `equation equation-${row}` },
      ...TILES.filter(one => one.row === row).map(one => tile(one, found, about, token, now)))));
  }
  onTraits(model, ["step", "token"], draw);
  draw();
  const forget = onOwnSentence("head", traced => {
    const own = headNumbers(traced, sizes), same = own.tokens.join(" ") === shown.tokens.join(" ");
    // The page's model has weights of one byte: for the sentence that is shown already, the exact numbers stay.
    about = same ? shown : { ...own, sizes };
    found = same ? drawn : { ...drawn, ...own.found };
    word.replaceChildren(...optionsOf(choices(about.tokens)));
    draw();
  });
  return () => { stop(); forget(); };
}

export default { render };
