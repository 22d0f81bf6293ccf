// The tree that the page draws: a search, greedy search, the reference and a forced prefix, and its layout.
import { EOS, pathOf, penalty, search } from "./search.js";

// What is searched for, and what stands beside it. `state` holds the widget's traits.
export function compare(one, cap, state) {
  const { beam: k, alpha, force } = state;
  one.prepare(k);
  const found = search(one, k, alpha, state.all ? k : 1, cap);
  const result = (name, tokens, lp) => ({ name, tokens, n: tokens.length, lp, score: lp / penalty(tokens.length, alpha) });
  const winner = found.returned[0], gold = one.reference, greedy = search(one, 1, alpha, 1, cap).returned[0];
  const best = result("winner", pathOf(one, winner.at), winner.lp);
  const others = { greedy: result("greedy", pathOf(one, greedy.at), greedy.lp) };
  if (gold) others.reference = result("reference", gold.tokens, gold.steps.reduce((x, y) => x + y, 0));
  const forced = force > 0 ? one.bestFrom(force) : null;
  if (forced) { // found with a beam of 4 and alpha 0.6; the search shown may have come upon a better ending
    const begins = at => at === force || (at > 0 && begins(one.parent[at]));
    const met = found.nodes.filter(n => n.token === EOS && begins(n.at)).map(n => result("forced", pathOf(one, n.at), n.lp));
    const known = result("forced", [...pathOf(one, forced.base), ...forced.suffix], forced.lp);
    others.forced = [known, ...met].reduce((x, y) => y.score > x.score + 1e-6 ? y : x);
  }
  return { one, cap, found, best, others };
}

// The picture's nodes, by number: those of the search, and those of paths that it never took; and the routes in it.
export function nodesOf({ one, found, best, others }, state) {
  const shown = new Map([[0, { at: 0, step: 0, kids: [], fate: "alive", token: -1, lp: 0 }]]);
  for (const node of found.nodes) {
    if (node.fate !== "pruned" || state.graveyard) shown.set(node.at, { ...node, kids: [], up: shown.get(one.parent[node.at]) });
  }
  const routes = { winner: best.tokens };
  for (const name of ["greedy", "reference"]) if (state[name] && others[name]) routes[name] = others[name].tokens;
  if (others.forced) routes.forced = others.forced.tokens;
  const lines = Object.fromEntries(Object.entries(routes).map(([name, tokens]) => [name, route(one, found, shown, tokens)]));
  for (const node of shown.values()) node.up?.kids.push(node);
  const first = new Set(lines.winner);
  for (const node of shown.values()) node.kids.sort((x, y) => first.has(y) - first.has(x) || (y.lp ?? -99) - (x.lp ?? -99));
  return { shown, lines };
}

// The nodes of a translation; those that the picture lacks are added, as ghosts if the search never had them.
function route(one, found, shown, tokens) {
  let here = shown.get(0), at = 0, key = "";
  return tokens.map((token, i) => {
    const next = at === null ? undefined : one.children[at].find(c => one.token[c] === token);
    at = next ?? null;
    key += `/${token}`;
    const own = at ?? key;
    if (!shown.has(own)) {
      const node = at && found.nodes.find(n => n.at === at);
      shown.set(own, { ...(node || { fate: "ghost" }), at: own, step: i + 1, token, kids: [], up: here, lp: at ? one.lp[at] : null });
    }
    return here = shown.get(own);
  });
}

// Rows for a tree that grows to the right: a best child stands beside its mother, and no two lines cross.
function rowsOf(root) {
  const free = [];
  const chain = node => node.kids.length ? [node, ...chain(node.kids[0])] : [node];
  (function place(node, low) {
    const line = chain(node), row = Math.max(low, ...line.map(n => free[n.step] ?? 0));
    for (const n of line) { n.row = row; free[n.step] = row + 1; }
    for (const n of [...line].reverse()) for (const kid of n.kids.slice(1)) place(kid, row + 1);
  })(root, 0);
}

// The picture after some steps of the search: what came later is taken out, and what has ended is as it was then.
export function cutAt({ shown, lines }, found, step) {
  const held = found.steps[step - 1].finished, soon = node => node.step <= step;
  for (const [at, node] of shown) {
    if (!soon(node)) { shown.delete(at); continue; }
    node.kids = node.kids.filter(soon);
    if (node.fate === "cap" && step < found.steps.length) node.fate = "alive";
    if (node.fate === "finished" || node.fate === "evicted") node.fate = held.includes(node.id) ? "finished" : "evicted";
  }
  for (const name of Object.keys(lines)) lines[name] = lines[name].filter(soon);
}

