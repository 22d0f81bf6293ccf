// How alike the vectors of a sentence's words are: the mean cosine of all pairs of rows.
export function meanCosine({ data, rows, columns }) {
  const lengths = Array.from({ length: rows }, (_, i) => Math.hypot(...data.subarray(i * columns, (i + 1) * columns)));
  let sum = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < i; j++) {
      let dot = 0;
      for (let c = 0; c < columns; c++) dot += data[i * columns + c] * data[j * columns + c];
      sum += dot / (lengths[i] * lengths[j] || 1);
    }
  }
  return rows < 2 ? 0 : 2 * sum / (rows * (rows - 1));
}

// The states of the encoder's residual stream in a trace: [label, name of the box].
export const STATES = [["embedded", "source.sum"], ...[1, 2, 3].flatMap(layer => [
  [`attention ${layer}`, `encoder.${layer}.add_norm_1`], [`feed-forward ${layer}`, `encoder.${layer}.add_norm_2`]])];
