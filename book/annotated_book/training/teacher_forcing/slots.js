// Slots of a decoder in training: what each reads, what it may look into, and where its answer stands.
import { unmarked } from "../../viz/drawing.js";

export const nameOf = ({ masked, shift }) => `${masked ? "mask" : "no mask"}, shift ${shift}`;
export const reads = (target, shift, k) => k < shift ? "<s>" : target[k - shift];
export const sees = ({ masked }, i, k) => !masked || k <= i;
export const holds = ({ shift }, i, k) => k === i + shift; // slot k holds what slot i has to write

// Whether slot i finds its answer among the n slots that it may look into.
export const leaks = (state, i, n) => i + state.shift < n && sees(state, i, i + state.shift);
export const countLeaks = (state, n) => Array.from({ length: n }, (_, i) => leaks(state, i, n)).filter(Boolean).length;

export function verdictOn(state, target, now) {
  const n = target.length, { shift } = state, open = leaks(state, now, n);
  if (open && shift === 0) return "The slot reads its own answer. Nothing is left to predict.";
  if (open) return `The answer is read ${shift === 1 ? "one slot" : "two slots"} below, and no mask hides it.`;
  if (now + shift >= n && !state.masked) return "No mask hides the future, but the shift removed the answer from the input. This slot has to predict it.";
  if (shift === 2 && now > 0) return `No leak, but the slot does not see the newest word, “${unmarked(target[now - 1])}”.`;
  if (shift === 2) return "No leak: the slot does not see the answer.";
  return "No leak: the slot sees all earlier words and not the answer.";
}

// The tokens that a slot finds probable, with the right one among them: [token, probability].
export function probable([p, best], gold) {
  const top = Object.entries(best).sort((a, b) => b[1] - a[1]);
  return top.some(([token]) => token === gold) ? top : [...top.slice(0, 3), [gold, p]];
}
