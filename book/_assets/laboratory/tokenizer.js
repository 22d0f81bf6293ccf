// Byte-level byte-pair encoding (section 5.1): the same pieces as annotated.data.tokenizer, which a test holds it to.
(() => {
  // White space as Unicode has it: JavaScript's \s also takes U+FEFF, and not U+0085.
  const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const SPLIT = new RegExp(
    `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, "gu");
  const SPECIAL = 4; // pad, bos, eos, unk

  // Every byte gets a printable character: printable bytes stand for themselves, the others for 256 and up.
  const symbolOf = [], byteOf = new Map();
  for (let byte = 0, others = 0; byte < 256; byte++) {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte < 0xad) || byte > 0xad;
    symbolOf[byte] = String.fromCodePoint(printable ? byte : 256 + others++);
    byteOf.set(symbolOf[byte], byte);
  }

  class Tokenizer {
    constructor({ pieces, merges }) {
      this.pieces = pieces;
      this.idOf = new Map(pieces.map((piece, id) => [piece, id]));
      this.rank = new Map(merges.map((pair, rank) => [pair, rank])); // "a b" -> how early it was learned
    }

    // Merge the earliest learned pair of neighbours, until no pair of them was ever learned.
    merge(symbols) {
      for (;;) {
        let best = Infinity, where = -1;
        for (let i = 0; i + 1 < symbols.length; i++) {
          const rank = this.rank.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
          if (rank < best) [best, where] = [rank, i];
        }
        if (where < 0) return symbols;
        const pair = symbols[where] + symbols[where + 1], [a, b] = [symbols[where], symbols[where + 1]];
        const merged = [];
        for (let i = 0; i < symbols.length; i++) {
          if (symbols[i] === a && symbols[i + 1] === b) { merged.push(pair); i++; } else merged.push(symbols[i]);
        }
        symbols = merged;
      }
    }

    encode(text) {
      const ids = [];
      for (const [word] of text.matchAll(SPLIT)) {
        const symbols = [...new TextEncoder().encode(word)].map(byte => symbolOf[byte]);
        for (const piece of this.merge(symbols)) ids.push(this.idOf.get(piece));
      }
      return ids;
    }

    decode(ids) {
      const bytes = ids.filter(id => id >= SPECIAL).flatMap(id => [...this.pieces[id]].map(symbol => byteOf.get(symbol)));
      return new TextDecoder().decode(new Uint8Array(bytes));
    }

    // A piece for human eyes: the space that it begins with shows as "▁".
    readable(id) {
      return id < SPECIAL ? this.pieces[id] : this.decode([id]).replaceAll(" ", "▁");
    }
  }

  globalThis.annotatedLaboratory = { ...globalThis.annotatedLaboratory, Tokenizer };
})();
