// Linear form of trees in the page: (S (NP XX XX )NP (VP XX )VP XX )S. The same nine faults, at the same token and in the
// same words, as annotated.parsing.linear; a test holds the two together. What comes before a fault is kept, for drawing.
const quoted = token => `'${token}'`;

// Tokens of a reader's text: a parenthesis begins a new one, whether or not a space stands before it.
export const tokensOf = text => text.match(/[()][^\s()]*|[^\s()]+/g) ?? [];

// The words of a sentence as its tree has them: "Anna's", "cannot" and marks apart (annotated.parsing.penn_words).
export function pennWords(text) {
  const apart = text.trim().replace(/,(?=\s)|[.?!]$/g, " $&").replaceAll("'s ", " 's ").replace(/\b([Cc]an)not\b/g, "$1 not");
  return apart.split(/\s+/).filter(Boolean);
}

// { nodes, root, open, leaves, fault }. A node is { label, start, end, from, to, depth, parent, children }: words [start, end), tokens
// from its opening bracket to its closing one, `to` -1 while it is open. Leaves are { leaf, token, parent, depth }, among children too.
// `open` are the nodes that wait for their closing bracket; `fault` is { fault, position, message }, or null for one whole tree.
export function readLinear(tokens, words = null) {
  const made = { nodes: [], leaves: [], open: [], root: null, fault: null };
  for (let at = 0; at < tokens.length && !made.fault; at++) made.fault = take(made, tokens[at], at, words);
  made.fault ??= atEnd(made, tokens.length, words);
  return made;
}

const faulty = (fault, position, text) => ({ fault, position, message: `token ${position + 1}: ${text}` }); // readers count from 1

// Reads one more token; the fault, if it is one.
export function take(made, token, at, words) {
  const { open, leaves } = made, within = open.at(-1);
  if (made.root) return faulty("after the end", at, `${quoted(token)} stands after the end of the tree`);
  if (token === "(" || token === ")") return faulty("no label", at, `the bracket ${quoted(token)} has no label`);
  if (token.startsWith("(")) {
    const node = { label: token.slice(1), start: leaves.length, end: -1, from: at, to: -1, depth: open.length, parent: within ?? null, children: [] };
    within?.children.push(node);
    made.nodes.push(node);
    open.push(node);
    return null;
  }
  if (token.startsWith(")")) return close(made, token, at);
  if (!within) return faulty("no bracket", at, `${quoted(token)} stands before the first bracket`);
  if (words && leaves.length === words.length) return faulty("words", at, `there are more leaves than the sentence's ${words.length} words`);
  const leaf = { leaf: leaves.length, token: at, parent: within, depth: open.length };
  within.children.push(leaf);
  leaves.push(leaf);
  return null;
}

function close(made, token, at) {
  const node = made.open.at(-1);
  if (!node) return faulty("unopened", at, `${quoted(token)} closes nothing`);
  if (node.label !== token.slice(1)) return faulty("mismatched", at, `${quoted(token)} closes ${quoted(`(${node.label}`)}`);
  if (!node.children.length) return faulty("nothing inside", at, `the constituent ${quoted(node.label)} has nothing in it`);
  made.open.pop();
  node.to = at;
  node.end = made.leaves.length;
  if (!made.open.length) made.root = node;
  return null;
}

function atEnd({ root, open, leaves }, position, words) {
  if (!root && !open.length) return faulty("empty", 0, "there are no tokens");
  const still = open.length > 1 ? `${open.length} brackets are open, the last is` : "one bracket is open,";
  if (!root) return faulty("unclosed", position, `${still} ${quoted(open.at(-1).label)}`);
  if (words && leaves.length !== words.length) return faulty("words", position, `there are ${leaves.length} leaves for ${words.length} words`);
  return null;
}

// Labelled brackets that two trees share, as annotated.parsing.score counts them: [matched, in gold, in predicted].
// `punctuation[i]` says whether word i is a mark, which is taken out before brackets are compared.
export function countShared(gold, predicted, punctuation) {
  const counted = nodes => bracketsOf(nodes, punctuation).filter(bracket => bracket !== null).length, guessed = counted(predicted.nodes);
  return [guessed - notShared(predicted, gold, punctuation).length, counted(gold.nodes), guessed];
}

// Of each node the bracket as it is counted, or null: an outer bracket, or one around marks alone.
function bracketsOf(nodes, punctuation) {
  const before = [0];
  for (const mark of punctuation) before.push(before.at(-1) + (mark ? 0 : 1));
  return nodes.map(({ label, start, end }) => before[start] < before[end] && !["", "TOP", "S1", "ROOT"].includes(label)
    ? `${label === "PRT" ? "ADVP" : label},${before[start]},${before[end]}` : null);
}

// Numbers of the nodes of `one` whose bracket `other` has not, or not as often.
export function notShared(one, other, punctuation) {
  const left = new Map(), found = [];
  for (const bracket of bracketsOf(other.nodes, punctuation)) left.set(bracket, (left.get(bracket) ?? 0) + 1);
  bracketsOf(one.nodes, punctuation).forEach((bracket, k) => {
    if (bracket === null) return;
    if (left.get(bracket)) left.set(bracket, left.get(bracket) - 1); else found.push(k);
  });
  return found;
}