const LETTER = 7.3, BROAD = 4, INDENT = 26; // pixels: of a letter; what a broad one has more; from the left edge to the first step
const widthOf = text => LETTER * text.length + BROAD * (text.match(/[mwMW%]/g) ?? []).length;
export const NARROW = 620; // pixels: below this a label's percentage stands below the line
export const SHRUNK = 0.84; // how small a picture may become that is a little too wide for its place; wider ones are broken like lines of text

// The probability of a node's token after the tokens before it, if it is known.
export function share({ lp, up }) {
  if (!up || lp === null || up.lp === null) return "";
  const percent = Math.round(100 * Math.exp(lp - up.lp));
  return percent ? `${percent}%` : "<1%";
}

// Steps whose columns begin at `x`, in bands below each other that are as wide as there is room: for each step its band, and
// how far it is moved to the left.
function bandsOf(x, start, room) {
  const band = [], moved = [];
  let line = 0, shift = 0;
  for (let step = 0; step < x.length - 1; step++) {
    if (step > 1 && x[step + 1] - shift > room) { line += 1; shift = x[step] - start - INDENT; }
    band[step] = line;
    moved[step] = shift;
  }
  return { band, moved };
}

// Where everything stands, in pixels. Lines run at the height of the marks and labels above them, so that no line crosses a
// label; in a narrow place a label's percentage stands below the line. Steps that do not fit go on in a band below.
export function layout(shown, label, bound, room = Infinity) {
  const narrow = room < NARROW, start = bound ? 44 : 14;
  rowsOf(shown.get(0));
  const top = bound ? 66 : 24, row = narrow ? 46 : 28, least = bound ? 52 : narrow ? 38 : 40;
  const wide = node => {
    const token = node.step ? widthOf(label(node.token, node.step)) : 0, percent = node.step ? widthOf(share(node)) : 0;
    return narrow ? Math.max(token, percent) : token + percent + (percent ? LETTER : 0);
  };
  const widest = [], x = [start];
  for (const n of shown.values()) widest[n.step] = Math.max(widest[n.step] ?? 0, wide(n));
  widest.forEach((most, step) => { x[step + 1] = x[step] + (step ? Math.max(least, (narrow ? 12 : 16) + most) : INDENT); });
  const { band, moved } = bandsOf(x, start, narrow || SHRUNK * (x.at(-1) + 8) > room ? room - 8 : Infinity);
  const lowest = [], tops = [0];
  for (const n of shown.values()) lowest[band[n.step]] = Math.max(lowest[band[n.step]] ?? 0, n.row);
  lowest.forEach((last, line) => { tops[line + 1] = tops[line] + top + 16 + last * row + (narrow ? 24 : 12); });
  const head = step => [x[step] - moved[step], tops[band[step]]], right = Math.max(...moved.map((shift, step) => x[step + 1] - shift));
  const place = ({ step, row: own }) => { const [left, high] = head(step); return [left, high + top + 16 + own * row]; };
  return { head, wide, place, narrow, band, tops, start, right, steps: widest.length - 1, width: right + 8, height: tops.at(-1),
    box(node) { // of a node with its label
      const [left, y] = place(node);
      if (!node.step) return { x: left - 12, y: y - 12, width: 24, height: 24 };
      return { x: left - 9, y: y - 22, width: Math.max(18, 8 + wide(node)), height: narrow ? 42 : 29 };
    } };
}

// From the mother's mark to the mark of a node; several lines side by side are shifted. Of lines that leave a mother together,
// only that of a `whole` one and that of the child in her own row begin at her mark. A line to the band below leaves at the
// right edge and goes on at the left one.
export function turn(node, { place, band, tops, start, right }, shift = 0, whole = true) {
  const [x, y] = place(node).map((at, i) => at + i * shift), [left, above] = place(node.up).map((at, i) => at + i * shift);
  const gap = x - 9 + shift;
  if (band[node.step] !== band[node.up.step]) {
    const again = above + tops[band[node.step]] - tops[band[node.up.step]], straight = again === y;
    return `${whole || straight ? `M${left} ${above} H${right} M${start}` : `M${gap}`} ${again} ${straight ? "" : `H${gap} V${y} `}H${x}`;
  }
  return above === y ? `M${left} ${y} H${x}` : `M${whole ? left : gap} ${above} H${gap} V${y} H${x}`;
}

// The node that an arrow key leads to, if any.
export function neighbour(shown, here, key) {
  const column = [...shown.values()].filter(n => n.step === here.step).sort((a, b) => a.row - b.row), i = column.indexOf(here);
  return { ArrowRight: here.kids[0], ArrowLeft: here.up, ArrowUp: column[i - 1], ArrowDown: column[i + 1], Home: shown.get(0) }[key];
}
