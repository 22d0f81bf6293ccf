// The reader's sentence in a live panel: a field, a menu of examples, and what the model has never read of it.
import { button, field, html, labelled, select, unique } from "../controls.js";
import { normalise } from "./normal_form.js";

const FIELD_LETTERS = 300; // letters that the field takes

const store = globalThis.annotatedBook;
export const ownSentence = {
  get: () => store?.get("live", "sentence"),
  set(text) {
    store?.set("live", "sentence", text || undefined);
    document.dispatchEvent(new CustomEvent("annotated-sentence", { detail: text }));
  },
};

const exampleMenu = (examples, choose) =>
  select([["", "an example …"], ...examples.map(text => [text, text])], text => { if (text) choose(text); }, { "aria-label": "Examples" }); // goes back to its first line

// The field over a copy of its text, in which unknown words are underlined. `mark(spans)` gets them as [start, end].
function underlinedField(change, properties) {
  const input = field(change, properties), copy = html("div", { className: "live-under", "aria-hidden": "true" });
  const follow = () => { copy.scrollLeft = input.scrollLeft; };
  input.addEventListener("scroll", follow);
  function mark(spans) {
    let from = 0;
    const parts = spans.flatMap(([start, end]) => {
      const made = [input.value.slice(from, start), html("u", { textContent: input.value.slice(start, end) })];
      from = end;
      return made;
    });
    copy.replaceChildren(...parts, input.value.slice(from));
    follow();
  }
  return { input, mark, element: html("span", { className: "live-field" }, copy, input) };
}

// A field with a menu. `change` hears of every new text, `choose` of an example; `text()` tells the text, trimmed. From
// `learn` on it says what the model has never read, and offers words.
export function sentenceField(first, examples, label, change, choose) {
  let reading, doubts = {};
  const take = text => { input.value = text; tell(); };
  const { input, mark, element: underlined } = underlinedField(text => { ownSentence.set(normalise(text)); },
    { type: "text", value: ownSentence.get() ?? first, maxLength: FIELD_LETTERS, autocomplete: "off" });
  const menu = exampleMenu(examples, text => { take(text); menu.value = ""; choose(text); change(); });
  const offered = html("datalist", { id: unique("words") }), notes = html("p", { className: "live-notes", hidden: true, "aria-live": "polite" });
  const about = html("p", { className: "live-own", hidden: true }, `This is a sentence of yours. The text of this page is about “${first}” `,
    button("Use it", () => { take(first); ownSentence.set(""); input.focus(); choose(first); }));

  function tell() {
    const text = input.value, plain = normalise(text), own = ![first, ...examples, ""].includes(plain);
    const noted = own && reading ? reading.notes(plain) : [];
    if (own && !noted.length) noted.push(...(doubts[plain] ?? []));
    about.hidden = !own && Boolean(plain);
    notes.hidden = !noted.length;
    mark(noted.length ? reading.unknown(text).map(({ start, end }) => [start, end]) : []);
    if (noted.length) {
      const { said, sentence } = reading.instead(plain);
      notes.replaceChildren(`${noted.join(" ")} ${said} `, button(sentence, () => { take(sentence); ownSentence.set(sentence); input.focus(); change(); }));
    }
    offered.replaceChildren(...(own && reading ? reading.completions(text) : []).map(value => html("option", { value })));
  }
  input.setAttribute("list", offered.id);
  input.addEventListener("input", tell);
  document.addEventListener("annotated-sentence", ({ detail }) => {
    if (document.activeElement !== input) take(detail || first);
    change();
  });
  tell();
  const element = html("div", { className: "live-sentence" }, labelled(label, underlined), offered, ...(examples.length > 1 ? [menu] : []), notes, about);
  // What the model has read, and what it makes of a text: `translation()`, asked for if its words leave it open.
  function learn(known, text, translation) {
    reading = known;
    if (![first, ...examples].includes(text) && !reading.notes(text).length) doubts = { [text]: reading.doubts(translation()) };
    tell();
  }
  return { element, input, text: () => normalise(input.value), learn };
}
