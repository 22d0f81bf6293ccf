// Rows of tiles: batches drawn on a canvas, shelf after shelf, over a strip with the length of every batch.
import { BLUE, GREEN, GREY, ORANGE } from "../../viz/drawing.js";
import { FIXED_PAIRS, FIXED_WIDTH, widths } from "./batches.js";

const BAND = 128, BANDS = 3, LABEL = 15, STRIP = 74;
export const SOURCE = BLUE, TARGET = ORANGE, EMPTY = "rgba(138, 143, 152, 0.32)";
export const HEIGHT = BANDS * (BAND + LABEL) + STRIP;

// A padded batch as columns of rows: [colour, start, row, length] of each stretch of tiles.
function paddedColumns(batch, rows, way) {
  const [s, t] = widths(batch, way), columns = [], tall = Math.ceil(batch.length / Math.ceil(batch.length / rows));
  for (let i = 0; i < batch.length; i += tall) {
    const cells = batch.slice(i, i + tall).flatMap((pair, row) => {
      const a = Math.min(pair[0], s), b = Math.min(pair[1], t);
      return [[SOURCE, 0, row, a], [EMPTY, a, row, s - a], [TARGET, s, row, b], [EMPTY, s + b, row, t - b]]
        .filter(part => part[3] > 0);
    });
    columns.push({ width: s + t, split: s, cells, rows: Math.min(tall, batch.length - i) });
  }
  return columns;
}

// A packed batch is one line a side; here it is folded, and sentences alternate in strength.
function packedColumns(batch, rows, cell, width) {
  const totals = [0, 1].map(side => batch.reduce((sum, pair) => sum + pair[side], 0));
  const side = Math.min(Math.floor((width / cell - 4) / 2), Math.max(20, Math.ceil(Math.max(...totals) / rows)));
  const cells = [];
  for (const which of [0, 1]) {
    let place = 0;
    batch.forEach((pair, i) => {
      for (let left = pair[which]; left > 0;) {
        const column = place % side, length = Math.min(left, side - column);
        cells.push([(which ? TARGET : SOURCE) + (i % 2 ? "99" : ""), which * side + column, Math.floor(place / side), length]);
        place += length; left -= length;
      }
    });
  }
  return [{ width: 2 * side, split: side, cells, rows: Math.ceil(Math.max(...totals) / side) }];
}

function drawColumn(pen, { left, column, name }, y, cell, ink) {
  if (name) { pen.fillStyle = ink; pen.fillText(name, left, y + LABEL - 4); }
  for (const [colour, start, row, length] of column.cells) {
    pen.fillStyle = colour;
    pen.fillRect(left + start * cell + (start >= column.split ? 2 : 0), y + LABEL + row * cell,
      length * cell, cell > 2.5 ? cell - 0.7 : cell);
  }
}

// The side of a tile, so that a few batches fit into the width.
function cellOf(batches, { way, budget }, width) {
  const tokens = way === "fixed" ? FIXED_PAIRS * FIXED_WIDTH : budget;
  const widest = way === "packed" ? 1 : Math.max(...batches.map(batch => widths(batch, way)[0] + widths(batch, way)[1]));
  return Math.min(6, Math.max(1, Math.sqrt(width * BAND / (6.5 * tokens))), (width - 3) / widest);
}

// Which column stands where: [{ y, columns: [{ left, column, name }] }] of each shelf, from batch `from` on until the
// picture is full.
export function shelvesOf(batches, from, state, width, cell) {
  const rows = Math.floor(BAND / cell), limit = BANDS * (BAND + LABEL), shelves = [];
  const tallest = columns => Math.max(...columns.map(({ column }) => column.rows));
  let x = 0, y = 0, shelf = [];
  const finish = () => {
    shelves.push({ y, columns: shelf });
    y += LABEL + cell * tallest(shelf);
    shelf = []; x = 0;
  };
  for (let i = from; i < batches.length; i++) {
    const columns = state.way === "packed" ? packedColumns(batches[i], rows, cell, width) : paddedColumns(batches[i], rows, state.way);
    for (const [c, column] of columns.entries()) {
      const wide = column.width * cell + 2;
      if (x + wide > width && shelf.length) finish();
      if (y + LABEL + tallest([...shelf, { column }]) * cell > limit) { if (shelf.length) finish(); return shelves; }
      shelf.push({ left: x, column, name: c ? "" : String(i + 1) });
      x += wide + (c === columns.length - 1 ? 10 : 3);
    }
  }
  if (shelf.length) finish();
  return shelves;
}

// Draws batches from `from` on; answers how many are drawn in the end.
export function drawTiles(pen, batches, from, state, width, ink) {
  const cell = cellOf(batches, state, width), shelves = shelvesOf(batches, from, state, width, cell);
  pen.font = "11px system-ui, sans-serif";
  for (const { y, columns } of shelves) for (const placed of columns) drawColumn(pen, placed, y, cell, ink);
  const names = shelves.flatMap(({ columns }) => columns.map(({ name }) => +name));
  return Math.max(from, ...names);
}

// All batches of the epoch, in order: how long their longest sentence is. Those drawn above are marked.
export function drawStrip(pen, batches, from, last, { way }, width, ink) {
  const top = BANDS * (BAND + LABEL) + 18, tall = STRIP - 22, wide = width / batches.length;
  const most = batches.map(batch => Math.max(...widths(batch, way === "fixed" ? "come" : way)));
  const scaled = tall / Math.max(...most);
  pen.fillStyle = ink;
  pen.fillText(`longest sentence of each batch, first to last (highest: ${Math.max(...most)})`, 0, top - 5);
  most.forEach((length, i) => {
    pen.fillStyle = i >= from && i < last ? GREEN : GREY;
    pen.fillRect(i * wide, top + tall - length * scaled, Math.max(0.8, wide > 3 ? wide - 1 : wide), length * scaled);
  });
}
