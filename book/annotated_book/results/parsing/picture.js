// A tree and its bracket string, linked both ways: point at a bracket, or at a constituent, and both show what belongs to it.
import { clamp, html, onWidth } from "../../viz/controls.js";
import { svg } from "../../viz/drawing.js";
import { endOf, neighbour, placesOf, wordsOf } from "./places.js";

export const NAMES = {
  S: "clause", SQ: "yes/no question", SBARQ: "question with a question word", SBAR: "subordinate clause", NP: "noun phrase",
  VP: "verb phrase", PP: "prepositional phrase", ADJP: "adjective phrase", ADVP: "adverb phrase", PRT: "particle",
  WHNP: "noun phrase with a question word", WHADVP: "adverb phrase with a question word",
  WHADJP: "adjective phrase with a question word", WHPP: "prepositional phrase with a question word", INTJ: "interjection",
  QP: "quantifier phrase", NX: "part of a noun phrase", FRAG: "fragment", SINV: "inverted clause", X: "unknown",
};

// What is said of a constituent.
export function sayNode(node, read, words) {
  const end = endOf(node, read), name = NAMES[node.label] ? `${node.label}, ${NAMES[node.label]}` : node.label;
  const span = end > node.start + 1 ? `words ${node.start + 1} to ${end}` : end > node.start ? `word ${end}` : "no word yet";
  const closing = node.to < 0 ? "not closed yet" : `closed by token ${node.to + 1}`;
  return `${name}: ${wordsOf(node, read, words).join(" ") || "–"} (${span}; opened by token ${node.from + 1}, ${closing}).`;
}

const TURN = { down: 19, along: 27 }, BEFORE_NODE = 14, BEFORE_WORD = 5; // pixels: from a constituent to the turn of its lines, and before what they lead to
const DEEPEST = 24; // levels that are drawn
const NOTHING = { read: { nodes: [], leaves: [], fault: null }, tokens: [], words: [] };

// The bracket string and the drawing of a tree. `show(read, tokens, words, { growing, wrong })` shows what linear.js made of the tokens;
// while they grow, the string keeps the room that it had; `wrong` are the numbers of constituents to mark. `light(k)` marks constituent k, -1 none. Each of the two has one stop for the tabulator key; arrow keys lead on from there.
export class LinkedView {
  constructor(label, chosen = () => {}) {
    this.string = html("div", { className: "parse-string", role: "group", "aria-label": `Bracket string of ${label}; arrow keys go from bracket to bracket` });
    this.drawing = html("div", { className: "parse-tree", role: "group", "aria-label": `Drawing of ${label}; arrow keys go from constituent to constituent` });
    this.note = html("p", { className: "parse-note" });
    this.element = html("div", { className: "parse" }, this.string, this.drawing, this.note);
    Object.assign(this, { chosen, now: NOTHING, lit: -1, brackets: [], nodes: [] });
    this.string.addEventListener("keydown", event => this.alongString(event));
    this.drawing.addEventListener("keydown", event => this.alongTree(event));
    onWidth(this.drawing, () => this.draw());
  }

  show(read, tokens, words, { growing = false, wrong = new Set() } = {}) {
    const holds = this.element.contains(document.activeElement);
    this.now = { read, tokens, words, wrong };
    this.string.style.minHeight = growing ? `${this.string.offsetHeight}px` : ""; // no jump while it grows
    const parts = tokens.map((token, at) => tokenElement(token, at, this.now));
    this.string.replaceChildren(...parts);
    this.brackets = parts.filter(part => part.tagName === "BUTTON").map(button => ({ button, k: this.watch(button) }));
    this.draw();
    if (!holds || !read.nodes[this.lit]) this.light(-1);
  }

  draw() {
    const { read, words } = this.now, places = placesOf(read, words, this.drawing.clientWidth || 600);
    const levels = Math.max(0, ...read.nodes.map(node => node.depth + 1));
    this.sideways = places.sideways;
    if (levels > DEEPEST) {
      this.nodes = [];
      this.drawing.replaceChildren(html("p", { className: "live-caption", textContent: `A tree of ${levels} levels is not drawn.` }));
      this.light(this.lit);
      return;
    }
    this.nodes = read.nodes.map((_, k) => nodeElement(k, this.now, places));
    this.nodes.forEach(node => this.watch(node));
    this.drawing.replaceChildren(svg("svg", { width: places.width, height: places.height },
      svg("g", { class: "parse-edges" }, ...edgesOf(read, places)), ...words.map((_, i) => wordElement(i, this.now, places)), ...this.nodes));
    this.light(this.lit);
  }

