// Equation 1 in the page, matrix by matrix, and a sentence for how one number of each came about.
const product = (a, b) => a.map(row => b[0].map((_, j) => row.reduce((sum, x, d) => sum + x * b[d][j], 0)));
const flipped = a => a[0].map((_, j) => a.map(row => row[j]));

function softmax(row) {
  const top = Math.max(...row), powers = row.map(s => Math.exp(s - top)), total = powers.reduce((a, b) => a + b, 0);
  return powers.map(p => p / total);
}

// All matrices of equation 1; `causal` hides what stands later than the query.
export function matricesOf(Q, K, V, causal) {
  const Kt = flipped(K), dots = product(Q, Kt), root = Math.sqrt(Q[0].length);
  const scores = dots.map(row => row.map(x => x / root));
  const open = scores.map((row, i) => row.map((s, j) => causal && j > i ? -Infinity : s)), weights = open.map(softmax);
  return { Q, K, V, Kt, dots, scores, open, weights, output: product(weights, V) };
}

const say = (x, digits = 2) => x === -Infinity ? "−∞" : (+x.toFixed(digits)).toString().replace("-", "−");
const terms = (a, b) => a.map((x, d) => `${say(x)}·${say(b[d])}`).join(" + ");

// How the number in row i, column j of a box's result came about.
export function sentenceOf(box, { Q, K, V, Kt, dots, scores, open, weights, output }, names, i, j) {
  const pair = `${names[i]}, ${names[j]}`;
  if (box === "MatMul") return `Query of ${names[i]} · key of ${names[j]} = ${terms(Q[i], flipped(Kt)[j])} = ${say(dots[i][j])}`;
  if (box === "Scale") return `${pair}: ${say(dots[i][j])} ÷ √${Q[0].length} = ${say(scores[i][j])}`;
  if (box === "Mask (opt.)") return open[i][j] === -Infinity ? `${names[j]} comes later than ${names[i]}: its score becomes −∞.`
    : `${pair}: nothing to hide, the score stays ${say(scores[i][j])}.`;
  if (box === "SoftMax") {
    const powers = open[i].map(Math.exp), total = powers.reduce((a, b) => a + b, 0);
    return `${pair}: e^${say(open[i][j])} ÷ (${powers.map(p => say(p)).join(" + ")}) = ${say(powers[j])} ÷ ${say(total)} = ${say(weights[i][j])}`;
  }
  if (box === "MatMul ") return `Output of ${names[i]}, entry ${j + 1} = ${terms(weights[i], V.map(row => row[j]))} = ${say(output[i][j])}`;
  return `Row ${names[i]}: its query (${Q[i].map(x => say(x)).join(", ")}), key (${K[i].map(x => say(x)).join(", ")}) and value (${V[i].map(x => say(x)).join(", ")}).`;
}
