// Engine of the live panels: a model in the page, the classroom's or the wide one. All pages use this one; a test holds it to the library.
//
//   const engine = await loadEngine();                            loader.js
//   engine.read(text)                       -> source token ids, the end token last
//   engine.write(text, { switches })        -> generator: yields each step as the model writes it, returns the translation
//   engine.translation(text, switches)      -> the same translation at once; what was made before is remembered
//   engine.score(text, target, switches)    -> { steps, logProbability } of a given target (a text, or token ids); a fourth
//                                              argument holds what the decoder reads instead of start token and target
//   engine.beam(text, { size, alpha, count, most, prefix, switches }) -> generator: yields steps, returns hypotheses with `text`
//   engine.trace(text, target, switches)    -> every box of figure 1 and every attention map, as annotated.analysis.tracing
//   engine.loss(text, switches)             -> how much less probable the whole model's own translation becomes
//   engine.reading                          the classroom model's: the words and some sentences of its training text, reading.js
//   engine.isWide                           whether this is the wide model, to which no word is unknown
//   engine.overlong(text)                   what to say of a text that is longer than all of training
//   engine.derived(Kind)                    -> the same with a class derived from Transformer in place of it
//
// A translation is { text, source, tokens, steps, ended, logProbability }: `tokens` without start and end token, `ended` false
// if it was cut off at the bound. A step is { id, probability, logProbability, best, looks, cross, own }, see decoding.js.
// `switches` are those of switches.js; {} is the model as published: { positions: false, off: new Set(["cross.2.0"]) }.
import { BOS, EOS, Tokenizer } from "./tokenizer.js";
import { bound, greedy, logProbability, score } from "./decoding.js";
import { complete, keyOf, memoryKeyOf } from "./switches.js";
import { Reading } from "./reading.js";
import { Transformer } from "./transformer.js";
import { beam } from "./beam.js";
import { traceOf } from "./tracing.js";

const REMEMBERED = 300; // results

export class Engine {
  constructor({ config, tensors, tokenizer, bytes, reading, longest, isWide = false }) {
    Object.assign(this, { config, longest, isWide });
    this.reading = reading && new Reading(reading);
    this.tokenizer = new Tokenizer(tokenizer);
    this.transformer = new Transformer({ config, tensors, bytes });
    this.results = new Map();
  }

  // An engine with the same weights, whose model is of another class, derived from Transformer.
  derived(Kind) {
    const transformer = Object.assign(Object.create(Kind.prototype), this.transformer, { buffers: {} });
    return Object.assign(Object.create(Engine.prototype), this, { transformer, results: new Map() });
  }

  // A result that is made once; the oldest are forgotten.
  remembered(key, make) {
    if (!this.results.has(key)) {
      if (this.results.size >= REMEMBERED) this.results.delete(this.results.keys().next().value);
      this.results.set(key, make());
    }
    return this.results.get(key);
  }

  read(text) {
    return [...this.tokenizer.encode(text.trim()), EOS];
  }

  overlong(text) {
    const { length } = this.read(text);
    return this.longest && length > this.longest ? [`The longest sentence of its training has ${this.longest} tokens; this text has ${length}.`] : [];
  }

  // The most tokens that are written for a text unless `most` says otherwise, the end token included.
  bound(text) {
    return bound(this.read(text));
  }

  // What the encoder makes of a source, and the keys and values of it: the same for all switches that touch the decoder alone.
  encoded(source, set) {
    return this.remembered(["memory", source, memoryKeyOf(set)].join("|"), () => this.transformer.encode(source, set));
  }

  // `prefix`: a text, or token ids, that the translation must begin with. A pass that is not finished leaves nothing behind.
  *write(text, { switches = {}, most, prefix = [] } = {}) {
    const set = complete(switches), source = this.read(text), forced = this.ids(prefix);
    const key = ["translation", text.trim(), keyOf(set), most, forced].join("|");
    const known = this.results.get(key);
    if (known) {
      yield* known.steps;
      return known;
    }
    const found = yield* greedy(this.transformer, source, set, { most, prefix: forced, encoded: this.encoded(source, set) });
    const tokens = found.steps.map(step => step.id).filter(id => id !== EOS);
    return this.remembered(key, () => ({ ...found, source, tokens, text: this.tokenizer.decode(tokens) }));
  }

  translation(text, switches = {}) {
    return finish(this.write(text, { switches }));
  }

  ids(target) {
    return typeof target === "string" ? this.tokenizer.encode(target.trim()) : target;
  }

  score(text, target, switches = {}, read = undefined) {
    const set = complete(switches), ids = this.ids(target), source = this.read(text);
    return this.remembered(["score", text.trim(), ids, keyOf(set), read].join("|"),
      () => ({ ...score(this.transformer, this.encoded(source, set), ids, set, read), source, tokens: ids }));
  }

  // Of the whole model's own translation: its log-probability under the whole model and under the changed one, in nats.
  loss(text, switches) {
    const whole = this.translation(text), ids = whole.steps.map(step => step.id).filter(id => id !== EOS), source = this.read(text);
    const under = set => this.remembered(["loss", text.trim(), keyOf(set)].join("|"),
      () => logProbability(this.transformer, this.encoded(source, complete(set)), ids, complete(set)));
    const before = under({}), after = under(switches);
    return { before, after, change: after - before };
  }

  *beam(text, { switches = {}, prefix = [], ...options } = {}) {
    const source = this.read(text), set = complete(switches), encoded = this.encoded(source, set);
    const found = yield* beam(this.transformer, source, set, { ...options, encoded, prefix: this.ids(prefix) });
    return found.map(hypothesis => ({ ...hypothesis, text: this.tokenizer.decode(hypothesis.tokens) }));
  }

  // `target` null: the model's own translation.
  trace(text, target = null, switches = {}) {
    const ids = target === null ? this.translation(text, switches).tokens : this.ids(target), source = this.read(text);
    const read = [BOS, ...ids], next = [...ids, EOS], names = list => list.map(id => this.tokenizer.readable(id));
    return { source, read, next, sourceTokens: names(source), readTokens: names(read), nextTokens: names(next),
      ...traceOf(this.transformer, source, read, complete(switches)) };
  }
}

// What a generator returns, without its steps.
export function finish(generator) {
  for (;;) {
    const { value, done } = generator.next();
    if (done) return value;
  }
}
