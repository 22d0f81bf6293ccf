// Small figure 1 in a chapter's margin: the reader's sentence stands under it, arrow keys go from box to box, and a box
// opens what leaves it (`dialog.js`, which is loaded with the first one that is opened).
import { neighbour } from "./neighbour.js";

const FOLDER = globalThis.document?.currentScript?.src.replace(/[^/]*$/, "");
const kept = globalThis.annotatedBook;

// The text of the German side is known only for the sentence that was translated last.
function sentences(figure) {
  const [english, german] = [".english", ".german"].map(name => figure.querySelector(name));
  const first = [english.textContent, german.textContent];
  return () => {
    const own = kept?.get("live", "sentence"), [of, written] = kept?.get("live", "written") ?? [];
    english.textContent = own || first[0];
    german.textContent = !own || own === first[0] ? first[1] : own === of ? written : "";
  };
}

// The boxes as `neighbour` wants them.
export const boxesOf = drawing => [...drawing.querySelectorAll("[data-box]")].map(part => {
  const frame = part.querySelector("rect"), place = ["x", "y", "width", "height"].map(name => Number(frame.getAttribute(name)));
  return { name: part.dataset.box, part, side: part.dataset.side, place };
});

// One stop for the tab key; the arrow keys do the rest.
function roam(drawing) {
  const boxes = boxesOf(drawing), stop = boxes.find(box => box.part.classList.contains("lit")) ?? boxes[0];
  const enter = box => boxes.forEach(({ part }) => part.setAttribute("tabindex", part === box.part ? 0 : -1));
  enter(stop);
  for (const box of boxes) {
    box.part.addEventListener("focus", () => enter(box));
    box.part.addEventListener("keydown", event => {
      const next = neighbour(boxes, box, event.key);
      if (event.key === "Enter" || event.key === " ") open(event, box);
      if (!next) return;
      event.preventDefault();
      next.part.focus();
    });
    box.part.addEventListener("click", event => open(event, box));
  }
}

// On the front page: what a switch of the panel acts on is lit while the reader is at it, and crossed out while it is off.
export function follow(drawing, panel, switched) {
  const boxes = boxesOf(drawing), labels = () => [...panel.querySelectorAll(".live-switches label")];
  const mark = (name, names) => boxes.forEach(box => box.part.classList.toggle(name, names.includes(box.name)));
  const pointed = target => mark("pointed", switched[labels().indexOf(target?.closest?.(".live-switches label"))] ?? []);
  const off = () => mark("off", labels().flatMap((label, i) => label.querySelector("input").checked ? [] : switched[i] ?? []));
  for (const name of ["pointerover", "focusin"]) panel.addEventListener(name, event => pointed(event.target));
  for (const name of ["pointerleave", "focusout"]) panel.addEventListener(name, () => pointed());
  for (const name of ["change", "click"]) panel.addEventListener(name, () => setTimeout(off)); // a button may set them too
}

async function open(event, box) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a new tab with the box's chapter
  event.preventDefault();
  document.body.style.cursor = "progress";
  try {
    (await dialogScript())(box.name);
  } catch {
    if (box.part.href.baseVal) location.href = box.part.href.baseVal;
  }
  document.body.style.cursor = "";
}

function dialogScript() {
  return globalThis.annotatedMachine ??= new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement("script"), {
    src: `${FOLDER}dialog.js`, onload: () => resolve(globalThis.annotatedOpenBox),
    onerror: () => { delete globalThis.annotatedMachine; reject(new Error("the dialog did not load")); } })));
}

for (const figure of globalThis.document?.querySelectorAll(".machine-margin") ?? []) {
  if (figure.querySelector(".machine-sentence")) {
    const show = sentences(figure);
    show();
    kept?.changed(show);
    document.addEventListener("annotated-sentence", show);
  }
  const drawing = figure.querySelector(".machine-small"), panel = document.querySelector(".live[data-panel='front']");
  roam(drawing);
  if (panel && figure.dataset.switches) follow(drawing, panel, JSON.parse(figure.dataset.switches));
}
