// What a patient writes: each sentence with its translation, and how probable its tokens were.
import { html } from "../../viz/controls.js";
import { finish } from "../../viz/engine/engine.js";
import { percent } from "../../viz/engine/views.js";

export const MOST = 24; // tokens of a translation that are shown

// A table to be filled: `show({ engine, switches })`.
export function translationsTable(sentences) {
  const body = html("tbody");
  const element = html("table", { className: "doctor-translations" },
    html("thead", {}, html("tr", {}, ...["English", "What the model writes", "Mean token probability"].map(textContent => html("th", { scope: "col", textContent })))), body);
  const row = (text, { engine, switches }) => {
    const found = finish(engine.write(text, { switches, most: MOST }));
    const mean = found.steps.reduce((sum, step) => sum + step.probability, 0) / found.steps.length;
    const cut = found.ended ? [] : [html("small", { textContent: ` … cut off after ${MOST} tokens` })];
    return html("tr", {}, html("th", { scope: "row", textContent: text }), html("td", { lang: "de" }, found.text, ...cut), html("td", { textContent: percent(mean) }));
  };
  return { element, show: patient => body.replaceChildren(...sentences.map(text => row(text, patient))) };
}
