// The tests of the game: each reads a sentence twice, with one thing changed that must not matter (or must), and measures how far
// the logits move at each target position, as the doctor does: the largest difference as a share of the largest logit.
import { BOS, PAD } from "../../viz/engine/tokenizer.js";
import { complete } from "../../viz/engine/switches.js";
import { traceOf } from "../../viz/engine/tracing.js";

export const MOVED = 1e-4; // as CLOSE of grader/annotated_grader/doctor/probe.py: below it is rounding
const PADDING = 3;

// The logits of a whole target read at once, a row for each position, and all maps.
export function readAtOnce({ engine, switches }, source, read) {
  const { boxes, maps } = traceOf(engine.transformer, source, read, complete(switches)), { data, columns } = boxes.linear;
  return { rows: read.map((_, t) => data.subarray(t * columns, (t + 1) * columns)), maps };
}

// The same written token by token, with the keys and values of earlier tokens kept.
export function readInSteps({ engine, switches }, source, read) {
  const set = complete(switches), model = engine.transformer, state = model.start(model.encode(source, set), read.length);
  return { rows: read.map(token => model.logits(model.decode([token], state, set), 0).slice()) };
}

// How far each row moved.
export const distances = (rows, before) => before.map((row, t) => {
  let most = 0, size = 0;
  for (let v = 0; v < row.length; v++) {
    most = Math.max(most, Math.abs(rows[t][v] - row[v]));
    size = Math.max(size, Math.abs(row[v]));
  }
  return most / size;
});

// Another token at target position `at` (1 is the first word).
export function leakTest(ill, source, ids, at, other) {
  const read = [BOS, ...ids], changed = read.map((id, t) => t === at ? other : id);
  return distances(readAtOnce(ill, source, changed).rows, readAtOnce(ill, source, read).rows);
}

export function paddingTest(ill, source, ids) {
  const read = [BOS, ...ids], padded = [...source, ...Array(PADDING).fill(PAD)];
  return distances(readAtOnce(ill, padded, read).rows, readAtOnce(ill, source, read).rows);
}

export function cacheTest(ill, source, ids) {
  const read = [BOS, ...ids];
  return distances(readInSteps(ill, source, read).rows, readAtOnce(ill, source, read).rows);
}

// Two source tokens change places.
export function orderTest(ill, source, ids, a, b) {
  const read = [BOS, ...ids], swapped = source.map((id, s) => s === a ? source[b] : s === b ? source[a] : id);
  return distances(readAtOnce(ill, swapped, read).rows, readAtOnce(ill, source, read).rows);
}
