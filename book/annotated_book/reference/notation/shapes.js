// Shapes and costs by formula: factors are letters, numbers or products of both, joined by "·"; terms by " + ".
export const LETTERS = ["B", "S", "T", "D", "H", "K", "F", "V", "L"];
// Bytes of a number of each type.
export const WIDTHS = { float32: 4, int64: 8, bool: 1 };

const factors = product => product.split("·");

// The value of an axis or a formula; that of an empty formula is 0.
export const value = (formula, sizes) => formula === "" ? 0 : formula.split(" + ").reduce((sum, term) =>
  sum + factors(term).reduce((product, factor) => product * (sizes[factor] ?? Number(factor)), 1), 0);

export const shapeOf = (shape, sizes) => shape.map(axis => value(axis, sizes));
export const entries = (shape, sizes) => shapeOf(shape, sizes).reduce((product, n) => product * n, 1);
export const hasLetter = (shape, letter) => shape.some(axis => factors(axis).includes(letter));

// The reader's numbers with the width of a head; if they make no model, a sentence that says why, and the letters at fault.
export function completed(sizes) {
  const wrong = Object.entries(sizes).find(([, n]) => !Number.isInteger(n) || n < 1 || n > 1_000_000);
  if (wrong) return { letters: [wrong[0]], problem: `${wrong[0]} must be a whole number from 1 to 1,000,000.` };
  if (sizes.D % sizes.H) return { letters: ["D", "H"], problem: `${sizes.H} heads do not divide D = ${sizes.D}. K, the width of a head, is D / H: choose another number.` };
  return { sizes: { ...sizes, K: sizes.D / sizes.H } };
}

// Sums over the whole model: a part of a layer counts L times.
export function totals(stages, sizes) {
  const sum = field => stages.reduce((all, { repeated, steps }) =>
    all + (repeated ? sizes.L : 1) * steps.reduce((part, step) => part + value(step[field], sizes), 0), 0);
  return { parameters: sum("parameters"), products: sum("products") };
}

// The steps whose tensor is largest: all of them, for several may be.
export function largest(stages, sizes) {
  const all = stages.flatMap(stage => stage.steps.map(step => ({ stage, step, entries: entries(step.shape, sizes) })));
  const most = Math.max(...all.map(one => one.entries));
  return all.filter(one => one.entries === most);
}

export const counted = n => n.toLocaleString("en-GB", { maximumFractionDigits: 0 });

// Three digits of a large number, with its unit.
export function rounded(n) {
  for (const [unit, size] of [["trillion", 1e12], ["billion", 1e9], ["million", 1e6]]) {
    if (n >= size) return `${(n / size).toPrecision(3).replace(/\.?0+(?=e|$)/, "")} ${unit}`;
  }
  return counted(n);
}

export const bytes = n => n >= 1e12 ? `${(n / 1e12).toPrecision(3)} TB` : n >= 1e9 ? `${(n / 1e9).toPrecision(3)} GB` : n >= 1e6 ? `${(n / 1e6).toPrecision(3)} MB` : n >= 1e3 ? `${(n / 1e3).toPrecision(3)} kB` : `${n} bytes`;

// "2·B·S = 2 · 3 · 12 = 72": a formula, with the reader's numbers put in, and its value.
export function worked(formula, sizes) {
  const put = formula.split(" + ").map(term => factors(term).map(factor => counted(sizes[factor] ?? Number(factor))).join(" · ")).join(" + ");
  return `${formula.replaceAll("·", " · ")} = ${put} = ${counted(value(formula, sizes))}`;
}
