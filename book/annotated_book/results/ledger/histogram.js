// Histograms of drawn scores, one under the other on one axis, each with its interval of 95 %.
import { svg } from "../../viz/drawing.js";
import { binned } from "./scores.js";

const BAND = 122, ROOM = 34, LEFT = 44, RIGHT = 12, TOP = 4, BOTTOM = 38, TICK_EVERY = 46;

const text = (x, y, content, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, content);
export const signed = (x, digits = 2) => x.toFixed(digits).replace("-", "\u2212");

// The ends of an interval as lines with their values.
const ends = (range, x, top, base) => range.flatMap((value, i) => [svg("path", { class: "ledger-end", d: `M${x(value)} ${top}V${base}` }),
  text(x(value) + (i ? 5 : -5), top + 9, signed(value), i ? "start" : "end")]);

function ticks(x, { first, n, bin }, base, width) {
  const step = [0.5, 1, 2, 5].find(step => (width - LEFT - RIGHT) * step / (n * bin) >= TICK_EVERY) ?? 10, made = [];
  for (let v = Math.ceil(first * bin / step) * step; v <= (first + n) * bin; v += step)
    made.push(svg("path", { d: `M${x(v)} ${base}v4` }), text(x(v), base + 16, signed(v, step < 1 ? 1 : 0)));
  return made;
}

// `series` are lists of values with `names` and `ranges`; `colour(s, v)` is that of the bar of series s that begins at v. `zero` marks
// 0 if it is in sight. All have one scale.
export function histogram({ series, names, ranges, bin, axis, label, colour, zero = false, width }) {
  const { first, counts } = binned(series, bin), n = counts[0].length, most = Math.max(...counts.flat()), wide = (width - LEFT - RIGHT) / n;
  const x = v => LEFT + (v / bin - first) * wide, height = TOP + BAND * series.length + BOTTOM, last = TOP + BAND * series.length;
  const bands = counts.flatMap((one, s) => {
    const top = TOP + BAND * s, base = top + BAND, tall = count => (BAND - ROOM) * count / most;
    return [...one.map((count, i) => svg("rect", { x: LEFT + i * wide, y: base - tall(count), width: wide, height: tall(count), fill: colour(s, (first + i) * bin), "fill-opacity": 0.6 })),
      svg("path", { d: `M${LEFT} ${top + ROOM}V${base}H${width - RIGHT}` }), ...ends(ranges[s], x, top + ROOM - 12, base),
      text(LEFT, top + 13, names[s], "start"), text(LEFT - 6, top + ROOM + 5, most.toLocaleString("en-GB"), "end"), text(LEFT - 6, base - 1, "0", "end")];
  });
  const mark = zero && first * bin <= 0 ? [svg("path", { class: "ledger-zero", d: `M${x(0)} ${TOP + ROOM}V${last}` })] : [];
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...bands, ...mark,
    ...ticks(x, { first, n, bin }, last, width), text((LEFT + width - RIGHT) / 2, height - 4, axis));
}
