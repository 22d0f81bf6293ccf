// Machine of figure 1: the drawing, which is chosen from with mouse, finger and arrow keys, each box with a miniature of
// what leaves it; sliders for the layer and for the step of writing; the panel of the chosen box.
import { button, group, html, onWidth, radios, readout, slider, unique } from "../controls.js";
import { setAttributes, svg } from "../drawing.js";
import { motion } from "./motion.js";
import { neighbour } from "./neighbour.js";
import { panelOf } from "./panel.js";
import { firstOf, headsPicture, lastOf, matrixPicture, probabilityPicture, scoresPicture, share, spaced } from "./pictures.js";
import { readingOf, rowName } from "./reading.js";

// Everything that the reader sees, once; returns the parts that change.
function build(now, drawing, state, moved) {
  const id = unique("machine"), written = html("output", { className: "now", htmlFor: `${id}-step` });
  const layers = radios(`${id}-layer`, Array.from({ length: now.sizes.L }, (_, i) => [i + 1, ` ${i + 1}`]), layer => state.set({ layer }));
  const range = slider({ min: 0, id: `${id}-step` }, step => { moved(); state.set({ step }); });
  const one = button("Write one token"), all = button("▶ Write on");
  const controls = html("div", { className: "controls" },
    html("span", { className: "stepper" }, html("label", { htmlFor: range.id, textContent: "Written" }), range, written),
    html("span", { className: "buttons" }, one, all), group("Layer", html("span", { className: "layers" }, ...layers.labels)));
  const stage = html("div", { className: "stage", innerHTML: drawing.replaceAll("figure-1-", `${id}-`) }); // ids of its own
  const panel = html("div", { className: "panel", role: "region", "aria-label": "What leaves the chosen box" });
  const said = readout("p", { className: "row-said" });
  const element = html("div", { className: "architecture running" }, controls, html("div", { className: "both" }, stage, panel), said);
  return { element, layers, range, written, panel, one, all, said, figure: stage.querySelector("svg") };
}

