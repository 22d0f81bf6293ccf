// Miniatures in the boxes of figure 1: one hue for positive, one for negative, opacity for size, so that light and dark
// pages need no redrawing.
import { pixels } from "../drawing.js";

const BLUE_HUE = [59, 131, 214], ORANGE_HUE = [217, 115, 26], GREEN_HUE = [47, 158, 110];
export const share = p => p >= 0.995 ? "> 99 %" : p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`;
export const spaced = tokens => tokens.join("").replaceAll("▁", " ").trim();

// The last words of a text, or the first, within so many letters.
export const lastOf = (text, most) => text.length > most ? "… " + text.slice(1 - most).replace(/^\S* /, "") : text;
export const firstOf = (text, most) => text.length > most ? text.slice(0, most).replace(/ \S*$/, "") + " …" : text;

export const matrixPicture = tensor => pixels(tensor.columns, tensor.rows, (y, x) =>
  [...(tensor.at(y, x) > 0 ? BLUE_HUE : ORANGE_HUE), tensor.opacity(y, x)]);
export const mapPicture = (maps, head) => pixels(maps.columns, maps.rows, (y, x) =>
  [...BLUE_HUE, 255 * maps.weight(head, y, x) ** 0.8]);

// The maps of all heads, side by side.
export function headsPicture(maps) {
  const gap = Math.max(1, Math.round(maps.columns / 6));
  const wide = pixels(maps.count * (maps.columns + gap) - gap, maps.rows, () => [0, 0, 0, 0]);
  for (let h = 0; h < maps.count; h++) wide.getContext("2d").drawImage(mapPicture(maps, h), h * (maps.columns + gap), 0);
  return wide;
}

export function scoresPicture(counts) {
  const most = Math.max(...counts);
  return pixels(counts.length, 16, (y, x) => [...BLUE_HUE, 16 - y <= 16 * (counts[x] / most) ** 0.4 ? 200 : 0]);
}

// A strip that is divided as the probabilities are: the first token in green, the others in orange.
export function probabilityPicture(p) {
  return pixels(136, 4, (_, x) => {
    let i = 0, sum = 0;
    while (i < p.length && (sum += p[i]) < (x + 0.5) / 136) i++;
    return [...(i ? ORANGE_HUE : GREEN_HUE), i < p.length ? 220 - 60 * (i % 2) : 60];
  });
}
