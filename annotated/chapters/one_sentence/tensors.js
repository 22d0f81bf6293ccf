// Tensors of a recorded sentence, one byte a number: matrices from -scale to scale, attention maps from 0 to 1.
export function matrixOf(bytes, [from, rows, columns, scale, low, high, dark]) {
  const value = (row, column) => (bytes[from + row * columns + column] - 128) / 127;
  return { rows, columns, low, high, at: (row, column) => value(row, column) * scale,
    opacity: (row, column) => 255 * Math.min(1, Math.abs(value(row, column)) / dark) ** 0.75,
    isPositive: (row, column) => value(row, column) > 0 };
}

export function mapsOf(bytes, [from, count, rows, columns]) {
  const weight = (head, row, column) => bytes[from + (head * rows + row) * columns + column] / 255;
  return { count, rows, columns, weight, opacity: (head, row, column) => 255 * weight(head, row, column) ** 0.8 };
}

// The box that a key leads to: up and down follow the flow, left and right cross to the other column.
export function neighbour(boxes, box, key) {
  const i = boxes.indexOf(box), middle = other => other.place[1] + other.place[3] / 2;
  if (key === "ArrowUp") return boxes[i + 1];
  if (key === "ArrowDown") return boxes[i - 1];
  if (key === "Home") return boxes[0];
  if (key === "End") return boxes[boxes.length - 1];
  if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
  const others = boxes.filter(other => other.side !== box.side && (other.side === "source") === (key === "ArrowLeft"));
  return others.sort((a, b) => Math.abs(middle(a) - middle(box)) - Math.abs(middle(b) - middle(box)))[0];
}
