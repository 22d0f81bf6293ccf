// One attention map, drawn as a matrix or as arcs: { picture, place(query, key), cellAt({ x, y }) }.
import { BLUE, GREEN, ORANGE, longest, setAttributes, shorten, svg } from "./drawing.js";

const ending = (token, most) => token.length > most ? "…" + token.slice(1 - most) : token; // what is written next stays

function word(token, x, y, size, most, more = {}) {
  return svg("text", { x, y, "dominant-baseline": "central", style: `font-size:${size}px`, ...more }, shorten(token, most));
}

// Where the lines of an arc drawing run: y of each token, x of both sides.
function arcLines(use, weights, { y, side, width }) {
  const columns = use.keys.length, lines = [];
  weights.forEach((byte, i) => {
    const q = Math.floor(i / columns), k = i % columns, weight = byte / 255, middle = width / 2;
    if (weight < 0.03) return;
    const line = svg("path", { d: `M${side} ${y(q)}C${middle} ${y(q)} ${middle} ${y(k)} ${width - side} ${y(k)}`,
      "stroke-width": Math.max(0.7, 7 * weight) });
    lines.push({ line, q, weight });
  });
  return lines;
}

// Queries in the left column, keys in the right one; a line is as wide as its weight.
export function drawArcs(use, weights, available) {
  const rows = use.queries.length, columns = use.keys.length, step = 24, width = Math.min(available, 520);
  const size = 12, side = 0.36 * width, most = Math.floor(side / (size * 0.62)), y = i => (i + 0.5) * step + 4;
  const arcs = arcLines(use, weights, { y, side, width });
  const gold = use.gold.map(([q, k]) => svg("path", { d: `M${side} ${y(q)}L${width - side} ${y(k)}`,
    stroke: GREEN, "stroke-width": 1.6, "stroke-dasharray": "2 4" }));
  const frame = x => svg("rect", { x, width: side - 2, height: step - 2, rx: 4, fill: "none", stroke: ORANGE, "stroke-width": 2 });
  const left = frame(1), right = frame(width - side + 1);
  const picture = svg("svg", { width, height: step * Math.max(rows, columns) + 8 },
    svg("g", { fill: "none" }, ...arcs.map(({ line }) => line), ...gold),
    ...use.queries.map((token, i) => word(ending(token, most), side - 6, y(i), size, most, { "text-anchor": "end" })),
    ...use.keys.map((token, i) => word(token, width - side + 6, y(i), size, most)), left, right);
  const place = (query, key) => {
    left.setAttribute("y", y(query) - step / 2 + 1);
    right.setAttribute("y", y(key) - step / 2 + 1);
    for (const { line, q, weight } of arcs) setAttributes(line, { stroke: q === query ? ORANGE : BLUE,
      "stroke-opacity": q === query ? 0.35 + 0.6 * weight : 0.08 + 0.4 * weight });
  };
  const cellAt = ({ y: at, share }) => {
    const i = Math.floor((at - 4) / step), isKey = share > 0.5;
    return i >= 0 && i < (isKey ? columns : rows) ? isKey ? { key: i } : { query: i } : null;
  };
  return { picture, place, cellAt };
}

function matrixLayout(use, width) {
  const left = Math.min(8 + 7 * longest(use.queries), 0.38 * width), top = 12 + 6.6 * Math.min(longest(use.keys), 12);
  const cell = Math.max(10, Math.min(38, (width - left - 26) / use.keys.length));
  return { left, top, cell, size: Math.min(12, cell * 0.85) };
}

// Queries on rows, keys on columns; `canvas` holds the weights as pixels.
export function drawMap(use, canvas, available) {
  const rows = use.queries.length, columns = use.keys.length, { left, top, cell, size } = matrixLayout(use, available);
  const most = Math.floor(left / (size * 0.56)), middle = i => left + (i + 0.5) * cell;
  const whole = { x: left, y: top, width: cell * columns, height: cell * rows };
  const queries = svg("rect", { fill: "none", stroke: "currentColor", "stroke-opacity": 0.7 });
  const chosen = svg("rect", { fill: "none", stroke: ORANGE, "stroke-width": 3 });
  const picture = svg("svg", { width: left + cell * columns + 24, height: top + cell * rows + 2 },
    ...use.queries.map((token, i) => word(ending(token, most), left - 5, top + (i + 0.5) * cell, size, most, { "text-anchor": "end" })),
    ...use.keys.map((token, i) => word(token, middle(i), top - 5, size, 12, { transform: `rotate(-60 ${middle(i)} ${top - 5})` })),
    svg("image", { ...whole, preserveAspectRatio: "none", href: canvas.toDataURL() }),
    svg("rect", { ...whole, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    ...use.gold.map(([q, k]) => svg("rect", { x: left + k * cell + 1.5, y: top + q * cell + 1.5,
      width: cell - 3, height: cell - 3, fill: "none", stroke: GREEN, "stroke-width": 2 })), queries, chosen);
  const place = (query, key) => {
    setAttributes(queries, { x: left, y: top + query * cell, width: cell * columns, height: cell });
    setAttributes(chosen, { x: left + key * cell, y: top + query * cell, width: cell, height: cell });
  };
  const cellAt = ({ x, y }) => {
    const key = Math.floor((x - left) / cell), query = Math.floor((y - top) / cell);
    return key >= 0 && key < columns && query >= 0 && query < rows ? { query, key } : null;
  };
  return { picture, place, cellAt };
}
