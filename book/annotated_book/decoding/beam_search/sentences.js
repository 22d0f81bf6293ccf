// Sentences about a search: what won and by how much, what greedy lost, where the reference was pruned, what a node is.
import { EOS, pathOf, penalty } from "./search.js";

const MINUS = "−";
export const number = (x, digits = 2) => x === -Infinity ? `${MINUS}∞` : x.toFixed(digits).replace("-", MINUS);
const same = (x, y) => x.join() === y.join();

// Text of tokens: `label` for a node, where a piece that continues a word has a hyphen; `write` and `quote` for a whole.
export function wording(words) {
  const piece = token => token === EOS ? "end" : words[token] ?? "?";
  const label = (token, step) => {
    const text = piece(token);
    if (step === 1) return text.replace("▁", "");
    if (text.startsWith("▁")) return text.slice(1) || "␣";
    return /^[\p{L}\p{N}]/u.test(text) && token !== EOS ? `-${text}` : text;
  };
  const write = tokens => tokens.filter(t => t !== EOS).map(piece).join("").replaceAll("▁", " ").trim();
  const quote = tokens => tokens.length ? `“${write(tokens)}”` : "the empty prefix";
  return { label, write, quote };
}

export function verdictOn({ found, best, cap }, { all, beam }) {
  const last = found.steps[found.steps.length - 1], score = ` scores ${number(best.score, 3)}. `;
  if (found.stopped !== "bound") return `${score}Cut off at the cap of ${cap} tokens.`;
  const hope = last.hope === -Infinity ? "nothing is alive any more" : `nothing alive can still score more than ${number(last.hope)}`;
  const which = all && beam > 1 ? "the worst that is returned" : "the best";
  return `${score}Stopped after step ${found.steps.length}: ${hope}, and ${which} has ${number(last.held)}.`;
}


// What stands after some of the steps.
export function progressOn({ one, found }, step, { quote }) {
  const now = found.steps[step - 1], pruned = found.nodes.filter(node => node.step === step && node.fate === "pruned").length;
  const lead = now.alive.length ? `The most probable prefix is ${quote(pathOf(one, now.alive[0]))}, ${number(one.lp[now.alive[0]])} nats. ` : "";
  return `After step ${step} of ${found.steps.length}. ${lead}Alive ${now.alive.length}, `
    + `pruned at this step ${pruned}, ended and kept ${now.finished.length}.`;
}

function aboutForced({ one, best, others: { forced } }, { force }, { quote }) {
  const lead = forced.score - best.score;
  return `You force ${quote(pathOf(one, force))}. The best found that begins so: ${quote(forced.tokens)}, score ${number(forced.score, 3)}: `
    + (same(forced.tokens, best.tokens) ? "the winner itself."
      : lead > 0 ? `you win by ${number(lead, 3)}. The search had pruned a better one.`
      : `${number(-lead, 3)} worse than the winner. The search was right, by its own score.`);
}

function aboutGreedy({ best, others: { greedy } }, size, { quote, label }) {
  const i = greedy.tokens.findIndex((token, t) => token !== best.tokens[t]);
  if (i < 0 && size === 1) return "A beam of 1 is greedy search. Widen the beam to see what it loses.";
  if (i < 0) return "Greedy search writes the same: it lost nothing here.";
  const better = best.tokens[i] === undefined ? "" : `, “${label(best.tokens[i], i + 1)}” leads to the better whole`;
  return `Greedy search writes ${quote(greedy.tokens)}, score ${number(greedy.score, 3)}: it lost ${number(best.score - greedy.score, 3)}. `
    + `They part at step ${i + 1}: “${label(greedy.tokens[i], i + 1)}” is the likelier token there${better}.`;
}

// How far the search followed the reference: steps, and the sum of log-probabilities up to there.
export function followed(one, found) {
  const gold = one.reference;
  let t = 0, at = 0, total = 0;
  for (; t < gold.tokens.length && t < found.steps.length; t++) {
    total += gold.steps[t];
    at = one.children[at].find(c => one.token[c] === gold.tokens[t]) ?? -1;
    if (at < 0 || !(found.steps[t].alive.includes(at) || gold.tokens[t] === EOS)) break;
  }
  return { t, total };
}

