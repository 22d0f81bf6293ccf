// A histogram of drawn scores: bars of one or two series on one axis, with both axes named.
import { svg } from "../../viz/drawing.js";
import { binned } from "./scores.js";

const HEIGHT = 170, LEFT = 44, RIGHT = 12, TOP = 22, BOTTOM = 38, TICK_EVERY = 46;

const text = (x, y, content, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, content);
export const signed = (x, digits = 2) => x.toFixed(digits).replace("-", "\u2212");

// `series` are lists of values; `colour(s, v)` is that of the bar of series s that begins at v. `zero` marks 0 if it is in sight.
export function histogram({ series, bin, axis, label, colour, zero = false, width }) {
  const { first, counts } = binned(series, bin), n = counts[0].length, most = Math.max(...counts.flat());
  const x = v => LEFT + (v / bin - first) * (width - LEFT - RIGHT) / n, base = HEIGHT - BOTTOM, y = count => base - (base - TOP) * count / most;
  const wide = (width - LEFT - RIGHT) / n, bars = counts.flatMap((one, s) => one.map((count, i) => svg("rect", {
    x: LEFT + i * wide, y: y(count), width: wide, height: base - y(count), fill: colour(s, (first + i) * bin), "fill-opacity": 0.55 })));
  const step = [0.5, 1, 2, 5].find(step => (width - LEFT - RIGHT) * step / (n * bin) >= TICK_EVERY) ?? 10;
  const ticks = [];
  for (let v = Math.ceil(first * bin / step) * step; v <= (first + n) * bin; v += step)
    ticks.push(svg("path", { d: `M${x(v)} ${base}v4` }), text(x(v), base + 16, signed(v, step < 1 ? 1 : 0)));
  const mark = zero && first * bin <= 0 ? [svg("path", { class: "ledger-zero", d: `M${x(0)} ${TOP - 6}V${base}` })] : [];
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, ...bars,
    svg("path", { d: `M${LEFT} ${TOP}V${base}H${width - RIGHT}` }), ...ticks, ...mark,
    text(LEFT - 6, TOP + 5, String(most), "end"), text(LEFT - 6, base + 4, "0", "end"), text(0, 12, "test sets", "start"),
    text((LEFT + width - RIGHT) / 2, HEIGHT - 4, axis));
}