// The drawing becomes a group of radio buttons; returns the group of each box.
function makeChoosable(figure, boxes, state) {
  const groups = new Map();
  figure.setAttribute("role", "radiogroup");
  for (const box of boxes) {
    const part = figure.querySelector(`[data-box="${box.name}"]`);
    part.setAttribute("role", "radio");
    part.addEventListener("click", () => state.set({ box: box.name }));
    part.addEventListener("keydown", event => {
      const next = neighbour(boxes, box, event.key);
      if (!next && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      state.set({ box: (next ?? box).name });
      groups.get((next ?? box).name).focus();
    });
    groups.set(box.name, part);
  }
  return groups;
}

const FOLLOWS = ["target.tokens", "linear", "softmax"]; // miniatures that are another at each step; the others are only covered

// What a box shows of itself: words, or a picture.
function miniature(now, box) {
  const one = now.sentence(), here = one.steps[now.step()];
  if (box.name === "source.tokens") return firstOf(one.text, 20);
  if (box.name === "target.tokens") return lastOf(`<s> ${spaced(one.target.slice(1, now.step() + 1))}`, 23);
  if (box.name === "linear") return scoresPicture(here.counts);
  if (box.name === "softmax") return probabilityPicture(here.top.map(token => token[1]));
  return box.kind === "attention" ? headsPicture(now.maps(box)) : matrixPicture(now.matrix(box));
}

function drawBox(now, box, part) {
  const [x, y, w, h] = box.place, picture = miniature(now, box), isText = typeof picture === "string", slot = part.querySelector(".slot");
  if (isText) slot.replaceChildren(svg("text", { class: "words", x: x + 9, y: y + h - 9 }, ` ${picture}`));
  else slot.replaceChildren(svg("image", { x: x + 9, y: y + 18, width: w - 14, height: h - 22, preserveAspectRatio: "none", href: picture.toDataURL() }),
    svg("rect", { class: "later", x: x + 9, width: w - 14 }));
  const seen = isText ? `${box.label} ${picture}` : box.label; // the name begins with what is seen
  const side = box.side === "source" ? "encoder" : "decoder", layer = box.name.includes("*") ? ` layer ${now.layer()}` : " side";
  part.setAttribute("aria-label", `${seen} (${side}${layer}, ${now.shape(box)[1]})`);
}

// Rows that are not written yet are covered.
function cover(now, box, part) {
  const [, y, , h] = box.place, rows = now.tokens(box).length, height = (h - 22) * Math.max(0, rows - now.step() - 1) / rows;
  const rect = part.querySelector(".later");
  if (rect && box.kind !== "output") setAttributes(rect, { y: y + h - 4 - height, height });
}

// The controls, and the words in the drawing that follow the step.
function showStep(now, { layers, range, written, figure, said }) {
  const one = now.sentence(), step = now.step(), [token, p] = one.steps[step].top[0];
  range.max = now.steps() - 1;
  range.value = step;
  layers.show(now.layer());
  written.textContent = `${step} of ${now.steps() - 1} tokens`;
  range.setAttribute("aria-valuetext", `${written.textContent}; next: ${one.next[step]}`);
  const text = (selector, value) => { figure.querySelector(selector).textContent = value; };
  text(".next", token.replace("▁", " ").trim() || token);
  text(".chance", share(p));
  text(".so-far", lastOf(spaced(one.target.slice(1, step + 1)), 29) || "(nothing)");
  said.textContent = `${rowName(now, { side: "target" }, step)}: ${share(p)} for “${token}”.`;
}

// The buttons that write: one token, or one after another until somebody stops them.
function writing(now, state, parts, groups, moved) {
  const show = motion(parts.figure, groups, now.boxes);
  let goesOn = false;
  const isLast = () => now.step() === now.steps() - 1;
  const mark = on => { goesOn = on; parts.all.textContent = on ? "❚❚ Pause" : "▶ Write on"; };
  const forward = () => {
    if (isLast()) { moved(); state.set({ step: 0 }); }
    show.play(() => {
      moved();
      state.set({ step: now.step() + 1 });
      if (goesOn && !isLast() && parts.element.isConnected) setTimeout(() => goesOn && forward(), 350); else mark(false);
    });
  };
  parts.one.addEventListener("click", () => { mark(false); forward(); });
  parts.all.addEventListener("click", () => { if (goesOn) { mark(false); show.stop(); } else { mark(true); forward(); } });
  return () => { mark(false); show.stop(); };
}

// `about` is { boxes, sizes }, `state` as in reading.js. Returns the element, and `stop`, which ends what goes on in it.
export function machine(about, drawing, state) {
  const now = readingOf(about, state), held = { cursor: null }, moved = () => { held.cursor = null; };
  const parts = build(now, drawing, state, moved), groups = makeChoosable(parts.figure, now.boxes, state);
  let followPanel = () => {};
  function drawPanel() {
    const { elements, follow } = panelOf(now, now.chosen(), held, parts.panel.clientWidth || 330);
    parts.panel.replaceChildren(...elements);
    followPanel = follow;
  }
  function choose() {
    const { name } = now.chosen();
    for (const [key, part] of groups) {
      part.setAttribute("aria-checked", key === name);
      part.setAttribute("tabindex", key === name ? 0 : -1);
    }
    drawPanel();
  }
  function follow() {
    showStep(now, parts);
    for (const box of now.boxes.filter(one => one.side === "target")) {
      if (FOLLOWS.includes(box.name)) drawBox(now, box, groups.get(box.name));
      cover(now, box, groups.get(box.name));
    }
    followPanel();
  }
  function drawAll() {
    for (const label of parts.figure.querySelectorAll(".which")) label.textContent = `layer ${now.layer()} of ${now.sizes.L}`;
    for (const box of now.boxes) drawBox(now, box, groups.get(box.name));
    choose();
    follow();
  }
  state.on(["box"], choose);
  state.on(["step"], follow);
  state.on(["sentence", "layer"], drawAll);
  const stopWriting = writing(now, state, parts, groups, moved);
  drawAll();
  const stopWatching = onWidth(parts.panel, drawPanel);
  return { element: parts.element, stop: () => { stopWriting(); stopWatching(); } };
}
