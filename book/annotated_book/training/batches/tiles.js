// Rows of tiles: batches drawn on a canvas, shelf after shelf, over a strip with the length of every batch.
import { BLUE, GREEN, GREY, ORANGE } from "../../viz/drawing.js";
import { FIXED_PAIRS, FIXED_WIDTH, widths } from "./batches.js";

const BAND = 128, BANDS = 3, LABEL = 15, STRIP = 74;
// Between the columns of a batch, between a frame and what it holds, and between frames.
const BESIDE = 3, EDGE = 3, APART = 8;
export const SOURCE = BLUE, TARGET = ORANGE, EMPTY = "rgba(138, 143, 152, 0.32)";
export const HEIGHT = BANDS * (BAND + LABEL) + STRIP;

// A padded batch as columns of rows: [colour, start, row, length] of each stretch of tiles. The columns are as tall as a
// shelf, or taller where their number would not fit into the width.
function paddedColumns(batch, rows, way, cell, width) {
  const [s, t] = widths(batch, way), columns = [];
  const most = Math.max(1, Math.floor((width - 2 * EDGE + BESIDE) / ((s + t) * cell + 2 + BESIDE)));
  const tall = Math.ceil(batch.length / Math.min(most, Math.ceil(batch.length / rows)));
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
  if (name) { pen.fillStyle = ink; pen.fillText(name, left, y + LABEL - EDGE - 2); }
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
  return Math.min(6, Math.max(1, Math.sqrt(width * BAND / (6.5 * tokens))), (width - 2 * EDGE - 3) / widest);
}

// A frame around every batch.
function drawFrame(pen, { left, wide, rows }, y, cell, ink) {
  pen.strokeStyle = ink; pen.globalAlpha = 0.55;
  pen.strokeRect(Math.round(left) + 0.5, Math.round(y + LABEL - EDGE) + 0.5, Math.round(wide) - 1, Math.round(rows * cell + 2 * EDGE) - 1);
  pen.globalAlpha = 1;
}

// Which batch stands where: [{ y, columns: [{ left, column, name }], frames: [{ left, wide, rows }] }] of each shelf, from
// batch `from` on until the picture is full. No batch is divided between two shelves.
export function shelvesOf(batches, from, state, width, cell) {
  const rows = Math.floor((BAND - 2 * EDGE) / cell), limit = BANDS * (BAND + LABEL), shelves = [];
  const height = frames => LABEL + cell * Math.max(...frames.map(frame => frame.rows)) + 2 * EDGE;
  let x = 0, y = 0, columns = [], frames = [];
  const finish = () => {
    if (!frames.length) return;
    shelves.push({ y, columns, frames });
    y += height(frames);
    columns = []; frames = []; x = 0;
  };
  for (let i = from; i < batches.length; i++) {
    const made = state.way === "packed" ? packedColumns(batches[i], rows, cell, width - 2 * EDGE)
      : paddedColumns(batches[i], rows, state.way, cell, width);
    const wides = made.map(column => column.width * cell + 2), inner = wides.reduce((a, b) => a + b + BESIDE);
    const frame = { left: x, wide: inner + 2 * EDGE, rows: Math.max(...made.map(column => column.rows)) };
    if (x + frame.wide > width) { finish(); frame.left = x; }
    if (y + height([...frames, frame]) > limit) break;
    frames.push(frame);
    let left = frame.left + EDGE;
    for (const [c, column] of made.entries()) {
      columns.push({ left, column, name: c ? "" : String(i + 1) });
      left += wides[c] + BESIDE;
    }
    x += frame.wide + APART;
  }
  finish();
  return shelves;
}

// Draws batches from `from` on; answers how many are drawn in the end.
export function drawTiles(pen, batches, from, state, width, ink) {
  const cell = cellOf(batches, state, width), shelves = shelvesOf(batches, from, state, width, cell);
  pen.font = "11px system-ui, sans-serif";
  for (const { y, columns, frames } of shelves) {
    for (const frame of frames) drawFrame(pen, frame, y, cell, ink);
    for (const placed of columns) drawColumn(pen, placed, y, cell, ink);
  }
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
