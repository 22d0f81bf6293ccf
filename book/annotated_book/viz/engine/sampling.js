// What a draw chooses from: the tokens of one step that temperature, top-k and top-p leave, with their new probabilities.
// `row` holds log-probabilities. First the temperature divides them; of the rest, the `topK` most probable stay (0: all);
// of these, the fewest whose probabilities reach `topP`. Returns [id, probability], most probable first.
// annotated_book.decoding.greedy.sampling computes the same, and a test holds the two to each other.
import { largest } from "./arithmetic.js";

export function choicesOf(row, { temperature = 1, topK = 0, topP = 1, never = [] } = {}) {
  const order = largest(row, topK || row.length, never), best = row[order[0]];
  const weights = order.map(id => Math.exp((row[id] - best) / temperature)), all = sum(weights);
  let kept = 0, reached = 0;
  while (kept < order.length && (kept === 0 || topP >= 1 || reached < topP * all)) reached += weights[kept++];
  return order.slice(0, kept).map((id, i) => [id, weights[i] / reached]);
}

const sum = numbers => numbers.reduce((total, x) => total + x, 0);

// The choice at a number from 0 to 1, drawn evenly: each choice has a part as long as its probability.
export function drawn(choices, u) {
  for (const [id, p] of choices) {
    if (u < p) return id;
    u -= p;
  }
  return choices.at(-1)[0]; // of rounding, a little may be left
}
