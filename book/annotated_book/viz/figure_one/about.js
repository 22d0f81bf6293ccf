// Texts, code and links of the boxes of figure 1, which the book keeps in a script of their own beside that of the page.
import { html } from "../controls.js";

const BESIDE = globalThis.document?.currentScript?.src.replace(/[^/]*$/, "");

// Addresses in the data start at the book's first page.
function withLinks(about) {
  const absolute = url => url && new URL(`../../${url}`, BESIDE).href;
  return { ...about, boxes: about.boxes.map(box => ({ ...box, page: box.page && { ...box.page, url: absolute(box.page.url) },
    code: box.code.map(part => ({ ...part, url: absolute(part.url) })) })) };
}

// { boxes, sizes }, once for the page; brings the looks of the machine along.
export function loadAbout() {
  return globalThis.annotatedAbout ??= new Promise((resolve, reject) => {
    const end = document.head;
    for (const name of ["panel.css", "machine.css"]) {
      if (!document.querySelector(`link[href$="live/${name}"]`)) end.append(html("link", { rel: "stylesheet", href: BESIDE + name }));
    }
    end.append(html("script", { src: `${BESIDE}figure_1.js`, onload: () => resolve(withLinks(globalThis.annotatedFigure1)),
      onerror: () => { delete globalThis.annotatedAbout; reject(new Error("The figure's texts did not load.")); } }));
  });
}
