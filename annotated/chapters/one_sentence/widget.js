// Figure 1 with the tensors of a real sentence. The drawing arrives as SVG; here it learns to be chosen from, and every
// box shows in miniature what leaves it.
import { clamp, group, html, onTraits, onWidth, optionsOf, radios, select, setter, slider, unique } from "../../viz/controls.js";
import { bytesOf, svg } from "../../viz/drawing.js";
import { barsOf, codeOf, headsOf, piecesOf, tableOf } from "./panel.js";
import { firstOf, headsPicture, lastOf, mapPicture, matrixPicture, percent, probabilityPicture, scoresPicture, spaced } from "./pictures.js";
import { mapsOf, matrixOf, neighbour } from "./tensors.js";

// What the model's traits mean at the moment: the sentence, the step of writing, the tensors of a box.
function reading(model) {
  const sizes = model.get("sizes"), boxes = model.get("boxes");
  let bytes;
  const read = () => { bytes = bytesOf(model.get("data")); };
  read();
  const sentence = () => model.get("sentences")[model.get("sentence")], layer = () => model.get("layer");
  const steps = () => sentence().next.length, step = () => clamp(model.get("step"), steps());
  const full = box => box.name.replace("*", layer());
  return {
    sizes, boxes, read, sentence, steps, step, layer,
    chosen: () => boxes.find(box => box.name === model.get("box")) ?? boxes[0],
    tokens: box => sentence()[box.side],
    matrix: box => matrixOf(bytes, sentence().tensors[full(box)]),
    maps: box => mapsOf(bytes, sentence().maps[full(box)]),
    // Rows after the current step do not exist yet while a sentence is written: they fade.
    fade: box => row => box.side === "target" && row > step() ? 0.22 : 1,
    shape: box => {
      const size = { ...sizes, S: sentence().source.length, T: sentence().target.length };
      return [box.shape, box.shape.slice(1, -1).split(", ").map(letter => size[letter].toLocaleString("en")).join(" × ")];
    },
  };
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, set, moved) {
  const id = unique("architecture"), now = html("output", { className: "now", htmlFor: `${id}-step` });
  const menu = select([], value => { moved(); set({ sentence: +value, step: 0 }); }, { id: `${id}-sentence` });
  const layers = radios(`${id}-layer`, Array.from({ length: model.get("sizes").L }, (_, i) => [i + 1, ` ${i + 1}`]), layer => set({ layer }));
  const range = slider({ min: 0, id: `${id}-step` }, step => { moved(); set({ step }); });
  const controls = html("div", { className: "controls" },
    html("label", { htmlFor: menu.id, textContent: "Sentence" }), menu,
    html("span", { className: "stepper" }, html("label", { htmlFor: range.id, textContent: "Written" }), range, now),
    group("Layer", html("span", { className: "layers" }, ...layers.labels)));
  const drawing = model.get("drawing").replaceAll("figure-1-", `${id}-`); // ids of its own
  const stage = html("div", { className: "stage", innerHTML: drawing });
  const panel = html("div", { className: "panel", role: "region", "aria-label": "What leaves the chosen box" });
  el.append(html("div", { className: "architecture live" }, controls, html("div", { className: "both" }, stage, panel)));
  for (const twin of document.querySelectorAll(".architecture-twin")) twin.hidden = true;
  return { menu, layers, range, now, panel, figure: stage.querySelector("svg") };
}

