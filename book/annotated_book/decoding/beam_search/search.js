// Beam search in the page (section 6.1), on recorded continuations: what annotated.decoding does, step for step.
//
// A record is a tree of prefixes, node 0 the empty one: `parent`, `token`, `children` and `lp` (the log-probability of the
// whole prefix) by node; `reference` or null; `prepare(k)` has it hold all that a beam of k ranks; `bestFrom(at)` is the best
// translation found with the prefix of a node, for nodes that are `forcible(at)`. own.js makes one for any sentence.
export const EOS = 2;
const NONE = 0xffff;
export const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

// The tokens from the beginning to a node of the record.
export const pathOf = (one, at) => at > 0 ? [...pathOf(one, one.parent[at]), one.token[at]] : [];

// The record, as book/annotated_book/decoding/beam_search/search_record.py wrote it: one object for each sentence.
export function unpack(buffer) {
  const view = new DataView(buffer), count = view.getUint32(0, true);
  if (view.byteLength < 4 * count) throw new Error("the record is cut off");
  const take = reader(view), [total] = take("u4", 1);
  take("u4", total);
  return Array.from({ length: total }, () => unpackOne(take));
}

// Reads n numbers of a type, and goes on after them.
function reader(view) {
  let at = 0;
  const read = { u2: i => view.getUint16(i, true), u4: i => view.getUint32(i, true), f4: i => view.getFloat32(i, true) };
  return (type, n) => {
    const size = +type[1], values = Array.from({ length: n }, (_, i) => read[type](at + i * size));
    at += n * size;
    return values;
  };
}

function unpackOne(take) {
  const [n] = take("u4", 1), lp = [0, ...take("f4", n)], parent = [-1, ...take("u2", n)];
  const token = [-1, ...take("u2", n)], children = lp.map(() => []), bases = take("u2", n + 1);
  for (let i = 1; i <= n; i++) children[parent[i]].push(i);
  const [forced, tail] = take("u4", 2), forcedLp = take("f4", forced), counts = take("u2", forced);
  const suffixes = take("u2", tail), best = [];
  let which = 0, start = 0;
  for (const base of bases) {
    if (base === NONE) { best.push(null); continue; }
    best.push({ base, suffix: suffixes.slice(start, start + counts[which]), lp: forcedLp[which] });
    start += counts[which++];
  }
  const [length] = take("u4", 1), steps = take("f4", length), ranks = take("u2", length);
  const reference = { steps, ranks, tokens: take("u2", length) };
  return { lp, parent, token, children, reference, prepare() {}, forcible: at => at > 0 && best[at] !== null, bestFrom: at => best[at] };
}

// The candidates of a step: continuations of what is alive, the most probable first.
function candidatesOf(one, alive, step, most, alpha) {
  const candidates = alive.flatMap(mother => one.children[mother.at].map(at => ({ id: 0, at, step, parent: mother.node,
    token: one.token[at], lp: one.lp[at], score: one.lp[at] / penalty(step, alpha), fate: "pruned" })));
  candidates.sort((a, b) => b.lp - a.lp).splice(most);
  return candidates;
}

// Of k beams with 2k candidates: an alive and a finished pool of `places`, until the bound or the cap stops it.
export function search(one, k, alpha, places, cap) {
  let alive = [{ at: 0, lp: 0, node: null }], finished = [], proven = false, step = 0;
  const nodes = [], steps = [], most = k > 1 ? 2 * k : 1;
  while (!proven && step < cap) {
    step++;
    const candidates = candidatesOf(one, alive, step, most, alpha);
    candidates.forEach((node, i) => { Object.assign(node, { id: nodes.length, rank: i + 1, of: candidates.length }); nodes.push(node); });
    const ended = candidates.filter(node => node.token === EOS);
    for (const node of [...finished, ...ended]) node.fate = "evicted";
    finished = [...finished, ...ended].sort((a, b) => b.score - a.score).slice(0, places);
    for (const node of finished) node.fate = "finished";
    const staying = candidates.filter(node => node.token !== EOS).slice(0, k);
    for (const node of staying) node.fate = "alive";
    alive = staying.map(node => ({ at: node.at, lp: node.lp, node }));
    const hope = alive.length ? alive[0].lp / penalty(cap, alpha) : -Infinity;
    const held = finished.length === places ? finished[places - 1].score : -Infinity;
    proven = held >= hope;
    steps.push({ hope, held, finished: finished.map(node => node.id), last: alive.length ? alive[alive.length - 1].lp : -Infinity, alive: alive.map(a => a.at) });
  }
  const returned = [...finished];
  if (step >= cap) returned.push(...alive.map(a => a.node).slice(0, places - finished.length));
  if (!proven) for (const { node } of alive) node.fate = "cap";
  return { nodes, steps, returned, stopped: proven ? "bound" : "cap" };
}
