// The picture of a beam search: marks, edges, routes and labels of its tree.
import { GREEN, ORANGE, RED, VIOLET, svg } from "../../viz/drawing.js";
import { number } from "./sentences.js";
import { share, turn } from "./tree.js";

export const COLOURS = { winner: GREEN, greedy: ORANGE, reference: VIOLET, forced: RED };

export function mark(fate, x, y) {
  const shape = fate === "finished" || fate === "evicted" ? svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 })
    : fate === "pruned" ? svg("path", { d: `M${x - 4} ${y - 4} l8 8 m0 -8 l-8 8` })
    : fate === "cap" ? svg("path", { d: `M${x} ${y - 6} l6 6 l-6 6 l-6 -6 Z` }) : svg("circle", { cx: x, cy: y, r: fate === "ghost" ? 4 : 5 });
  shape.setAttribute("class", `mark ${fate}`);
  return shape;
}

// The numbers of the steps above the tree, and with `bound` what could be hoped for and what was held.
function heads(found, at, bound) {
  const parts = [];
  const head = (content, x, y, name = "head") => parts.push(svg("text", { x, y, class: name }, content));
  for (let step = 1; step <= at.steps; step++) {
    const info = found.steps[step - 1], name = step === found.steps.length ? "head stop" : "head", [x, y] = at.head(step);
    head(step, x + 2, y + 14);
    if (!bound || !info) continue;
    head(number(info.hope), x, y + 34, name);
    head(number(info.held), x, y + 52, name);
  }
  for (let band = 0; bound && band <= at.band.at(-1); band++) ["step", "hope", "held"].forEach((row, i) => head(row, 0, at.tops[band] + [14, 34, 52][i]));
  return parts;
}

const routePath = (name, nodes, shift, at) => svg("path", { class: `route ${name}`, stroke: COLOURS[name],
  d: nodes.map(node => turn(node, at, shift)).join(" ") || "M0 0" });

function nodeGroup(node, at, label, choose) {
  const [x, y] = at.place(node), group = svg("g", { class: `node ${node.fate}`, "data-at": node.at }, mark(node.fate, x, y));
  const percent = at.narrow ? { class: "share", x: x - 5, y: y + 17 } : { class: "share", dx: 4 };
  if (node.step) group.append(svg("text", { x: x - 5, y: y - 10 }, label(node.token, node.step), svg("tspan", percent, share(node))));
  group.append(svg("rect", { ...at.box(node), class: "hit" }));
  group.addEventListener("click", () => choose(node));
  return group;
}

// The whole picture; `choose` hears of the node that was clicked.
export function drawTree({ found, shown, lines, at, label, bound, choose }) {
  const picture = svg("svg", { width: at.width, height: at.height, tabindex: 0, role: "application",
    "aria-label": `A tree of ${found.nodes.length} candidates in ${found.steps.length} steps. Right and left arrow `
      + "follow a hypothesis, up and down walk through a step, Enter forces the token." });
  picture.append(...heads(found, at, bound));
  const nodes = [...shown.values()], routes = Object.entries(lines), middle = routes.length > 1 ? 1 : 0;
  for (const node of nodes) if (node.up) picture.append(svg("path", { d: turn(node, at, 0, false), class: `edge ${node.fate}` }));
  routes.forEach(([name, line], i) => picture.append(routePath(name, line, 3 * (i - middle), at)));
  picture.append(...nodes.map(node => nodeGroup(node, at, label, choose)));
  const cursor = svg("rect", { class: "cursor", rx: 5 });
  picture.append(cursor);
  return { picture, cursor };
}
