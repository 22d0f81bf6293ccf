// Batches of sentence pairs, as four ways of batching make them, and their padding: arithmetic on lengths alone.
export const BUDGETS = [250, 500, 1000, 2000, 4000, 8000, 16000, 25000];
export const POOLS = [20, 100, 500, 1000, 2000, 4000];
export const WAYS = {
  fixed: "32 sentences, always 72 wide", come: "as they come", pools: "sorted in pools, then cut", packed: "packed: no padding",
};
export const FIXED_PAIRS = 32, FIXED_WIDTH = 72;

// [source, target] lengths of each pair, for each text, from one byte a length.
export function pairsOf(data, texts) {
  let at = 0;
  return texts.map(({ count }) => {
    const pairs = Array.from({ length: count }, (_, i) => [data[at + 2 * i], data[at + 2 * i + 1]]);
    at += 2 * count;
    return pairs;
  });
}

// Lengths [source, target] of each batch, in the order of training.
export function batchesOf(pairs, { way, budget, pool, shuffle }) {
  const batches = way === "fixed" ? fixed(pairs) : filled(way === "pools" ? pooled(pairs, pool) : pairs, budget, way === "packed");
  return shuffle ? shuffled(batches) : batches;
}

function fixed(pairs) {
  const batches = [];
  for (let i = 0; i < pairs.length; i += FIXED_PAIRS) batches.push(pairs.slice(i, i + FIXED_PAIRS));
  return batches;
}

// A batch is full when one side would cost more than the budget: its tokens if packed, its rectangle if not.
function filled(pairs, budget, packed) {
  const batches = [];
  let batch = [], cost = [0, 0], most = [0, 0];
  for (const pair of pairs) {
    most = most.map((x, side) => Math.max(x, pair[side]));
    cost = packed ? cost.map((x, side) => x + pair[side]) : most.map(x => x * (batch.length + 1));
    if (batch.length && Math.max(...cost) > budget) {
      batches.push(batch);
      batch = []; most = [...pair]; cost = [...pair];
    }
    batch.push(pair);
  }
  if (batch.length) batches.push(batch);
  return batches;
}

function pooled(pairs, size) {
  const sorted = [];
  for (let i = 0; i < pairs.length; i += size) {
    sorted.push(...pairs.slice(i, i + size).sort((a, b) =>
      Math.max(...a) - Math.max(...b) || a[0] - b[0] || a[1] - b[1]));
  }
  return sorted;
}

function shuffled(batches) {
  let state = 1; // a small generator, so that the same choice always gives the same order
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let i = batches.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [batches[i], batches[j]] = [batches[j], batches[i]];
  }
  return batches;
}

export const widths = (batch, way) => way === "fixed" ? [FIXED_WIDTH, FIXED_WIDTH]
  : [0, 1].map(side => batch.reduce((most, pair) => Math.max(most, pair[side]), 0));

// The share of cells that are padding, and how many pairs lose their ends.
export function measure(batches, way) {
  let real = 0, cells = 0, cut = 0;
  for (const batch of batches) {
    const [s, t] = widths(batch, way);
    for (const pair of batch) {
      real += Math.min(pair[0], way === "fixed" ? s : 1e9) + Math.min(pair[1], way === "fixed" ? t : 1e9);
      if (way === "fixed" && Math.max(...pair) > FIXED_WIDTH) cut += 1;
    }
    cells += batch.length * (s + t);
  }
  return { padding: way === "packed" ? 0 : 1 - real / cells, cut };
}
