// Record of a sentence of the reader's own: what the engine's searches ranked, in the form that search.js reads.
import { finish } from "../../viz/engine/engine.js";
import { EOS } from "../../viz/engine/tokenizer.js";

const EXTRA = 8; // tokens that a translation may be longer than its source, as in the recorded searches
const LARGEST_ALPHA = 2, FORCED = { size: 4, alpha: 0.6 }; // the largest alpha; how the best with a forced prefix is searched for

// { text, one, cap, words }: the record, the most tokens of a translation, and the text of each token.
export function ownSearch(engine, text) {
  const cap = engine.read(text).length + EXTRA, searched = new Set(), known = new Map();
  const lp = [0], parent = [-1], token = [-1], children = [[]];

  function childOf(mother, id, logProbability) {
    let at = children[mother].find(child => token[child] === id);
    if (at === undefined) {
      at = lp.push(logProbability) - 1;
      parent.push(mother);
      token.push(id);
      children.push([]);
      children[mother].push(at);
    }
    return at;
  }
  // A smaller alpha or fewer translations to return only stop a search earlier: the longest one of a beam holds all others.
  function record(size) {
    let alive = [0];
    for (const { candidates } of engine.beam(text, { size, alpha: LARGEST_ALPHA, count: size, most: cap })) {
      const next = [];
      for (const candidate of candidates) {
        const at = childOf(alive[candidate.parent], candidate.token, candidate.logProbability);
        if (candidate.place >= 0) next[candidate.place] = at;
      }
      alive = next;
    }
    searched.add(size);
  }
  function prepare(size) { // greedy search, with which each search is compared, is a beam of 1
    for (const k of [1, size]) if (!searched.has(k)) record(k);
  }
  const pathTo = at => at > 0 ? [...pathTo(parent[at]), token[at]] : [];
  function bestFrom(at) {
    if (!known.has(at)) {
      const prefix = pathTo(at), [best] = finish(engine.beam(text, { ...FORCED, most: cap, prefix }));
      known.set(at, { base: at, suffix: [...best.tokens, ...(best.finished ? [EOS] : [])].slice(prefix.length), lp: best.logProbability });
    }
    return known.get(at);
  }
  const words = Object.fromEntries(engine.tokenizer.pieces.map((_, id) => [id, engine.tokenizer.readable(id)]));
  return { text, cap, words, one: { lp, parent, token, children, reference: null, prepare, forcible: at => at > 0 && token[at] !== EOS, bestFrom } };
}
