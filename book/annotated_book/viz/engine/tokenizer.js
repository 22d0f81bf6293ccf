// The models' tokenizer in the page (section 5.1): the same tokens as annotated.data.tokenizer, which a test holds it to.
import { BYTES, cutWords, mergeAll } from "../byte_pairs.js";
import { normalise } from "./normal_form.js";

export const PAD = 0, BOS = 1, EOS = 2, SPECIAL = 4; // below SPECIAL: pad, bos, eos, unk

const decoderOf = () => new TextDecoder("utf-8", { ignoreBOM: true }); // the mark is text here: nothing is to be lost

export class Tokenizer {
  // `normalForm`: whether texts are put into their normal form before they are cut.
  constructor({ pieces, merges, normalForm }) {
    this.pieces = pieces;
    this.prepare = normalForm ? normalise : text => text;
    this.idOf = new Map(pieces.map((piece, id) => [piece, id]));
    this.rank = new Map(merges.map((pair, rank) => [pair, rank])); // "a b" -> how early it was learned
  }

  encode(text) {
    return cutWords(this.prepare(text)).flatMap(word => mergeAll(word, this.rank, Infinity)).map(piece => this.idOf.get(piece));
  }

  bytesOf(id) {
    return id < SPECIAL ? [] : [...this.pieces[id]].map(symbol => BYTES.get(symbol));
  }

  decode(ids) {
    return decoderOf().decode(new Uint8Array(ids.flatMap(id => this.bytesOf(id))));
  }

  // A token for human eyes: the space that it begins with shows as "▁".
  readable(id) {
    return id < SPECIAL ? this.pieces[id] : this.decode([id]).replaceAll(" ", "▁");
  }

  // Of one token after another: its text as in the sentence, and whether a new word begins. A letter that two tokens share
  // is written with the second.
  speller() {
    const decoder = decoderOf();
    let first = true;
    return id => {
      if (id < SPECIAL) return { text: this.pieces[id], begins: true, special: true };
      const text = decoder.decode(new Uint8Array(this.bytesOf(id)), { stream: true });
      const begins = first || text.startsWith(" ");
      first = false;
      return { text: text.trim() || (text ? "␣" : "·"), begins, special: false };
    };
  }
}
