// The merges of a text, replayed (section 5.1): which merges it uses, and its pieces after each of them.
import { BYTES, SYMBOLS, cutWords, mergeAll } from "../../viz/byte_pairs.js";

// The learned merges: pairs in order, their ranks, and the id of every piece; `first` is the id of the first byte.
export function learned(text, first) {
  const pairs = text.split("\n").map(line => line.split(" "));
  const rank = new Map(pairs.map(([a, b], i) => [`${a} ${b}`, i])), idOf = new Map();
  [...SYMBOLS].sort().forEach((symbol, i) => idOf.set(symbol, first + i));
  pairs.forEach(([a, b], i) => idOf.set(a + b, first + 256 + i));
  return { pairs, rank, idOf };
}

// A piece for human eyes: a space as "▁", a byte that is only part of a character as "<0xC3>".
export function readable(piece) {
  const bytes = Uint8Array.from(piece, symbol => BYTES.get(symbol)), decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let shown = "";
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at], length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    try { shown += decoder.decode(bytes.subarray(at, at + length)); at += length; }
    catch { shown += `<0x${lead.toString(16).toUpperCase().padStart(2, "0")}>`; at += 1; }
  }
  return shown.replaceAll(" ", "▁");
}

// A text's words as bytes, the merges that it uses in order, and [merges, pieces] after each of them.
export function replay(text, { pairs, rank }) {
  const words = cutWords(text), used = new Map(), known = new Map();
  for (const word of words) {
    const key = word.join("");
    if (!known.has(key)) { known.set(key, new Map()); mergeAll(word, rank, pairs.length, known.get(key)); }
    for (const [at, n] of known.get(key)) used.set(at, (used.get(at) ?? 0) + n);
  }
  const steps = [...used.keys()].sort((a, b) => a - b);
  let pieces = words.reduce((sum, word) => sum + word.length, 0);
  return { words, bytes: pieces, steps, lengths: [[0, pieces], ...steps.map(at => [at + 1, pieces -= used.get(at)])] };
}

// The pieces of each word after the first `done` merges.
export const piecesOf = (words, { rank }, done) => words.map(word => mergeAll(word, rank, done));
