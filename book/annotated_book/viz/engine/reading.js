// What a model has read: the words of its training text and some of its sentences; and what of a reader's text is none of it.
const TEXT_PART = /[\p{L}\p{M}\p{N}]+(?:[’'.:-][\p{L}\p{M}\p{N}]+)*|\S/gu;
const READ_NUMBER = /^(?:[1-9]\d{0,2}|19[5-9]\d|20[0-2]\d|[12]?\d:[0-5][05])$/; // numbers, years and times of day as training has them
const TITLES = /\b(Mr|Mrs)\./g; // a full stop that ends no sentence
const STEM = 5; // letters by which an unknown word is like a known one
const FEWEST = 3, OTHER_KIND = 0.7; // words of a sentence that is offered; what a question is worth where a statement is asked for
const UNSURE = -0.16; // nats a token: the translation of each of 400 test sentences has more, that of a strange construction has less

const capital = word => word[0].toUpperCase() + word.slice(1);
const signedText = number => number.toFixed(2).replace("-", "−");
const uncapital = word => word[0].toLowerCase() + word.slice(1);

// Words and marks of a text: { word, start, end, first }; `first` for the first one of a sentence.
export function partsOfText(text) {
  const found = [...text.replace(TITLES, "$1 ").matchAll(TEXT_PART)].map(({ 0: word, index }) => ({ word, start: index, end: index + word.length }));
  const ends = i => /^[.?!]$/.test(found[i].word) && !/^\p{L}\.\p{L}$/u.test(found[i - 1]?.word ?? ""); // "e.g." ends no sentence
  return found.map((one, i) => ({ ...one, first: i === 0 || ends(i - 1) }));
}

export class Reading {
  // `longest`: the words of the longest sentence in training, marks among them.
  constructor({ words, sentences, longest }) {
    Object.assign(this, { words: new Set(words), sentences, longest, lower: new Set(words.map(word => word.toLowerCase())) });
    const beginnings = mark => new Set(sentences.filter(sentence => sentence.endsWith(mark)).map(sentence => sentence.split(" ")[0]));
    this.asking = beginnings("?").difference(beginnings("."));
    this.parts = sentences.map(sentence => new Set(partsOfText(sentence).map(({ word }) => word.toLowerCase())));
    this.count = new Map();
    for (const part of this.parts) for (const word of part) this.count.set(word, (this.count.get(word) ?? 0) + 1);
  }

  // Training has a word: as it is, or with the capital letter that the first word of a sentence has; at that place never without.
  has({ word, first }) {
    if (READ_NUMBER.test(word)) return true;
    return first ? word === capital(word) && (this.words.has(word) || this.words.has(uncapital(word))) : this.words.has(word);
  }

  // The words that training does not have, as `partsOfText` gives them.
  unknown(text) {
    return partsOfText(text).filter(one => !this.has(one));
  }

  // The unknown words, but for a last one that may still become a known one while it is typed.
  strange(text) {
    const unknown = this.unknown(text), last = unknown.at(-1), begins = word => word.startsWith(last.word.toLowerCase());
    return last?.end === text.length && [...this.lower].some(begins) ? unknown.slice(0, -1) : unknown;
  }

  // Those of them that it has in no spelling, in quotation marks.
  neverRead(text) {
    const words = new Set(this.strange(text).filter(({ word }) => !this.lower.has(word.toLowerCase())).map(({ word }) => word));
    return words.size ? inQuotes(words, "or") : "";
  }

  // A word as training spells it at its place; unchanged if it does in no way.
  spelling({ word, first }) {
    const ways = first ? [capital(word)] : [word, capital(word), uncapital(word), word.toLowerCase(), capital(word.toLowerCase())];
    return [...ways, capital(word.toLowerCase())].find(way => this.has({ word: way, first })) ?? word;
  }

  // The text with the capital letters and the full stop that training always has.
  tidied(text) {
    const made = partsOfText(text).reverse().reduce((whole, one) => whole.slice(0, one.start) + this.spelling(one) + whole.slice(one.end), text);
    return /[.?!]$/.test(made.trim()) ? made.trim() : `${made.trim()}${this.asking.has(made.trim().split(" ")[0]) ? "?" : "."}`;
  }

  // The sentence of training that is most like the text: the cosine of their words, rare ones counting most. An unknown word asks for
  // those that begin alike.
  nearest(text) {
    const asked = this.tidied(text), wanted = new Set(partsOfText(asked).map(({ word }) => word.toLowerCase()));
    for (const word of [...wanted].filter(one => !this.count.has(one) && one.length > STEM)) {
      for (const known of this.count.keys()) if (known.slice(0, STEM) === word.slice(0, STEM)) wanted.add(known);
    }
    const weight = word => Math.log((1 + this.sentences.length) / this.count.get(word)) ** 2, sum = words => words.reduce((all, word) => all + weight(word), 0);
    const values = this.parts.map((part, i) => (this.sentences[i].at(-1) === asked.at(-1) ? 1 : OTHER_KIND) * sum([...part].filter(word => wanted.has(word)))
      / Math.sqrt(sum([...part])));
    return this.sentences[values.indexOf(Math.max(...values))];
  }

  // Ways to go on with the word that is being typed: whole texts, the commonest word first.
  completions(text, most = 5) {
    const [, before, begun] = text.match(/^(.*?)([\p{L}’'-]*)$/su);
    if (begun.length < 2) return [];
    const first = partsOfText(`${before}x`).at(-1).first;
    const found = [...this.words].filter(word => word.length > begun.length && word.toLowerCase().startsWith(begun.toLowerCase()));
    const often = word => this.count.get(word.toLowerCase()) ?? 0;
    return found.sort((a, b) => often(b) - often(a)).slice(0, most).map(word => before + (first ? capital(word) : word));
  }

  // What a reader should know of a text before its translation is judged; nothing for a text like those of training.
  notes(text) {
    const words = partsOfText(text), unknown = this.unknown(text), notes = [];
    const spelled = new Set(unknown.filter(({ word }) => this.lower.has(word.toLowerCase())));
    const strange = new Set(unknown.filter(one => !spelled.has(one)).map(({ word }) => word));
    if (strange.size) notes.push(`This model has never read ${inQuotes(strange, "or")}: its training text has about ${Math.round(this.words.size / 100)}00 different words.`);
    const asRead = is => new Set([...spelled].filter(({ first }) => first === is).map(one => this.spelling(one))), begun = asRead(true), inside = asRead(false);
    if (begun.size) notes.push(`At the beginning of a sentence it has read ${inQuotes(begun, "and")} in this spelling only.`);
    if (inside.size) notes.push(`It has read ${inQuotes(inside, "and")} in this spelling only.`);
    if (!/[.?!]\s*$/.test(text)) notes.push("Its sentences end with a full stop, “?” or “!”.");
    if (words.filter(({ first }) => first).length > 1) notes.push("It was trained on single sentences; of several it often translates the first only.");
    if (words.length > this.longest) notes.push(`The longest sentence of its training has ${this.longest} words and marks; this text has ${words.length}.`);
    return notes;
  }

  // The same of a text without notes, from its translation by the whole model.
  doubts({ logProbability, steps }) {
    const mean = logProbability / steps.length;
    return mean > UNSURE ? [] : [`The model has read all these words, but is unsure of the sentence: ${signedText(mean)} nats a token, where its own test ` +
      `sentences have more than ${signedText(UNSURE)}. Its training text may lack the construction.`];
  }

  // A sentence in the place of one with notes, and what is said before it: the same, or the first of several, as training would
  // spell it, if that is all, or else the nearest one that it has read.
  instead(text) {
    const [, second] = partsOfText(text).filter(({ first }) => first), tidy = this.tidied(text.slice(0, second?.start));
    const fits = tidy !== text && tidy.split(" ").length >= FEWEST && !this.notes(tidy).length;
    return fits ? { said: "As its training text would have it:", sentence: tidy } : { said: "A sentence that it has read:", sentence: this.nearest(text) };
  }
}

const MOST_NAMED = 6, LONGEST_NAME = 24;
function inQuotes(words, last) {
  const short = word => word.length > LONGEST_NAME ? `${word.slice(0, LONGEST_NAME)} …` : word;
  const named = [...words].slice(0, MOST_NAMED).map(word => `“${short(word)}”`), more = words.size - named.length;
  if (more > 0) named.push(`${more} more`);
  return named.length > 1 ? `${named.slice(0, -1).join(", ")} ${last} ${named.at(-1)}` : named[0];
}
