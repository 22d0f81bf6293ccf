// Tensors of a sentence as the machine draws them: recorded ones of one byte a number, and those of the engine's trace.
const LISTED = 6, BINS = 28; // tokens listed of each distribution; bars of a histogram
const DARKEST = 0.985; // share of the numbers that are paler than the darkest colour: a few large ones would leave the others pale

// Numbers from a sentence that the library recorded: matrices from -scale to scale, attention maps from 0 to 1.
export function recordedMatrix(bytes, [from, rows, columns, scale, low, high, dark]) {
  const at = (row, column) => (bytes[from + row * columns + column] - 128) / 127 * scale;
  return { rows, columns, low, high, at, opacity: (row, column) => 255 * Math.min(1, Math.abs(at(row, column)) / scale / dark) ** 0.75 };
}

export function recordedMaps(bytes, [from, count, rows, columns]) {
  return { count, rows, columns, weight: (head, row, column) => bytes[from + (head * rows + row) * columns + column] / 255 };
}

// What `Engine.trace` of viz/engine/ found, as a sentence of the machine. Distributions are made when they are asked for.
export function tracedSentence(engine, text) {
  const found = engine.trace(text), { linear, softmax: chances } = found.boxes, made = new Map();
  const once = (name, make) => made.get(name) ?? made.set(name, make()).get(name);
  const [low, high] = extremes(linear.data);
  const row = (box, t) => box.data.subarray(t * box.columns, (t + 1) * box.columns);
  const step = t => once(`step ${t}`, () => ({ counts: histogramOf(row(linear, t), low, high),
    top: largestOf(row(chances, t), LISTED).map(id => [engine.tokenizer.readable(id), row(chances, t)[id], row(linear, t)[id]]) }));
  return {
    text, sizes: { D: engine.config.d_model, H: engine.config.num_heads, V: linear.columns },
    source: found.sourceTokens, target: found.readTokens, next: found.nextTokens, range: [low, high],
    sourceIds: found.source, targetIds: found.read, steps: found.next.map((_, t) => ({ get top() { return step(t).top; }, get counts() { return step(t).counts; } })),
    matrix: name => once(name, () => matrixOf(found.boxes[name])),
    maps: name => once(`maps ${name}`, () => mapsOf(found.maps[name], found.boxes[name].rows)),
  };
}

function extremes(data) {
  let low = Infinity, high = -Infinity;
  for (const x of data) { if (x < low) low = x; if (x > high) high = x; }
  return [low, high];
}

function matrixOf({ data, rows, columns }) {
  const [low, high] = extremes(data), sizes = Float32Array.from(data, Math.abs).sort();
  const dark = sizes[Math.floor(DARKEST * (sizes.length - 1))] || 1, at = (row, column) => data[row * columns + column];
  return { rows, columns, low, high, at, opacity: (row, column) => 255 * Math.min(1, Math.abs(at(row, column)) / dark) ** 0.75 };
}

function mapsOf(heads, rows) {
  const columns = heads[0].length / rows;
  return { count: heads.length, rows, columns, weight: (head, row, column) => heads[head][row * columns + column] };
}

function histogramOf(scores, low, high) {
  const counts = Array.from({ length: BINS }, () => 0);
  for (const x of scores) counts[Math.min(BINS - 1, Math.floor((x - low) / (high - low) * BINS))]++;
  return counts;
}

const largestOf = (values, count) => [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, count);
