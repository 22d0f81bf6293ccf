// The table of slots: what each reads, a cell for each slot that it may look into, what it must write, a bar.
import { BLUE, ORANGE, setAttributes, svg, unmarked } from "../../viz/drawing.js";
import { holds, reads, sees } from "./slots.js";

function layout(n, width) {
  const text = width < 480 ? 84 : 120, meter = width < 480 ? 56 : 110;
  const cell = Math.max(9, Math.min(26, (width - 2 * text - meter - 34) / n)), height = Math.max(22, Math.min(26, cell));
  const left = 22 + text, right = left + cell * n + 8;
  return { n, text, meter, cell, height, left, right, top: 22, whole: right + text + meter, size: Math.min(13, height * 0.62) };
}

function heads({ left, right, cell, n, text, meter }) {
  const head = (words, x, anchor = "start") => svg("text", { x, y: 13, class: "head", "text-anchor": anchor }, words);
  return [head("reads", left - 6, "end"), head(cell * n > 70 ? "may attend to" : "sees", left + cell * n / 2, "middle"),
    head("must write", right), head(meter < 80 ? "p" : "probability", right + text)];
}

function cellOf(x, y, { cell, height }) {
  const a = cell * 0.3, middle = y + height / 2;
  return {
    paint: svg("rect", { x, y, width: cell, height, class: "cell" }),
    cross: svg("path", { class: "cross", d: `M${x + a} ${middle - a}l${2 * a} ${2 * a}m0 ${-2 * a}l${-2 * a} ${2 * a}` }),
    star: svg("path", { class: "star", d: `M${x + cell / 2} ${middle - a}l${a} ${a}l${-a} ${a}l${-a} ${-a}z` }),
  };
}

function rowOf(token, i, at, choose) {
  const { n, text, meter, cell, height, left, right, whole, size } = at, y = at.top + i * height;
  const write = (attributes, content = "") => svg("text", { y: y + height / 2, "dominant-baseline": "central",
    style: `font-size:${size}px`, ...attributes }, content);
  const box = { x: right + text, y: y + height * 0.28, height: height * 0.44 }, row = { x: 0, y, width: whole, height };
  const band = svg("rect", { ...row, class: "band" }), hit = svg("rect", { ...row, class: "hit" });
  const read = write({ x: left - 6, "text-anchor": "end" }), written = write({ x: right }, unmarked(token));
  const bar = svg("rect", { ...box, width: 0, fill: BLUE }), frame = svg("rect", { ...box, width: meter - 6, class: "frame" });
  const cells = Array.from({ length: n }, (_, k) => cellOf(left + k * cell, y, at));
  hit.addEventListener("click", () => choose(i));
  return { band, read, written, bar, full: meter - 6, cells, elements: [band, write({ x: 2, class: "number" }, `${i + 1}`), read,
    ...cells.flatMap(c => [c.paint, c.cross, c.star]), written, frame, bar, hit] };
}

// The picture without its colours, and its rows; `choose` hears of the slot that was clicked.
export function drawTable(target, width, choose) {
  const at = layout(target.length, width), rows = target.map((token, i) => rowOf(token, i, at, choose));
  const picture = svg("svg", { width: at.whole, height: at.top + at.height * at.n + 4, role: "img" },
    ...heads(at), ...rows.flatMap(row => row.elements));
  const fit = text => { // long words are cut to their column
    for (let s = text.textContent; text.getComputedTextLength() > at.text - 8 && s.length > 2;)
      text.textContent = `${s = s.slice(0, -1)}…`;
  };
  return { picture, rows, fit };
}

export function colour({ rows, fit }, target, state, now, recorded) {
  rows.forEach((row, i) => {
    row.band.classList.toggle("now", i === now);
    row.read.textContent = unmarked(reads(target, state.shift, i));
    fit(row.read);
    let leak = false;
    row.cells.forEach(({ paint, cross, star }, k) => {
      const open = sees(state, i, k), answer = open && holds(state, i, k);
      leak ||= answer;
      setAttributes(paint, { fill: answer ? ORANGE : BLUE, "fill-opacity": open ? (answer ? 0.9 : i === now ? 0.75 : 0.35) : 0 });
      cross.style.display = open ? "none" : "";
      star.style.display = answer ? "" : "none";
    });
    setAttributes(row.bar, { width: row.full * recorded.slots[i][0], fill: leak ? ORANGE : BLUE });
  });
}
