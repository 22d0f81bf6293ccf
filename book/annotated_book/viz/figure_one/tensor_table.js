// Tensor of a box as a table of colours that is read out, and the attention maps of its heads. `follow` goes along with
// the step of writing: nothing is painted anew.
import { arrowOf, clamp, html, onPointer, readout } from "../controls.js";
import { setAttributes, shorten, svg } from "../drawing.js";
import { mapPicture, matrixPicture, share } from "./pictures.js";
import { rowName } from "./reading.js";

const ROOM = { source: 66, target: 124 }; // for the names of the rows
const named = (now, box, row) => box.side === "source" ? shorten(now.tokens(box)[row], 9)
  : `${shorten(now.tokens(box)[row], 8)} → ${shorten(now.sentence().next[row], 8)}`;

function tableDrawing(now, box, tensor, width) {
  const left = ROOM[box.side], cell = tensor.rows > 10 ? 14 : 16, w = width - left, h = cell * tensor.rows;
  const picture = svg("svg", { class: "tensor", width, height: h + 16, role: "application", tabindex: 0,
    "aria-label": `The tensor: ${tensor.rows} tokens on rows, ${tensor.columns} numbers on columns. Arrow keys read it out.` });
  const labels = Array.from({ length: tensor.rows }, (_, i) => svg("text", { x: left - 4, y: (i + 0.5) * cell, "text-anchor": "end",
    "dominant-baseline": "central" }, named(now, box, i)));
  const later = svg("rect", { class: "later", x: left, width: w }), step = svg("rect", { class: "step", x: left, width: w, height: cell });
  const mark = svg("rect", { class: "mark", width: 5, height: cell, visibility: "hidden" });
  picture.append(...labels,
    svg("image", { x: left, y: 0, width: w, height: h, preserveAspectRatio: "none", href: matrixPicture(tensor).toDataURL() }), later,
    svg("rect", { class: "outline", x: left, y: 0, width: w, height: h }),
    svg("text", { x: left, y: h + 12 }, "0"), svg("text", { x: left + w / 2, y: h + 12, "text-anchor": "middle" }, "dimension"),
    svg("text", { x: left + w, y: h + 12, "text-anchor": "end" }, `${tensor.columns - 1}`), ...(box.side === "target" ? [step] : []), mark);
  return { picture, labels, later, step, mark, left, cell, w, h };
}

// `held.cursor` is the cell that is read out; `moved(row)` hears of another row.
export function tableOf(now, box, held, width, moved) {
  const tensor = now.matrix(box), { picture, labels, later, step, mark, left, cell, w, h } = tableDrawing(now, box, tensor, width);
  const said = readout();
  const tell = () => {
    mark.setAttribute("visibility", held.cursor ? "visible" : "hidden");
    said.textContent = `From ${tensor.low.toFixed(2)} to ${tensor.high.toFixed(2)}; blue positive, orange negative.`;
    if (!held.cursor) return;
    const row = clamp(held.cursor.row, tensor.rows), column = clamp(held.cursor.column, tensor.columns);
    said.textContent = `${rowName(now, box, row)}, dimension ${column}: ${tensor.at(row, column).toFixed(2)}`;
    setAttributes(mark, { x: left + (column + 0.5) * w / tensor.columns - 2.5, y: row * cell });
  };
  const go = (row, column) => {
    held.cursor = { row: clamp(row, tensor.rows), column: clamp(column, tensor.columns) };
    tell();
    moved(held.cursor.row);
  };
  const follow = () => {
    const isLater = now.isLater(box), first = box.side === "target" ? now.step() + 1 : tensor.rows;
    labels.forEach((label, row) => label.setAttribute("opacity", isLater(row) ? 0.78 : 1));
    setAttributes(later, { y: first * cell, height: Math.max(0, h - first * cell) });
    step.setAttribute("y", now.step() * cell);
    tell();
  };
  onPointer(picture, ({ x, y }) => { if (x >= left && y <= h) go(Math.floor(y / cell), Math.floor((x - left) / w * tensor.columns)); });
  picture.addEventListener("keydown", event => {
    const move = arrowOf(event), { row, column } = held.cursor ?? { row: box.side === "target" ? now.step() : 0, column: 0 };
    if (!move) return;
    event.preventDefault();
    go(row + move[0], column + move[1]);
  });
  return { element: html("div", {}, picture, said), follow };
}

// The cell of a map at a point, as shares of its width and height.
export const cellAt = (x, y, rows, columns) => ({ row: clamp(Math.floor(y * rows), rows), column: clamp(Math.floor(x * columns), columns) });

// What each head attends to from one row; `follow` shows another. A cell of a map that is pointed at is named below it.
export function headsOf(now, box, held) {
  const maps = now.maps(box), keys = now.keys(box), title = html("p", { className: "note" });
  const parts = Array.from({ length: maps.count }, (_, h) => {
    const mark = html("span", { className: "row" }), key = html("b"), weight = html("span"), image = mapPicture(maps, h);
    image.setAttribute("aria-hidden", "true");
    const map = html("span", { className: "map" }, image, mark);
    for (const event of ["pointermove", "pointerdown"]) map.addEventListener(event, happened => look(h, happened, map.getBoundingClientRect()));
    map.addEventListener("pointerleave", () => follow());
    return { mark, key, weight, element: html("span", { className: "head" }, map, key, weight) };
  });
  const show = (h, row, column) => {
    const { mark, key, weight } = parts[h];
    mark.style.cssText = `top:${100 * row / maps.rows}%;height:${100 / maps.rows}%`;
    key.textContent = keys[column];
    weight.textContent = share(maps.weight(h, row, column));
  };
  const look = (h, { clientX, clientY }, { left, top, width, height }) => {
    const { row, column } = cellAt((clientX - left) / width, (clientY - top) / height, maps.rows, maps.columns);
    title.textContent = `${rowName(now, box, row)}: in head ${h + 1}, the weight on the token under the pointer (rows are queries, columns keys)`;
    show(h, row, column);
  };
  const follow = () => {
    const row = clamp(held.cursor?.row ?? (box.side === "target" ? now.step() : 0), maps.rows);
    title.textContent = `${rowName(now, box, row)}: the token with the most attention, in each head (rows are queries, columns keys)`;
    parts.forEach((_, h) => show(h, row, keys.map((_, i) => maps.weight(h, row, i)).reduce((best, x, i, all) => x > all[best] ? i : best, 0)));
  };
  return { element: html("div", { className: "maps" }, title, ...parts.map(part => part.element)), follow };
}
