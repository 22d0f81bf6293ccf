// Teacher forcing against writing: what the decoder predicts in each slot when it reads the reference, and when it reads itself.
import { BOS } from "../../viz/engine/tokenizer.js";
import { finish } from "../../viz/engine/engine.js";

const idsOf = steps => steps.map(step => step.id);

// Steps of both rows with what each slot reads. `fed`, if given, is { slot, id }: the piece that slot `slot` reads in place of
// its own, on both sides. Forcing goes on with the reference after it, writing with what follows from it. Slot 0 reads the start.
export function bothRows(engine, text, target, fed = null) {
  const reference = engine.ids(target), read = [BOS, ...reference], own = engine.translation(text).steps;
  const reaches = row => fed && fed.slot < row.length;
  if (reaches(read)) read[fed.slot] = fed.id;
  const forced = engine.score(text, reference, {}, reaches(read) ? read : undefined).steps;
  const free = reaches(own) ? finish(engine.write(text, { prefix: [...idsOf(own).slice(0, fed.slot - 1), fed.id] })).steps : own;
  return { forced, free, reads: { forced: read, free: [BOS, ...idsOf(free).slice(0, -1)] } };
}

// The slots whose most probable piece is another one, and how many of them stand before slot `from` and from it on; `same`
// tells whether the best pieces of the slots before it and their probabilities are the same to the last digit.
export function changesOf(before, after, from) {
  const top = step => step?.best[0][0], slots = Array.from({ length: Math.max(before.length, after.length) }, (_, t) => t);
  const changed = slots.filter(t => top(before[t]) !== top(after[t])), known = steps => JSON.stringify(steps.slice(0, from).map(step => step.best));
  return { changed, early: changed.filter(t => t < from).length, later: changed.filter(t => t >= from).length,
    slots: slots.filter(t => t >= from).length, same: known(before) === known(after) };
}

// The model's own translation with one word changed, for a reader who has no reference: where the second best piece that begins
// a word is the most probable, it takes the place of the first, and the model ends the word.
export function oneWordChanged(engine, text) {
  const { steps, tokens } = engine.translation(text), begins = id => / ?\p{L}/uy.test(engine.tokenizer.decode([id]));
  const isWord = (id, t) => begins(id) && (t === 0 || engine.tokenizer.decode([id]).startsWith(" "));
  const rival = t => steps[t].best.find(([id]) => id !== tokens[t] && isWord(id, t)) ?? [null, 0];
  const at = tokens.map((_, t) => t).filter(t => isWord(tokens[t], t)).reduce((best, t) => best < 0 || rival(t)[1] > rival(best)[1] ? t : best, -1);
  if (at < 0) return engine.tokenizer.decode(tokens);
  const endOf = (ids, from) => {
    const end = ids.findIndex((id, t) => t > from && !/^\p{L}/u.test(engine.tokenizer.decode([id])));
    return end < 0 ? ids.length : end;
  };
  const other = finish(engine.write(text, { prefix: [...tokens.slice(0, at), rival(at)[0]] })).tokens;
  return engine.tokenizer.decode([...tokens.slice(0, at), ...other.slice(at, endOf(other, at)), ...tokens.slice(endOf(tokens, at))]);
}
