// What the laboratory shows of a translation: the pieces read and written, where it looked, and what else was likely.
import { button, html } from "../../viz/controls.js";
import { MOST_PIECES } from "./translation.js";

const percent = p => p >= 0.995 ? "100 %" : p < 0.01 ? "<1 %" : `${Math.round(100 * p)} %`;
const caption = textContent => html("p", { className: "laboratory-caption", textContent });

export function resultParts() {
  const read = html("div", { className: "laboratory-pieces", "aria-label": "What the encoder reads" });
  const wrote = html("div", { className: "laboratory-pieces", role: "group", "aria-label": "What the decoder wrote: choose a piece" });
  const result = html("output", { className: "laboratory-result" }), whole = html("p", { className: "laboratory-whole" });
  const detail = html("div", { className: "laboratory-detail" });
  const elements = [html("h3", { textContent: "What it writes" }), result, whole,
    caption("It reads these pieces; underlined: where the last layer looked for the chosen one."), read,
    caption("It writes these; underlined: how sure it was. Choose one."), wrote, detail];
  return { read, wrote, result, whole, detail, elements };
}

// All of a translation; `choose` hears of the piece that the reader picks.
export function showTranslation({ read, wrote, result, whole }, found, tokenizer, choose) {
  result.textContent = found.text || "(nothing)";
  whole.textContent = found.ended ? "" : `It did not stop by itself: cut off after ${MOST_PIECES} pieces. `;
  read.replaceChildren(...found.source.map(id => html("span", { textContent: tokenizer.readable(id) })));
  wrote.replaceChildren(...found.steps.map((step, i) => {
    const text = tokenizer.readable(step.id), [, p] = step.best[0];
    const piece = button(text, () => choose(i), { "aria-label": `${text}, probability ${percent(p)}` });
    piece.style.setProperty("--p", p.toFixed(3));
    return piece;
  }));
}

// What came of choosing one of the pieces written.
export function showStep({ read, wrote, detail }, found, chosen, tokenizer) {
  const step = found.steps[chosen], most = Math.max(...step.looks);
  [...wrote.children].forEach((piece, i) => piece.setAttribute("aria-pressed", String(i === chosen)));
  [...read.children].forEach((piece, i) => {
    piece.style.setProperty("--weight", (step.looks[i] / most).toFixed(3));
    piece.title = `${percent(step.looks[i])} of the attention`;
  });
  const looked = step.looks.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const places = looked.map(([weight, i]) => `“${tokenizer.readable(found.source[i])}” (${percent(weight)})`).join(", ");
  detail.replaceChildren(
    html("p", { textContent: `Before it wrote “${tokenizer.readable(step.id)}”, the last layer looked at ${places}, averaged over its heads.` }),
    html("ol", { className: "laboratory-bars", "aria-label": "Most probable pieces" }, ...step.best.map(([id, p]) =>
      html("li", {}, html("span", { textContent: tokenizer.readable(id) }),
        html("span", { className: "laboratory-bar", style: `--p:${p.toFixed(3)}` }), html("span", { textContent: percent(p) })))));
}
