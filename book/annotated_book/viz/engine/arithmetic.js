// Arithmetic of the engine: products with a matrix, softmax, layer normalisation, all in place or into a given array.

// y = x Wᵀ + b for n rows; `from` chooses rows of W, which holds W_Q, W_K and W_V one above the other. Four rows of W at
// once, and two of x where there are two: each number is fetched once for all the products that it takes part in.
export function multiply(x, n, { data, columns }, rows, y, bias = null, from = 0) {
  const start = from * columns, fours = rows - rows % 4;
  let i = 0;
  for (; i + 1 < n; i += 2) twoByFour(x, i * columns, data, start, columns, fours, y, i * rows, rows);
  if (i < n) oneByFour(x, i * columns, data, start, columns, fours, y, i * rows);
  for (i = 0; i < n; i++) {
    for (let r = fours; r < rows; r++) y[i * rows + r] = dot(x, i * columns, data, start + r * columns, columns);
    if (bias) for (let r = 0; r < rows; r++) y[i * rows + r] += bias[r];
  }
}

function dot(x, at, data, k, columns) {
  let sum = 0;
  for (let j = 0; j < columns; j++) sum += x[at + j] * data[k + j];
  return sum;
}

function oneByFour(x, at, data, start, columns, rows, y, to) {
  for (let r = 0, k = start; r < rows; r += 4, k += 4 * columns) {
    let a = 0, b = 0, c = 0, d = 0;
    for (let j = at, end = at + columns, p = k, q = p + columns, s = q + columns, t = s + columns; j < end; j++, p++, q++, s++, t++) {
      const v = x[j];
      a += v * data[p]; b += v * data[q]; c += v * data[s]; d += v * data[t];
    }
    y[to + r] = a; y[to + r + 1] = b; y[to + r + 2] = c; y[to + r + 3] = d;
  }
}

function twoByFour(x, at, data, start, columns, rows, y, to, width) {
  for (let r = 0, k = start; r < rows; r += 4, k += 4 * columns) {
    let a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (let j = at, l = at + columns, end = l, p = k, q = p + columns, s = q + columns, t = s + columns; j < end; j++, l++, p++, q++, s++, t++) {
      const v = x[j], w = x[l], A = data[p], B = data[q], C = data[s], D = data[t];
      a += v * A; b += v * B; c += v * C; d += v * D;
      e += w * A; f += w * B; g += w * C; h += w * D;
    }
    const one = to + r, two = one + width;
    y[one] = a; y[one + 1] = b; y[one + 2] = c; y[one + 3] = d;
    y[two] = e; y[two + 1] = f; y[two + 2] = g; y[two + 3] = h;
  }
}

export function softmax(row) {
  let top = -Infinity, sum = 0;
  for (let i = 0; i < row.length; i++) if (row[i] > top) top = row[i];
  for (let i = 0; i < row.length; i++) sum += row[i] = Math.exp(row[i] - top);
  for (let i = 0; i < row.length; i++) row[i] /= sum;
  return row;
}

export function logSoftmax(row) {
  let top = -Infinity, sum = 0;
  for (let i = 0; i < row.length; i++) if (row[i] > top) top = row[i];
  for (let i = 0; i < row.length; i++) sum += Math.exp(row[i] - top);
  const shift = top + Math.log(sum);
  for (let i = 0; i < row.length; i++) row[i] -= shift;
  return row;
}

export function layerNorm(row, gain, shift, epsilon) {
  const d = row.length;
  let mean = 0, variance = 0;
  for (let j = 0; j < d; j++) mean += row[j];
  mean /= d;
  for (let j = 0; j < d; j++) variance += (row[j] - mean) ** 2;
  const root = Math.sqrt(variance / d + epsilon);
  for (let j = 0; j < d; j++) row[j] = (row[j] - mean) / root * gain[j] + shift[j];
}

// The sinusoids of section 3.5 for positions 0 to n - 1, row by row.
export function sinusoids(n, d) {
  const table = new Float32Array(n * d);
  for (let position = 0, k = 0; position < n; position++) {
    for (let j = 0; j < d; j++, k++) {
      const angle = position / 10000 ** ((j - j % 2) / d);
      table[k] = j % 2 ? Math.cos(angle) : Math.sin(angle);
    }
  }
  return table;
}

// Places of the `count` largest, largest first; of equals the first. Those in `never` do not count.
export function largest(row, count, never = []) {
  const best = [];
  for (let i = 0; i < row.length; i++) {
    if (best.length === count && !(row[i] > row[best[count - 1]])) continue;
    if (never.includes(i)) continue;
    let at = best.length < count ? best.length : count - 1;
    for (; at > 0 && row[i] > row[best[at - 1]]; at--) best[at] = best[at - 1];
    best[at] = i;
  }
  return best;
}
