// Lines between tokens: from each token that the model wrote to the source tokens that it looked at, as wide as the weight.
import { onWidth } from "../controls.js";
import { setAttributes, svg } from "../drawing.js";

const SEEN = 0.08, WIDEST = 7; // weights below are not drawn; pixels for a weight of 1

// The token to begin with: its heaviest look goes farthest from its own place, counted in shares of both sentences.
export function farthest(rows) {
  const away = looks => looks.indexOf(Math.max(...looks)) / Math.max(1, looks.length - 1);
  const distance = (looks, t) => Math.abs(away([...looks]) - t / Math.max(1, rows.length - 1));
  return rows.reduce((best, looks, t) => distance(looks, t) > distance(rows[best], best) + 1e-9 ? t : best, 0);
}

const wraps = row => row.length > 1 && row.at(-1).offsetTop - row[0].offsetTop > row[0].offsetHeight / 2;

// A picture over `frame`, which holds both rows (or columns) of tokens: `sources()` and `targets()` give their elements.
// `add(looks)` draws the lines of the next token, `light(i)` brings those of token i to the fore, `clear()` takes all away.
// Lines are drawn anew when the frame changes its size.
export function attentionLines(frame, sources, targets) {
  const picture = svg("svg", { class: "live-lines", "aria-hidden": "true" });
  let rows = [], lit = -1;

  function lineTo(target, source, around, beside) {
    const a = target.getBoundingClientRect(), b = source.getBoundingClientRect();
    const [x1, y1, x2, y2] = beside
      ? [a.left - 4, (a.top + a.bottom) / 2, b.right + 4, (b.top + b.bottom) / 2]
      : [(a.left + a.right) / 2, a.top - 2, (b.left + b.right) / 2, b.bottom + 2];
    const at = (x, y) => `${(x - around.left).toFixed(1)} ${(y - around.top).toFixed(1)}`;
    const middle = beside ? [[(x1 + x2) / 2, y1], [(x1 + x2) / 2, y2]] : [[x1, (y1 + y2) / 2], [x2, (y1 + y2) / 2]];
    return `M${at(x1, y1)} C${at(...middle[0])} ${at(...middle[1])} ${at(x2, y2)}`;
  }
  function lines(looks, i) {
    const target = targets()[i], from = sources(), around = frame.getBoundingClientRect();
    const beside = from.length && target && from.at(-1).getBoundingClientRect().right < targets()[0].getBoundingClientRect().left;
    const paths = [...looks].flatMap((weight, s) => weight < SEEN || !target || !from[s] ? [] : [svg("path",
      { d: lineTo(target, from[s], around, beside), "stroke-width": (weight * WIDEST).toFixed(2), pathLength: 1 })]);
    return svg("g", {}, ...paths);
  }
  function show() {
    [...picture.children].forEach((group, i) => setAttributes(group, { class: i === lit ? "live-lit" : "" }));
  }
  // Rows that wrap become columns, so that no line crosses a word.
  function stack() {
    if (!frame.classList.contains("live-stacked") && (wraps(sources()) || wraps(targets()))) {
      frame.classList.add("live-stacked");
      draw();
    }
  }
  function add(looks) {
    stack();
    rows.push(looks);
    picture.append(lines(looks, rows.length - 1));
    light(rows.length - 1);
  }
  function light(i) {
    lit = i;
    show();
  }
  function redraw() {
    frame.classList.remove("live-stacked");
    draw();
    stack();
  }
  function draw() {
    picture.replaceChildren(...rows.map(lines));
    picture.classList.add("live-still");
    show();
  }
  function clear() {
    rows = [];
    picture.replaceChildren();
    picture.classList.remove("live-still");
    frame.classList.remove("live-stacked");
  }
  frame.append(picture);
  onWidth(frame, redraw);
  return { add, light, clear, redraw, show(all) { clear(); all.forEach(add); redraw(); } };
}
