// Parser in the page: the engine's Transformer with the parsing weights writes a tree as brackets (section 6.3), greedily or
// with a beam, with or without the rule that lets only well-formed brackets through. A test holds it to annotated.parsing.
import { EOS } from "../../viz/engine/tokenizer.js";
import { beam } from "../../viz/engine/beam.js";
import { complete } from "../../viz/engine/switches.js";
import { greedy } from "../../viz/engine/decoding.js";
import { Transformer } from "../../viz/engine/transformer.js";
import { pennWords, readLinear, take } from "./linear.js";

export const EXTRA = 300, ALPHA = 0.3; // section 6.3: the cap is n + 300 tokens, the exponent of the length penalty 0.3
const UNKNOWN = 3, WHOLE = complete({});

// What may follow tokens that are the beginning of a well-formed tree over `count` words: a test of one token, null for the end.
export function allowedAfter(tokens, count) {
  const made = { nodes: [], leaves: [], open: [], root: null };
  tokens.forEach((token, at) => take(made, token, at, null));
  const within = made.open.at(-1), wordsLeft = made.leaves.length < count;
  if (made.root) return token => token === null;
  const closes = within && within.children.length && (made.open.length > 1 || !wordsLeft) ? `)${within.label}` : undefined;
  return token => {
    if (token === null) return false;
    if (token.startsWith("(")) return wordsLeft;
    if (token.startsWith(")")) return token === closes;
    return Boolean(within) && wordsLeft;
  };
}

// The model, whose tokens that the rule forbids have no probability; the others keep theirs.
class RuledTransformer extends Transformer {
  next(written, state, set, options) {
    const row = super.next(written, state, set, options), { names, words } = state.encoded;
    const allows = allowedAfter(written.slice(1).map(id => names[id]), words);
    for (let id = 0; id < row.length; id++) {
      const isToken = id === EOS || (id in names);
      if (!isToken || !allows(id === EOS ? null : names[id])) row[id] = -Infinity;
    }
    return row;
  }
}

export class Parser {
  // `tokens[id]` is the text of each token; `brackets` the ids that a tree may be written with: brackets and the symbol of a word.
  constructor({ config, tensors, bytes, tokens, brackets }) {
    this.tokens = tokens;
    this.names = Object.fromEntries(brackets.map(id => [id, tokens[id]]));
    this.idOf = new Map(tokens.map((token, id) => [token, id]));
    for (const id of brackets) this.idOf.delete(tokens[id]);
    this.transformer = new Transformer({ config, tensors, bytes });
    this.ruled = Object.assign(Object.create(RuledTransformer.prototype), this.transformer, { buffers: {} });
  }

  // { words, ids, unknown }: the ids of a sentence, and those of its words that the model has never read.
  read(text) {
    const words = pennWords(text), known = word => this.idOf.get(word);
    return { words, ids: [...words.map(word => known(word) ?? UNKNOWN), EOS], unknown: words.filter(word => known(word) === undefined) };
  }

  text(ids) {
    return ids.map(id => this.tokens[id]);
  }

  // Yields { tokens, logProbability } of the best beginning after each step; returns the same of the whole, with `ended`, `steps`
  // (greedy search only) and `tree`, as linear.js reads it. `size` 1 is greedy search.
  *parse(text, { size = 1, rule = false, alpha = ALPHA, most } = {}) {
    const { words, ids } = this.read(text), model = rule ? this.ruled : this.transformer;
    const encoded = Object.assign(model.encode(ids, WHOLE), { names: this.names, words: words.length });
    const options = { most: most ?? ids.length + EXTRA, encoded };
    const found = size === 1 ? yield* this.written(greedy(model, ids, WHOLE, options))
      : yield* this.searched(beam(model, ids, WHOLE, { ...options, size, alpha }));
    const tokens = this.text(found.ids);
    return { ...found, tokens, words, tree: readLinear(tokens, words) };
  }

  *written(search) {
    const ids = [];
    let sum = 0;
    for (let next = search.next(); ; next = search.next()) {
      if (next.done) return { ids, ended: next.value.ended, logProbability: sum, steps: next.value.steps };
      sum += next.value.logProbability;
      if (next.value.id !== EOS) ids.push(next.value.id);
      yield { tokens: this.text(ids), logProbability: sum };
    }
  }

  *searched(search) {
    for (let next = search.next(); ; next = search.next()) {
      if (next.done) {
        const [best] = next.value;
        return { ids: best.tokens, ended: best.finished, logProbability: best.logProbability, steps: null };
      }
      const best = next.value.finished[0] ?? next.value.alive[0];
      yield { tokens: this.text(best.tokens), logProbability: best.logProbability };
    }
  }
}

export const DOUBT = -0.05; // nats per token: TODO

// What is said of a parse; `nats` writes a log-probability.
export function sayParse({ tree, tokens, words, logProbability, ended }, unknown, nats) {
  const strange = [...new Set(unknown)].map(word => `“${word}”`).join(", ");
  const guess = strange ? `Not among the words of the training sentences: ${strange}. The parser cannot know what they are, so this is a guess. ` : "";
  if (tree.fault) return `${guess}Malformed, ${tree.fault.fault}: ${tree.fault.message}${ended ? "" : ", where the cap was reached"}. There is no tree.`;
  const doubt = !strange && logProbability / (tokens.length + 1) < DOUBT ? " The parser is less certain than of sentences like those of its training." : "";
  return `${guess}${tree.nodes.length} constituents over ${words.length} words, in ${tokens.length} tokens; log-probability ${nats(logProbability)} nats.${doubt}`;
}
