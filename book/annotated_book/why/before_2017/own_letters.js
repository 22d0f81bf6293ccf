// The reader's own letters, written backwards by two networks; the map shows where the one with attention looks.
import { button, field, html, labelled, onTraits, readout, setter, unique } from "../../viz/controls.js";
import { bytesOf } from "../../viz/drawing.js";
import { FIRST, Recurrent } from "./recurrent.js";

const MOST = 12, SAMPLES = 100, LETTERS = 16;
const NAMES = { without: "without attention", attending: "with attention" };
const letterOf = token => token < FIRST ? "." : String.fromCharCode(65 + token - FIRST);
const percent = p => `${Math.round(100 * p)} %`;

// What can be read of a text: the letters A to P, in capitals.
export const lettersOf = text => [...text.toUpperCase()].filter(x => x >= "A" && x <= "P").slice(0, MOST).join("");
export const tokensOf = letters => [...letters].map(x => x.charCodeAt(0) - 65 + FIRST);

// How many of the letters are the source's, read backwards.
export const rightOf = (letters, written) => written.filter(({ token }, i) => token === tokensOf(letters).at(-1 - i)).length;

// The share of letters right over random sequences of one length.
export function shareRight(network, length, random = Math.random, samples = SAMPLES) {
  let right = 0;
  for (let i = 0; i < samples; i++) {
    const letters = Array.from({ length }, () => String.fromCharCode(65 + Math.floor(LETTERS * random()))).join("");
    right += rightOf(letters, network.write(tokensOf(letters)));
  }
  return right / (samples * length);
}

// The sentence below the letters.
export function saying(letters, found, longest) {
  const count = Object.entries(found).map(([name, written]) => `${NAMES[name]} ${rightOf(letters, written)} of ${letters.length}`);
  const beyond = letters.length > longest ? ` No sequence of the training was longer than ${longest} letters.` : "";
  return `Letters right: ${count.join(", ")}.${beyond}`;
}

function rowOf(name, letters, written, look) {
  const wanted = tokensOf(letters).reverse();
  return html("div", { className: `letters-row ${name}` }, html("span", { className: "name", textContent: NAMES[name] }),
    html("ol", {}, ...written.map(({ token, probability }, i) => {
      const right = token === wanted[i], letter = letterOf(token);
      const item = html("li", { className: right ? "" : "wrong", title: right ? letter : `${letter} in place of ${letterOf(wanted[i])}` },
        html("b", { textContent: letter }), html("small", { textContent: percent(probability) }));
      item.addEventListener("pointerenter", () => look(i));
      return item;
    })));
}

function mapOf(letters, written) {
  const heads = [...letters, "."].map(x => html("th", { textContent: x, scope: "col" }));
  const body = written.map(({ token, weights }) => html("tr", {}, html("th", { textContent: letterOf(token), scope: "row" }),
    ...Array.from(weights, w => html("td", { title: percent(w), style: `--w:${w.toFixed(3)}` }))));
  return html("table", {}, html("caption", { textContent: "Weights: a row for each letter written, a column for each letter read" }),
    html("thead", {}, html("tr", {}, html("td"), ...heads)), html("tbody", {}, ...body));
}

function networksOf(model) {
  const manifests = model.get("manifests");
  return Object.fromEntries(Object.keys(NAMES).map(name => [name, new Recurrent(manifests[name], bytesOf(model.get(name)).slice().buffer)]));
}

function render({ model, el }) {
  const set = setter(model), id = unique("letters"), networks = networksOf(model), longest = model.get("longest");
  const typed = field(text => set({ letters: lettersOf(text) }), { id, type: "text", value: model.get("letters"), maxLength: MOST, autocomplete: "off" });
  const rows = html("div", { className: "rows" }), map = html("div", { className: "map" }), said = readout("p", { className: "said" });
  const counted = readout("p", { className: "counted" });
  const count = button("", () => {
    const length = model.get("letters").length;
    const shares = Object.entries(networks).map(([name, network]) => `${NAMES[name]} ${percent(shareRight(network, length))}`);
    counted.textContent = `Letters right in ${SAMPLES} random sequences of ${length}: ${shares.join(", ")}.`;
  });
  const random = button("Random letters", () => set({ letters: Array.from({ length: longest }, () => String.fromCharCode(65 + Math.floor(LETTERS * Math.random()))).join("") }));
  el.append(html("div", { className: "own-letters" }, html("div", { className: "controls" },
    labelled("Letters A to P", typed, { htmlFor: id }), random, count), rows, said, counted, map));
  const look = i => map.querySelectorAll("tbody tr").forEach((row, r) => row.classList.toggle("now", r === i));
  function draw() {
    const letters = model.get("letters");
    if (lettersOf(typed.value) !== letters) typed.value = letters;
    count.disabled = !letters;
    count.textContent = `${SAMPLES} random sequences${letters && ` of ${letters.length}`}`;
    counted.textContent = "";
    if (!letters) { rows.replaceChildren(); map.replaceChildren(); said.textContent = "Type letters from A to P."; return; }
    const found = Object.fromEntries(Object.entries(networks).map(([name, network]) => [name, network.write(tokensOf(letters))]));
    rows.replaceChildren(...Object.entries(found).map(([name, written]) => rowOf(name, letters, written, look)));
    map.replaceChildren(mapOf(letters, found.attending));
    said.textContent = saying(letters, found, longest);
  }
  onTraits(model, ["letters"], draw);
  draw();
}

export default { render };
