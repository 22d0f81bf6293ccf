// Byte-pair encoding in the page (section 5.1): words, bytes and merges as annotated.data.tokenizer has them.
// White space is Unicode's: JavaScript's own \s takes U+FEFF for a space, and U+0085 for none.
const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORDS = new RegExp(`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, "gu");

// Every byte has a printable character: printable bytes stand for themselves, the others for 256 and up.
export const SYMBOLS = [], BYTES = new Map();
for (let byte = 0, others = 0; byte < 256; byte++) {
  const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte < 0xad) || byte > 0xad;
  SYMBOLS.push(String.fromCodePoint(printable ? byte : 256 + others++));
  BYTES.set(SYMBOLS[byte], byte);
}

// The words of a text, each as a list of symbols, one a byte.
export const cutWords = text => [...text.matchAll(WORDS)].map(([word]) => [...new TextEncoder().encode(word)].map(byte => SYMBOLS[byte]));

// Merges pairs of neighbours, the earliest learned first, as long as one has a rank below `count`. `rank` maps "a b" to
// how early that merge was learned; `used` gets how many pieces each merge saved.
export function mergeAll(symbols, rank, count, used) {
  for (;;) {
    let best = count, pair;
    for (let i = 0; i + 1 < symbols.length; i++) {
      const at = rank.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
      if (at < best) [best, pair] = [at, [symbols[i], symbols[i + 1]]];
    }
    if (!pair) return symbols;
    const merged = [];
    for (let i = 0; i < symbols.length; i++) {
      if (symbols[i] === pair[0] && symbols[i + 1] === pair[1]) { merged.push(pair[0] + pair[1]); i++; } else merged.push(symbols[i]);
    }
    used?.set(best, (used.get(best) ?? 0) + symbols.length - merged.length);
    symbols = merged;
  }
}