// The drawing becomes a group of radio buttons; returns the group of each box.
function makeChoosable(figure, boxes, set) {
  const groups = new Map();
  figure.setAttribute("role", "radiogroup");
  for (const box of boxes) {
    const part = figure.querySelector(`[data-box="${box.name}"]`);
    part.setAttribute("role", "radio");
    part.addEventListener("click", () => set({ box: box.name }));
    part.addEventListener("keydown", event => {
      const next = neighbour(boxes, box, event.key);
      if (!next && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      set({ box: (next ?? box).name });
      groups.get((next ?? box).name).focus();
    });
    groups.set(box.name, part);
  }
  return groups;
}

// What a box shows of itself: words, or a picture.
function miniature(now, box) {
  const one = now.sentence(), here = one.steps[now.step()];
  if (box.name.endsWith("tokens")) {
    return box.side === "source" ? firstOf(one.text, 20) : lastOf(`<s> ${spaced(one.target.slice(1, now.step() + 1))}`, 23);
  }
  if (box.name === "linear") return scoresPicture(here.counts);
  if (box.name === "softmax") return probabilityPicture(here.top.map(piece => piece[1]));
  return box.kind.startsWith("attention") ? headsPicture(now.maps(box), now.fade(box)) : matrixPicture(now.matrix(box), now.fade(box));
}

function drawBox(now, box, part) {
  const [x, y, w, h] = box.place, picture = miniature(now, box), isText = typeof picture === "string";
  part.querySelector(".slot").replaceChildren(isText ? svg("text", { class: "words", x: x + 9, y: y + h - 9 }, ` ${picture}`)
    : svg("image", { x: x + 9, y: y + 18, width: w - 14, height: h - 22, preserveAspectRatio: "none", href: picture.toDataURL() }));
  const seen = isText ? `${box.label} ${picture}` : box.label; // the name begins with what is seen
  const side = box.side === "source" ? "encoder" : "decoder", layer = box.name.includes("*") ? ` layer ${now.layer()}` : " side";
  part.setAttribute("aria-label", `${seen} (${side}${layer}, ${now.shape(box)[1]})`);
}

// The controls, and the words in the drawing that follow the step.
function showStep(now, { menu, layers, range, now: written, figure }, model) {
  const one = now.sentence(), step = now.step(), [piece, p] = one.steps[step].top[0];
  menu.replaceChildren(...optionsOf(model.get("sentences").map((other, i) => [i, other.text])));
  menu.value = model.get("sentence");
  range.max = now.steps() - 1;
  range.value = step;
  layers.show(now.layer());
  written.textContent = `${step} of ${now.steps() - 1} pieces`;
  range.setAttribute("aria-valuetext", `${written.textContent}; next: ${one.next[step]}`);
  const text = (selector, value) => { figure.querySelector(selector).textContent = value; };
  for (const label of figure.querySelectorAll(".which")) label.textContent = `layer ${now.layer()} of ${now.sizes.L}`;
  text(".next", piece.replace("▁", " ").trim() || piece);
  text(".chance", percent(p));
  text(".so-far", lastOf(spaced(one.target.slice(1, step + 1)), 29) || "(nothing)");
}

function titleOf(now, box) {
  const [letters, numbers] = now.shape(box), stack = box.name.startsWith("e") ? "Encoder" : "Decoder";
  const where = box.name.includes("*") ? `${stack}, layer ${now.layer()}: ` : "";
  return [html("p", { className: "title", textContent: where + box.label }), html("p", { textContent: box.what }),
    html("p", { className: "facts" }, html("b", { textContent: letters }), ` = ${numbers} · section ${box.paper}`)];
}

// What the panel shows of a tensor: a table of its numbers, under the heads' maps where there are any.
function tensorOf(now, box, panel, held) {
  const home = box.side === "target" ? now.step() : 0, fade = now.fade(box), names = now.tokens(box);
  const heads = () => {
    const maps = now.maps(box), row = clamp(held.cursor?.row ?? home, maps.rows);
    const keys = now.sentence()[box.name.includes("cross") ? "source" : box.side];
    return headsOf(maps, { queries: names, keys, row, draw: h => mapPicture(maps, h, fade) });
  };
  const choose = (row, column) => {
    held.cursor = { row, column };
    const shown = panel.querySelector(".maps"); // the maps follow the row
    if (!shown || shown.dataset.row === `${row}`) return;
    const fresh = heads();
    fresh.dataset.row = row;
    shown.replaceWith(fresh);
  };
  const width = Math.max(200, Math.min(360, panel.clientWidth || 330));
  const table = tableOf(now.matrix(box), { names, fade, step: box.side === "target" ? now.step() : null, width, home, choose,
    cursor: () => held.cursor });
  return box.kind === "attention" ? [heads(), table] : [table];
}

function panelOf(now, box, panel, held) {
  if (box.name.endsWith("tokens")) {
    return [piecesOf(now.tokens(box), now.sentence()[`${box.side}Ids`], i => now.fade(box)(i) < 1)];
  }
  if (box.kind !== "output") return tensorOf(now, box, panel, held);
  return [barsOf(now.sentence().steps[now.step()], now.sentence().range, now.sizes.V, box.name === "softmax")];
}

function render({ model, el }) {
  const set = setter(model), now = reading(model), held = { cursor: null };
  const parts = build(model, el, set, () => { held.cursor = null; });
  const groups = makeChoosable(parts.figure, now.boxes, set);

  function drawPanel() {
    const box = now.chosen();
    parts.panel.replaceChildren(...titleOf(now, box), ...panelOf(now, box, parts.panel, held), codeOf(box));
  }
  function choose() {
    const { name } = now.chosen();
    for (const [key, part] of groups) {
      part.setAttribute("aria-checked", key === name);
      part.setAttribute("tabindex", key === name ? 0 : -1);
    }
    drawPanel();
  }
  function drawAll() {
    showStep(now, parts, model);
    for (const box of now.boxes) drawBox(now, box, groups.get(box.name));
    choose();
  }

  model.on("change:box", choose);
  onTraits(model, ["sentence", "layer", "step"], drawAll);
  model.on("change:data", now.read);
  model.on("change:sentences", () => { now.read(); drawAll(); });
  drawAll();
  return onWidth(parts.panel, drawPanel);
}

export default { render };
