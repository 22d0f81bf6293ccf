// The tokenizer of the laboratory (section 5.1): the same pieces as annotated.data.tokenizer, which a test holds it to.
import { BYTES, cutWords, mergeAll } from "../../viz/byte_pairs.js";

const SPECIAL = 4; // pad, bos, eos, unk

export class Tokenizer {
  constructor({ pieces, merges }) {
    this.pieces = pieces;
    this.idOf = new Map(pieces.map((piece, id) => [piece, id]));
    this.rank = new Map(merges.map((pair, rank) => [pair, rank])); // "a b" -> how early it was learned
  }

  encode(text) {
    return cutWords(text).flatMap(word => mergeAll(word, this.rank, Infinity)).map(piece => this.idOf.get(piece));
  }

  decode(ids) {
    const bytes = ids.filter(id => id >= SPECIAL).flatMap(id => [...this.pieces[id]].map(symbol => BYTES.get(symbol)));
    return new TextDecoder().decode(new Uint8Array(bytes));
  }

  // A piece for human eyes: the space that it begins with shows as "▁".
  readable(id) {
    return id < SPECIAL ? this.pieces[id] : this.decode([id]).replaceAll(" ", "▁");
  }
}
