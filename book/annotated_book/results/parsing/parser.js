// Parser in the page: the engine's Transformer with the parsing weights writes a tree as brackets (section 6.3), greedily or
// with a beam, with or without the rule that lets only well-formed brackets through. A test holds it to annotated.parsing.
import { EOS } from "../../viz/engine/tokenizer.js";
import { Engine } from "../../viz/engine/engine.js";
import { beam } from "../../viz/engine/beam.js";
import { complete } from "../../viz/engine/switches.js";
import { greedy } from "../../viz/engine/decoding.js";
import { Transformer } from "../../viz/engine/transformer.js";
import { scoreOf } from "./inspector.js";
import { pennWords, readLinear } from "./linear.js";
import { TRAINING_WORDS } from "./words.js";
import { WellFormed, readForm } from "./rule.js";

export const EXTRA = 300, ALPHA = 0.3; // section 6.3: the cap is n + 300 tokens, the exponent of the length penalty 0.3
const WHOLE = complete({}), KNOWN = new Set(TRAINING_WORDS), NUMBER = /^\d+(:\d+)?$/;

// Whether the training trees have a word; numbers and times are all taken for known.
export const isKnown = word => KNOWN.has(word) || NUMBER.test(word) || KNOWN.has(word[0].toLowerCase() + word.slice(1));

// The model under the rule: tokens that it forbids have no probability, the others keep theirs.
class RuledTransformer extends Transformer {
  next(written, state, set, options) {
    const row = super.next(written, state, set, options), allowed = state.encoded.rule.next(written.slice(1));
    for (let id = 0; id < row.length; id++) if (!allowed.has(id)) row[id] = -Infinity;
    return row;
  }
}

export class Parser {
  constructor(model) {
    const plain = new Engine(model), { tokenizer } = plain;
    Object.assign(this, { tokenizer, plain, ruled: plain.derived(RuledTransformer), rule: new WellFormed(tokenizer) });
  }

  // { words, ids, unknown }: the words and token ids of a sentence, and those words that the training trees do not have.
  read(text) {
    const words = pennWords(text.replace(/[()]/g, " ")), ids = [...this.tokenizer.encode(words.join(" ")), EOS];
    return { words, ids, unknown: words.filter(word => !isKnown(word)) };
  }

  tokens(ids) {
    return readForm(this.tokenizer.decode(ids));
  }

  // Yields { tokens } of the best beginning after each step. Returns { ids, tokens, words, tree, ended, logProbability, steps }: `tree` as
  // linear.js reads it, `steps` as decoding.js has them, of greedy search alone. `size` 1 is greedy search.
  *parse(text, { size = 1, rule = false, alpha = ALPHA, most } = {}) {
    const { words, ids } = this.read(text), { transformer } = rule ? this.ruled : this.plain, limit = most ?? ids.length + EXTRA;
    const encoded = Object.assign(transformer.encode(ids, WHOLE), { rule: this.rule.of(words.map(word => [word]), limit) });
    const found = size === 1 ? yield* this.written(greedy(transformer, ids, WHOLE, { most: limit, encoded }))
      : yield* this.searched(beam(transformer, ids, WHOLE, { most: limit, encoded, size, alpha }));
    const tokens = this.tokens(found.ids);
    return { ...found, tokens, words, tree: readLinear(tokens, words) };
  }

  *written(search) {
    const ids = [];
    for (let next = search.next(); ; next = search.next()) {
      if (next.done) return { ...next.value, ids };
      if (next.value.id !== EOS) ids.push(next.value.id);
      yield { tokens: this.tokens(ids) };
    }
  }

  *searched(search) {
    for (let next = search.next(); ; next = search.next()) {
      if (next.done) {
        const [best] = next.value;
        return { ids: best.tokens, ended: best.finished, logProbability: best.logProbability };
      }
      yield { tokens: this.tokens((next.value.finished[0] ?? next.value.alive[0]).tokens) };
    }
  }
}

export const DOUBT = -0.14; // nats per token: nineteen in twenty sentences of the test set have more

const judged = ({ matched, right, guessed, f1 }) => matched === right && matched === guessed ? " It is the right tree."
  : ` It is not the right tree: ${matched} of ${guessed} brackets are right, F1 ${f1.toFixed(1)}.`;

const SO_FAR = "The string is no tree; the drawing shows what was built up to there.";

// The drawing has the sentence's words, the string those that the parser wrote; XX stands for a word that is not written.
const exchanged = ({ leaves }, tokens, words) => {
  const n = leaves.filter(({ token, leaf }) => tokens[token] !== "XX" && tokens[token] !== words[leaf]).length;
  return n ? ` In ${n} of its leaves the string has another word than the sentence; the drawing has the sentence's own.` : "";
};

const count = (n, name) => `${n} ${name}${n === 1 ? "" : "s"}`;

// What is said of a parse; `nats` writes a log-probability, `gold` is the right tree's linear form, where it is known.
export function sayParse({ tree, tokens, ids, words, logProbability, ended }, unknown, nats, gold = null) {
  const strange = [...new Set(unknown)].map(word => `“${word}”`).join(", ");
  const warned = strange ? `Not among the words of the training sentences: ${strange}. The parser cannot know how they are used. ` : "";
  const other = exchanged(tree, tokens, words);
  if (!ended) return `${warned}Unfinished: the cap of ${ids.length} tokens came before the end token. ${SO_FAR}${other}`;
  if (tree.fault) return `${warned}Malformed, ${tree.fault.fault}: ${tree.fault.message}. ${SO_FAR}${other}`;
  const doubt = !strange && logProbability / (ids.length + 1) < DOUBT ? " It is less certain of this sentence than of nearly all sentences of the test set." : "";
  return `${warned}${count(tree.nodes.length, "constituent")} over ${count(words.length, "word")}, in ${tokens.length} tokens; log-probability ${nats(logProbability)} nats.${other}${strange ? " The tree is a guess." : ""}${doubt}${gold ? judged(scoreOf(tree, words, gold)) : ""}`;
}
