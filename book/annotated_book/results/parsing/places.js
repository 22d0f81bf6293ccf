// Places of a tree's words and constituents in a drawing, and which one an arrow key leads to; what is drawn is in picture.js.
const GAP = 16, LEVEL = 38, LETTER = 7.8, ROW = 26, COLUMN = 52, TOP = 16, LOOSEST = 34; // pixels; the last: by how much words stand further apart than they must, where there is room

// Words of a constituent that is still open: up to the last leaf that was written.
export const endOf = (node, read) => node.to < 0 ? read.leaves.length : node.end;

export const wordsOf = (node, read, words) => words.slice(node.start, endOf(node, read));

// { width, height, sideways, word(i), node(k) }: centres of words and constituents. A tree that is too wide for the room lies on
// its side: the root at the left, the words in a column at the right.
export function placesOf(read, words, room) {
  const least = words.map(word => Math.max(24, LETTER * word.length) + GAP), depth = Math.max(0, ...read.nodes.map(node => node.depth + 1));
  const needed = least.reduce((sum, width) => sum + width, 0), sideways = needed > room;
  const more = sideways ? 0 : Math.min(LOOSEST, (room - needed) / words.length || 0), widths = least.map(width => width + more), wide = needed + more * words.length;
  const starts = widths.map((_, i) => widths.slice(0, i).reduce((sum, width) => sum + width, 0));
  const along = i => sideways ? ROW * (i + 0.5) : (starts[i] ?? wide) + (widths[i] ?? GAP) / 2;
  const middles = middlesOf(read, along), across = COLUMN * depth + 8;
  const word = i => sideways ? { x: across, y: along(i) } : { x: along(i), y: TOP + LEVEL * Math.max(depth, 1) };
  const node = k => sideways ? { x: COLUMN * (read.nodes[k].depth + 0.5) - 4, y: middles[k] } : { x: middles[k], y: TOP + LEVEL * read.nodes[k].depth };
  const longest = Math.max(0, ...widths);
  return { sideways, word, node, width: sideways ? across + longest : wide, height: sideways ? ROW * words.length : TOP + LEVEL * Math.max(depth, 1) + 14 };
}

// The middle of each constituent between its first and its last part; one with nothing in it stands at its first word.
function middlesOf(read, along) {
  const at = new Map();
  const middle = part => part.leaf === undefined ? at.get(part) : along(part.leaf);
  for (const node of [...read.nodes].reverse()) { // parts come after what they are in
    const { children } = node;
    at.set(node, children.length ? (middle(children[0]) + middle(children.at(-1))) / 2 : along(node.start));
  }
  return read.nodes.map(node => at.get(node));
}

// The number of the constituent that an arrow leads to from number k: up to the parent, down to the first part, left and right to
// its neighbours; k itself if there is none. In a drawing that lies on its side the arrows turn with it.
export function neighbour(read, k, key, sideways) {
  const turned = { ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown", ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight" };
  const node = read.nodes[k], inner = parts => parts.filter(part => part.leaf === undefined);
  const among = node.parent ? inner(node.parent.children) : [node], place = among.indexOf(node);
  const found = { ArrowUp: node.parent, ArrowDown: inner(node.children)[0], ArrowLeft: among[place - 1], ArrowRight: among[place + 1] }[sideways ? turned[key] : key];
  return found ? read.nodes.indexOf(found) : k;
}
