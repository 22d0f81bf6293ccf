// Cuts of one text by the first merges of the classroom's tokenizer, and what the model writes from each (section 5.1).
import { EOS } from "../../viz/engine/tokenizer.js";
import { greedy } from "../../viz/engine/decoding.js";
import { complete } from "../../viz/engine/switches.js";
import { finish } from "../../viz/engine/engine.js";
import { cutWords, mergeAll } from "../../viz/byte_pairs.js";
import { readable } from "./replay.js";

const MOST = 40; // tokens that the model writes for one cut

// The text after the first `merges` merges: ids, and the tokens for human eyes. With all merges it is the model's own cut.
export function cutOf(tokenizer, text, merges) {
  const pieces = cutWords(text.trim()).flatMap(word => mergeAll(word, tokenizer.rank, merges));
  return { merges, ids: pieces.map(piece => tokenizer.idOf.get(piece)), tokens: pieces.map(readable) };
}

// What the model writes when it reads these ids.
export function writtenFrom(engine, ids) {
  const key = `cut|${ids}`;
  return engine.remembered(key, () => {
    const { steps } = finish(greedy(engine.transformer, [...ids, EOS], complete({}), { most: MOST }));
    return engine.tokenizer.decode(steps.map(step => step.id).filter(id => id !== EOS));
  });
}
