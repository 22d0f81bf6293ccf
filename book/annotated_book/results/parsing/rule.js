// Well-formed brackets only, in the page: which tokens keep what was written on the way to a tree, as annotated.parsing.well_formed
// has it. A bracket or a leaf may be several tokens; a bracket is opened only while there is room to close it before the cap.
import { EOS, SPECIAL } from "../../viz/engine/tokenizer.js";

const OPENS = "\u02bf", CLOSES = "\u02be", DOLLAR = "\u02e2"; // letters in the place of signs, so that a tokenizer keeps each token whole

// The text of a linear form, and back: "(NP XX )NP" is written "ʿNP XX NPʾ".
export const writtenForm = tokens => tokens.map(token =>
  token.startsWith("(") ? OPENS + token.slice(1) : token.startsWith(")") ? token.slice(1) + CLOSES : token).join(" ").replaceAll("$", DOLLAR);
export const readForm = text => text.replaceAll(DOLLAR, "$").split(/\s+/).filter(Boolean).map(word =>
  word.startsWith(OPENS) ? `(${word.slice(1)}` : word.endsWith(CLOSES) ? `)${word.slice(0, -1)}` : word);

const NESTED = 8; // most brackets that are opened in a row
const START = { open: [], leaves: 0, closed: false, ended: false, steps: 0, partial: [] };
const begins = (pieces, part) => part.every((id, i) => pieces[i] === id);
const same = (pieces, part) => pieces.length === part.length && begins(pieces, part);

// The brackets of a vocabulary: labels are those whose closing bracket is one token. `of` makes the rule for one sentence.
export class WellFormed {
  constructor(tokenizer) {
    const texts = tokenizer.pieces.map((_, id) => id < SPECIAL ? "" : tokenizer.decode([id]));
    this.labels = texts.filter(text => text.startsWith(" ") && text.endsWith(CLOSES) && text.length > 2).map(text => text.slice(1, -1)).sort();
    this.piecesOf = token => tokenizer.encode(` ${writtenForm([token])}`);
    this.first = this.labels.map(label => [`(${label}`, tokenizer.encode(writtenForm([`(${label}`]))]);
  }

  // `leaves[k]`: the tokens that may stand for word k; `limit`: the most tokens that may be written, the end token included.
  of(leaves, limit) {
    return new SentenceRule(this, leaves, limit);
  }
}

class SentenceRule {
  constructor({ labels, first, piecesOf }, leaves, limit) {
    const tokens = new Set([...leaves.flat(), ...labels.flatMap(label => [`(${label}`, `)${label}`])]);
    Object.assign(this, { labels, first, leaves, limit, states: new Map(), pieces: new Map([...tokens].map(token => [token, piecesOf(token)])) });
    const brackets = labels.map(label => this.cost(`(${label}`) + this.cost(`)${label}`));
    this.spare = Math.max(...brackets, ...leaves.flat().map(leaf => this.cost(leaf))); // room from which on everything may be written
    this.needed = [1]; // tokens that the leaves from each word on take at least, and the end
    for (const some of [...leaves].reverse()) this.needed.unshift(this.needed[0] + Math.min(...some.map(leaf => this.cost(leaf))));
  }

  cost(token) {
    return this.pieces.get(token).length;
  }

  // Ids that may follow `ids`.
  next(ids) {
    return this.following(this.reached(ids));
  }

  reached(ids) {
    const key = ids.join(" ");
    if (!this.states.has(key)) this.states.set(key, ids.length ? this.after(this.reached(ids.slice(0, -1)), ids.at(-1)) : START);
    return this.states.get(key);
  }

  after(state, id) {
    if (!state || !this.following(state).has(id)) return null;
    const longer = [...state.partial, id];
    if (this.words(state).some(([, pieces]) => begins(pieces, longer))) return { ...state, partial: longer };
    const done = this.completed(state); // the token begins another word
    return id === EOS ? { ...done, ended: true } : { ...done, partial: [id] };
  }

  following(state) {
    if (!state || state.ended) return new Set();
    const { partial } = state, words = this.words(state), found = new Set();
    for (const [, pieces] of words) if (pieces.length > partial.length && begins(pieces, partial)) found.add(pieces[partial.length]);
    if (words.some(([, pieces]) => same(pieces, partial))) {
      const done = this.completed(state);
      if (done.closed) found.add(EOS); else for (const [, pieces] of this.words(done)) found.add(pieces[0]);
    }
    return found;
  }

  // The state after the word whose tokens are all there.
  completed(state) {
    const [token] = this.words(state).find(([, pieces]) => same(pieces, state.partial)), steps = state.steps + state.partial.length;
    if (token.startsWith("(")) return { ...START, open: [...state.open, [token.slice(1), false]], leaves: state.leaves, steps };
    const closes = token.startsWith(")"), rest = closes ? state.open.slice(0, -1) : state.open, within = rest.at(-1);
    const open = within ? [...rest.slice(0, -1), [within[0], true]] : [];
    return { ...START, open, leaves: state.leaves + (closes ? 0 : 1), closed: !rest.length, steps };
  }

  // The words that may be written next, each with its tokens.
  words({ open, leaves, closed, steps }) {
    if (closed) return [];
    if (!open.length) return this.first;
    const some = this.leaves[leaves] ?? [], missing = some.length > 0, [label, holds] = open.at(-1);
    const room = this.limit - steps - open.reduce((sum, [name]) => sum + this.cost(`)${name}`), 0) - this.needed[leaves];
    const roomy = room >= this.spare, least = Math.min(...some.map(leaf => this.cost(leaf)));
    const names = some.filter(leaf => roomy || this.cost(leaf) === least);
    const empty = open.length - 1 - open.findLastIndex(([, filled]) => filled); // brackets opened in a row with nothing in them
    if (missing && roomy && empty < NESTED) names.push(...this.labels.map(name => `(${name}`));
    if (holds && (!missing || open.length > 1)) names.push(`)${label}`);
    return names.map(name => [name, this.pieces.get(name)]);
  }
}
