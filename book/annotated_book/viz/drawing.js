// Drawing for the widgets: SVG elements, pictures made of pixels, tokens cut to a length, recorded bytes.
export const BLUE = "#3b83d6", ORANGE = "#d9731a", GREEN = "#2f9e6e", VIOLET = "#b45fc4", RED = "#c4475f", GREY = "#8a8f98";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

// A canvas whose pixels are what `pixel(row, column)` says: [red, green, blue, opacity].
export function pixels(width, height, pixel) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i += 4) image.data.set(pixel(y, x), i);
  context.putImageData(image, 0, 0);
  return canvas;
}

// A token cut to so many letters; without the mark of a new word; how long the longest is.
export const shorten = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
export const unmarked = token => token.replace("▁", "");
export const longest = tokens => Math.max(...tokens.map(token => token.length));

export const bytesOf = view => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

export const inflate = view =>
  new Response(new Blob([bytesOf(view)]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
