// Beam search in the page, as annotated.beam_search does it (section 6.1): a pool that grows, a pool that has ended.
import { BOS, EOS } from "./tokenizer.js";
import { NEVER, bound } from "./decoding.js";
import { largest } from "./arithmetic.js";
import { fork } from "./transformer.js";

export const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

const isPossible = ({ logProbability }) => logProbability > -Infinity; // a model may rule tokens out
const byLogProbability = (a, b) => b.logProbability - a.logProbability; // sorting is stable: of equals the first

// The best continuations of all that is alive, best first; `forced`, if it is a token, is the only one.
function candidatesOf(transformer, alive, set, count, forced) {
  return alive.flatMap((hypothesis, parent) => {
    const row = transformer.next([BOS, ...hypothesis.tokens], hypothesis.state, set);
    return (forced === undefined ? largest(row, count, NEVER) : [forced]).map(token =>
      ({ parent, token, own: row[token], logProbability: hypothesis.logProbability + row[token] }));
  }).filter(isPossible).sort(byLogProbability).slice(0, count);
}

// The candidates that go on, each with what the decoder keeps of it; the last heir of a parent gets the parent's own.
function heirs(alive, going) {
  const left = alive.map((_, parent) => going.filter(candidate => candidate.parent === parent).length);
  return going.map(({ parent, token, logProbability }) => {
    const { tokens, state } = alive[parent];
    return { tokens: [...tokens, token], logProbability, state: --left[parent] ? fork(state) : state };
  });
}

// Yields each step: { step, candidates, alive, finished }; a candidate says which of the alive it continues (`parent`), with
// which token, whether it `ends`, and its place among the alive of the next step (`place`, -1 if it is dropped or ends).
// `prefix` holds tokens that every hypothesis must begin with. Returns hypotheses { tokens, logProbability, score, finished }, best first, as the library does.
export function* beam(transformer, source, set, { size = 4, alpha = 0.6, most = bound(source), count = 1, prefix = [],
  encoded = transformer.encode(source, set) } = {}) {
  const each = size > 1 ? 2 * size : 1, atCap = lengthPenalty(most, alpha);
  let alive = [{ tokens: [], logProbability: 0, state: transformer.start(encoded, most) }], finished = [];
  let steps = 0;
  const proven = () => !alive.length || (finished.length === count && finished.at(-1).score >= alive[0].logProbability / atCap);
  do {
    const candidates = candidatesOf(transformer, alive, set, each, prefix[steps]);
    for (const candidate of candidates) candidate.ends = candidate.token === EOS;
    const ended = candidates.filter(({ ends }) => ends).map(({ parent, logProbability }) =>
      ({ tokens: alive[parent].tokens, logProbability, score: logProbability / lengthPenalty(steps + 1, alpha), finished: true }));
    finished = [...finished, ...ended].sort((a, b) => b.score - a.score).slice(0, count);
    const going = candidates.filter(({ ends }) => !ends).slice(0, size);
    for (const candidate of candidates) candidate.place = going.indexOf(candidate);
    alive = heirs(alive, going);
    steps++;
    yield { step: steps, candidates, alive: alive.map(({ tokens, logProbability }) => ({ tokens, logProbability })), finished };
  } while (!proven() && steps < most);
  const unfinished = steps < most ? [] : alive.map(({ tokens, logProbability }) =>
    ({ tokens, logProbability, score: logProbability / lengthPenalty(steps, alpha), finished: false }));
  return [...finished, ...unfinished].slice(0, count);
}