  watch(part) {
    const k = Number(part.dataset.in);
    for (const event of ["pointerenter", "focus", "click"]) part.addEventListener(event, () => this.light(k));
    return k;
  }

  light(k) {
    const { read, tokens, words } = this.now, node = read.nodes[k], last = node?.to < 0 ? tokens.length - 1 : node?.to;
    const isIn = part => Boolean(part) && (part === node || isIn(part.parent));
    this.lit = node ? k : -1;
    [...this.string.children].forEach((token, at) => {
      token.classList.toggle("parse-lit", Boolean(node) && at >= node.from && at <= last);
      token.classList.toggle("parse-own", Boolean(node) && (at === node.from || at === node.to));
    });
    for (const part of this.drawing.querySelectorAll("[data-in]")) part.classList.toggle("parse-lit", Boolean(node) && isIn(read.nodes[part.dataset.in]));
    this.nodes.forEach((part, i) => { part.classList.toggle("parse-own", i === k); part.setAttribute("tabindex", i === Math.max(k, 0) ? 0 : -1); });
    const stop = this.brackets.find(({ button }) => button === document.activeElement) ?? this.brackets.find(one => one.k === Math.max(k, 0));
    for (const one of this.brackets) one.button.tabIndex = one === stop ? 0 : -1;
    this.note.textContent = node ? sayNode(node, read, words) : "";
    this.chosen(node ?? null, this.now);
  }

  alongString(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!move) return;
    event.preventDefault();
    const at = this.brackets.findIndex(({ button }) => button === document.activeElement);
    this.brackets[clamp(at + move, this.brackets.length)]?.button.focus();
  }

  alongTree(event) {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    this.nodes[neighbour(this.now.read, Math.max(this.lit, 0), event.key, this.sideways)]?.focus();
  }
}

// A bracket as a button, with what it belongs to; a leaf with its word below it.
function tokenElement(token, at, { read, words }) {
  const k = read.nodes.findIndex(node => node.from === at || node.to === at), fault = read.fault?.position === at ? " parse-fault" : "";
  if (k >= 0) {
    const said = `${token} ${sayNode(read.nodes[k], read, words)}`;
    return html("button", { type: "button", className: `parse-bracket${fault}`, textContent: token, "aria-label": said, "data-in": k });
  }
  const leaf = read.leaves.find(({ token: place }) => place === at), word = leaf && words[leaf.leaf];
  return html("span", { className: `parse-leaf${fault}` }, html("span", { textContent: token }), ...(word && word !== token ? [html("small", { textContent: word })] : []));
}

function wordElement(i, { read, words }, places) {
  const { x, y } = places.word(i), leaf = read.leaves[i], own = leaf ? { "data-in": read.nodes.indexOf(leaf.parent) } : {};
  return svg("text", { x, y, class: leaf ? "parse-word" : "parse-word parse-waits", "text-anchor": places.sideways ? "start" : "middle",
    "dominant-baseline": "central", ...own }, words[i]);
}

function nodeElement(k, { read, words, wrong }, places) {
  const node = read.nodes[k], { x, y } = places.node(k), width = 9 * node.label.length + 10;
  return svg("g", { class: `parse-node${node.to < 0 ? " parse-open" : wrong.has(k) ? " parse-wrong" : ""}`, role: "button", "data-in": k, "aria-label": sayNode(node, read, words) },
    svg("rect", { x: x - width / 2, y: y - 11, width, height: 22, rx: 5 }),
    svg("text", { x, y, "text-anchor": "middle", "dominant-baseline": "central" }, node.label));
}

// A line from each constituent to each of its parts: along the level, then to the part, so that it crosses no other constituent.
function edgesOf(read, places) {
  const at = part => part.leaf === undefined ? places.node(read.nodes.indexOf(part)) : places.word(part.leaf);
  return read.nodes.flatMap((node, k) => node.children.map(part => {
    const from = places.node(k), to = at(part), short = part.leaf === undefined ? BEFORE_NODE : BEFORE_WORD;
    const d = places.sideways ? `M${from.x} ${from.y}h${TURN.along}V${to.y}H${to.x - short}` : `M${from.x} ${from.y}v${TURN.down}H${to.x}V${to.y - 11}`;
    return svg("path", { d, "data-in": k });
  }));
}