function aboutReference({ one, found, best, others: { reference } }, { quote, label }) {
  const gold = one.reference, { t, total } = followed(one, found);
  const place = found.returned.findIndex(node => same(pathOf(one, node.at), reference.tokens));
  if (place === 0) return `The winner is the reference: ${quote(reference.tokens)}.`;
  const judge = reference.score > best.score + 1e-6
    ? "It scores more than the winner: the search is at fault." : "It scores less than the winner: the model is at fault, not the search.";
  return `The reference is ${quote(reference.tokens)}, score ${number(reference.score, 3)}. `
    + (place > 0 ? `It is returned too, as number ${place + 1}. `
      : t >= gold.tokens.length ? "Its path was followed to the end, and then displaced. "
      : t >= found.steps.length ? "Its path was alive when the search stopped. "
      : `Its path was pruned at step ${t + 1}: “${label(gold.tokens[t], t + 1)}” is number ${gold.ranks[t]} among all tokens there, `
        + `with ${number(total)} in all; the last that was kept had ${number(found.steps[t].last)}, ${number(found.steps[t].last - total)} more. `) + judge;
}

// [kind, sentence] of each story that the reader asked for.
export function storiesOf(about, state, words) {
  const stories = [], { one } = about;
  if (about.others.forced) stories.push(["forced", aboutForced(about, state, words)]);
  if (state.greedy) stories.push(["greedy", aboutGreedy(about, state.beam, words)]);
  if (state.reference && one.reference) stories.push(["reference", aboutReference(about, words)]);
  if (state.bound) stories.push(["bound", "hope: the best alive log-probability divided by the penalty at the cap of "
    + `${about.cap} tokens, ${number(penalty(about.cap, state.alpha))}; `
    + "no continuation can score more. held: the worst score that would be returned. When hope is no more than held, the search stops."]);
  return stories;
}

const FATES = { alive: "it went on", pruned: "pruned: not among the best k", finished: "ended, and is returned",
  evicted: "ended, and better ones took its place", cap: "still unfinished at the cap", ghost: "the search never considered it" };

export function readingOf(node, { label, quote }) {
  if (!node.step) return "The empty prefix. Walk with the arrow keys, or click a token to force it.";
  const tokens = [];
  for (let n = node; n.step; n = n.up) tokens.unshift(n.token);
  const own = node.lp === null ? "" : `log-probability ${number(node.lp)}`
    + (node.up.lp === null ? "" : ` (${number(node.lp - node.up.lp)} for this token)`)
    + (node.rank ? `, candidate ${node.rank} of ${node.of}` : "") + "; ";
  return `Step ${node.step}, ${quote(tokens.slice(0, -1))} + “${label(node.token, node.step)}”: ${own}${FATES[node.fate]}.`;
}

// Rows of the ranking: what the search returned, and what else is shown, by score.
export function rankingOf({ one, found, others }, state) {
  const rows = found.returned.map(node => ({ tokens: pathOf(one, node.at), lp: node.lp, at: node.at, n: node.step,
    score: node.lp / penalty(node.step, state.alpha), names: node.fate === "finished" ? [] : ["unfinished"] }));
  for (const [name, other] of Object.entries(others)) {
    if (name !== "forced" && !state[name]) continue;
    const twin = rows.find(row => same(row.tokens, other.tokens));
    if (twin) twin.names.push(name); else rows.push({ ...other, names: [name, "not returned"], extra: true });
  }
  return rows.sort((x, y) => y.score - x.score);
}

// What was pruned, and the eight prefixes that missed the beam by least.
export function missesOf(found) {
  const pruned = found.nodes.filter(node => node.fate === "pruned");
  const misses = pruned.map(node => ({ node, gap: found.steps[node.step - 1].last - node.lp }));
  return { count: pruned.length, misses: misses.sort((x, y) => x.gap - y.gap).slice(0, 8) };
}
