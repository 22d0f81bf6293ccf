// Where each word of a caption looks: the picture once for each word, veiled where cross-attention has little weight.
import { group, html, labelled, onTraits, radios, readout, select, setter, unique } from "../../viz/controls.js";

const ZOOM = 4, VEIL = 0.86, PAPER = 246;

// The colours of a picture, three numbers a pixel, from their hexadecimal digits.
export const pixelsOf = digits => Array.from({ length: digits.length / 2 }, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));

// How much of each patch is veiled: nothing where the weight is largest, VEIL where it is zero.
export function veils(weights) {
  const largest = Math.max(...weights);
  return weights.map(w => VEIL * (1 - (largest > 0 ? w / largest : 0)));
}

// A picture under its veils as RGBA bytes.
export function veiled(pixels, weights, side, patch) {
  const bytes = Array.from({ length: 4 * side * side }, () => 255), cover = weights ? veils(weights) : null, across = side / patch;
  for (let i = 0; i < side * side; i++) {
    const at = Math.floor(Math.floor(i / side) / patch) * across + Math.floor(i % side / patch);
    for (let c = 0; c < 3; c++) bytes[4 * i + c] = Math.round(pixels[3 * i + c] + (cover ? cover[at] * (PAPER - pixels[3 * i + c]) : 0));
  }
  return bytes;
}

// The place of the largest weight in words, rows and columns counted from 1.
export function strongest(weights, across) {
  const at = weights.indexOf(Math.max(...weights));
  return `most weight, ${(weights[at] / 10).toFixed(0)} %, on row ${Math.floor(at / across) + 1}, column ${at % across + 1}`;
}

function drawn(bytes, side, label) {
  const canvas = html("canvas", { width: side, height: side, role: "img", "aria-label": label, title: label });
  canvas.getContext("2d").putImageData(new ImageData(Uint8ClampedArray.from(bytes), side, side), 0, 0);
  canvas.style.width = `${ZOOM * side}px`;
  return canvas;
}

const figure = (canvas, text, kind = "") => html("figure", { className: kind }, canvas, html("figcaption", { textContent: text }));

function cardsOf(one, layer, side, patch) {
  const pixels = pixelsOf(one.pixels), across = side / patch;
  const whole = figure(drawn(veiled(pixels, null, side, patch), side, `The picture: ${one.right.join(" ")}`), "picture", "whole");
  const words = one.looks[layer].map((weights, t) => {
    const word = one.words[t] ?? "</s>", wrong = t < one.right.length && one.right[t] !== word;
    return figure(drawn(veiled(pixels, weights, side, patch), side, `${word}: ${strongest(weights, across)}`), word, wrong ? "wrong" : "");
  });
  return [whole, ...words];
}

function render({ model, el }) {
  const pictures = model.get("pictures"), side = model.get("side"), patch = model.get("patch"), set = setter(model);
  const menu = select(pictures.map(({ right, kind }, i) => [i, `${right.join(" ")} (${kind})`]), value => set({ picture: +value }));
  const layers = radios(unique("layer"), pictures[0].looks.map((_, l) => [l, `layer ${l + 1}`]), layer => set({ layer }));
  const grid = html("div", { className: "looks" }), said = readout();
  el.append(html("div", { className: "picture-reader" },
    html("div", { className: "choices" }, labelled("picture", menu), group("cross-attention of", ...layers.labels)), grid, said));

  function draw() {
    const one = pictures[model.get("picture")], right = one.words.join(" ") === one.right.join(" ");
    menu.value = model.get("picture");
    layers.show(model.get("layer"));
    grid.replaceChildren(...cardsOf(one, model.get("layer"), side, patch));
    said.textContent = right ? `Written: ${one.words.join(" ")}. This is right.`
      : `Written: ${one.words.join(" ")}. Right would be: ${one.right.join(" ")}.`;
  }

  onTraits(model, ["picture", "layer"], draw);
  draw();
}

export default { render };
