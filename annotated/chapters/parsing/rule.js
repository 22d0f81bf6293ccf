// Well-formed brackets only, in the page: which tokens keep what was written on the way to a tree, as annotated.parsing.well_formed
// has it. A bracket or a leaf may be several tokens; a bracket is opened only while there is room to close it before the cap.
import { EOS, SPECIAL } from "../../viz/engine/tokenizer.js";

const OPENS = "\u02bf", CLOSES = "\u02be", DOLLAR = "\u02e2"; // letters in the place of signs, so that a tokenizer keeps each token whole

// The text of a linear form, and back: "(NP XX )NP" is written "ʿNP XX NPʾ".
export const writtenForm = tokens => tokens.map(token =>
  token.startsWith("(") ? OPENS + token.slice(1) : token.startsWith(")") ? token.slice(1) + CLOSES : token).join(" ").replaceAll("$", DOLLAR);
export const readForm = text => text.replaceAll(DOLLAR, "$").split(/\s+/).filter(Boolean).map(word =>
  word.startsWith(OPENS) ? `(${word.slice(1)}` : word.endsWith(CLOSES) ? `)${word.slice(0, -1)}` : word);

// Parts of speech of the Penn Treebank, which stand for the words.
export const TAGS = ("CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ "
  + "WDT WP WP$ WRB # $ . , : `` '' -LRB- -RRB-").split(" ").sort();

const START = { open: [], leaves: 0, closed: false, ended: false, steps: 0, partial: [] };
const begins = (pieces, part) => part.every((id, i) => pieces[i] === id);
const same = (pieces, part) => pieces.length === part.length && begins(pieces, part);

export class WellFormed {
  // `leaves`: what may stand for a word, parts of speech. The labels are those whose closing bracket is one token.
  constructor(tokenizer, leaves) {
    const texts = tokenizer.pieces.map((_, id) => id < SPECIAL ? "" : tokenizer.decode([id]));
    this.leaves = leaves;
    this.labels = texts.filter(text => text.startsWith(" ") && text.endsWith(CLOSES) && text.length > 2).map(text => text.slice(1, -1)).sort();
    const tokens = [...leaves, ...this.labels.flatMap(label => [`(${label}`, `)${label}`])], encode = text => tokenizer.encode(text);
    this.pieces = new Map(tokens.map(token => [token, encode(` ${writtenForm([token])}`)]));
    this.first = this.labels.map(label => [`(${label}`, encode(writtenForm([`(${label}`]))]);
    const costs = leaves.map(leaf => this.cost(leaf)), brackets = this.labels.map(label => this.cost(`(${label}`) + this.cost(`)${label}`));
    this.leafCost = Math.min(...costs);
    this.spare = Math.max(...brackets, Math.max(...costs) - this.leafCost); // room from which on everything may be written
    this.states = new Map();
  }

  cost(token) {
    return this.pieces.get(token).length;
  }

  // Ids that may follow `ids`, of a sentence of so many words that may take `limit` tokens, the end token included.
  next(ids, words, limit) {
    return this.following(this.reached(ids, { words, limit }), { words, limit });
  }

  reached(ids, sentence) {
    const key = [sentence.words, sentence.limit, ...ids].join(" ");
    if (!this.states.has(key)) {
      if (this.states.size > 20000) this.states.clear();
      this.states.set(key, ids.length ? this.after(this.reached(ids.slice(0, -1), sentence), ids.at(-1), sentence) : START);
    }
    return this.states.get(key);
  }

  after(state, id, sentence) {
    if (!state || !this.following(state, sentence).has(id)) return null;
    const longer = [...state.partial, id];
    if (this.words(state, sentence).some(([, pieces]) => begins(pieces, longer))) return { ...state, partial: longer };
    const done = this.completed(state, sentence); // the token begins another word
    return id === EOS ? { ...done, ended: true } : { ...done, partial: [id] };
  }

  following(state, sentence) {
    if (!state || state.ended) return new Set();
    const { partial } = state, words = this.words(state, sentence), found = new Set();
    for (const [, pieces] of words) if (pieces.length > partial.length && begins(pieces, partial)) found.add(pieces[partial.length]);
    if (words.some(([, pieces]) => same(pieces, partial))) {
      const done = this.completed(state, sentence);
      if (done.closed) found.add(EOS); else for (const [, pieces] of this.words(done, sentence)) found.add(pieces[0]);
    }
    return found;
  }

  // The state after the word whose tokens are all there.
  completed(state, sentence) {
    const [token] = this.words(state, sentence).find(([, pieces]) => same(pieces, state.partial)), steps = state.steps + state.partial.length;
    if (token.startsWith("(")) return { ...START, open: [...state.open, [token.slice(1), false]], leaves: state.leaves, steps };
    const closes = token.startsWith(")"), rest = closes ? state.open.slice(0, -1) : state.open, within = rest.at(-1);
    const open = within ? [...rest.slice(0, -1), [within[0], true]] : [];
    return { ...START, open, leaves: state.leaves + (closes ? 0 : 1), closed: !rest.length, steps };
  }

  // The words that may be written next, each with its tokens.
  words({ open, leaves, closed, steps }, { words, limit }) {
    if (closed) return [];
    if (!open.length) return this.first;
    const missing = words - leaves, [label, filled] = open.at(-1), names = [];
    const room = limit - steps - open.reduce((sum, [name]) => sum + this.cost(`)${name}`), 0) - missing * this.leafCost - 1;
    if (missing) {
      names.push(...this.leaves.filter(leaf => room >= this.spare || this.cost(leaf) === this.leafCost));
      if (room >= this.spare) names.push(...this.labels.map(name => `(${name}`));
    }
    if (filled && (!missing || open.length > 1)) names.push(`)${label}`);
    return names.map(name => [name, this.pieces.get(name)]);
  }
}
