// Neighbours of a box in figure 1, for the arrow keys: up and down follow the flow, left and right cross to the other column.
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
