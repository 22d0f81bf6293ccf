// A packed tensor as numbers: a vector as it is; a matrix from one byte for each number and a scale for each row.
export function unpacked(bytes, kind, offset, rows, columns) {
  const scales = new Float32Array(bytes, offset, rows);
  if (kind === "vector") return scales;
  const data = new Float32Array(rows * columns), whole = new Int8Array(bytes, offset + 4 * rows, rows * columns);
  for (let r = 0, k = 0; r < rows; r++) for (const scale = scales[r], end = k + columns; k < end; k++) data[k] = whole[k] * scale;
  return { data, rows, columns };
}
