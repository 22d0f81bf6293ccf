// The reader's sentence in a live panel: a field, a menu of examples, which model translates it, and what that has never read of it.
import { button, field, html, labelled, select, unique } from "../controls.js";
import { WIDE_SIZE, loadWide } from "./loader.js";
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

const FETCHED = `(${WIDE_SIZE}, fetched once)`, STAYS = "Here the classroom model alone translates: the page is about its parts and numbers.";

// The line that says which model translates a sentence of the reader's, with a button for the other. `wide` is as in panel.js.
// `asks(text, reading)`: whether the wide model is to translate, because the text has a word that the classroom model has never
// read, or because the reader wants it. `show` also gets that model's engine, if it is there, and whether it did not load.
function modelLine(wide, again) {
  const said = html("span"), other = button(`Ask the wide model (${WIDE_SIZE})`, () => { asked = next; again(); });
  const element = html("p", { className: "live-own live-model", hidden: true }, said, " ", other);
  const asks = (text, reading) => wide !== undefined && (asked ?? reading.strange(text).length > 0);
  let asked, next;
  function show(text, reading, engine, failed) {
    const isWide = asks(text, reading) && !failed, never = reading.neverRead(text), stays = wide === undefined;
    const because = never ? `, for the classroom model has never read ${never}` : "";
    element.hidden = stays && !never;
    other.hidden = stays;
    next = !isWide;
    other.textContent = failed ? "Try again" : isWide ? "Ask the classroom model" : `Ask the wide model (${WIDE_SIZE})`;
    said.textContent = stays ? STAYS : failed ? "The wide model did not load. Translated by the classroom model."
      : !isWide ? "Translated by the classroom model."
      : engine ? `Translated by the wide model ${FETCHED}${because}. ${wide(engine)}` : `Asking the wide model ${FETCHED}${because}.`;
  }
  return { element, asks, show, hide() { element.hidden = true; }, reset() { asked = undefined; } };
}

// A field with a menu. `change` hears of every new text, `choose` of an example; `text()` tells the text, trimmed. From `speaker` on
// it says which model translates a sentence of the reader's, and what that one has never read, and offers words.
export function sentenceField({ first, examples, label, wide, about: ofPage, change, choose, restore }) {
  let reading, other, failed = false, doubts = {};
  const isOwn = text => ![first, ...examples, ""].includes(text);
  const take = text => { input.value = text; tell(); };
  const { input, mark, element: underlined } = underlinedField(text => { ownSentence.set(normalise(text)); },
    { type: "text", value: ownSentence.get() ?? first, maxLength: FIELD_LETTERS, autocomplete: "off" });
  const menu = exampleMenu(examples, text => { take(text); menu.value = ""; choose(text); change(); });
  const offered = html("datalist", { id: unique("words") }), notes = html("p", { className: "live-notes", hidden: true, "aria-live": "polite" });
  const model = modelLine(wide, () => { failed = false; tell(); change(); });
  const about = html("p", { className: "live-own", hidden: true }, `This is a sentence of yours. The text of this page is about “${first}” `,
    button("Use it", () => { take(first); ownSentence.set(""); input.focus(); choose(first); restore?.(); }));

  function tell() {
    const text = input.value, plain = normalise(text), own = isOwn(plain), known = own && reading, byWide = known && model.asks(plain, reading) && !failed;
    const noted = !known ? [] : byWide ? other?.overlong(plain) ?? [] : reading.notes(plain);
    if (known && !byWide && !noted.length) noted.push(...(doubts[plain] ?? []));
    if (!own) model.reset();
    if (known) model.show(plain, reading, other, failed); else model.hide();
    about.hidden = !ofPage || !own && Boolean(plain);
    notes.hidden = !noted.length;
    notes.textContent = `${noted.join(" ")} `;
    const asTraining = noted.length > 0 && !byWide;
    mark(asTraining ? reading.unknown(text).map(({ start, end }) => [start, end]) : []);
    if (asTraining) {
      const { said, sentence } = reading.instead(plain);
      notes.append(`${said} `, button(sentence, () => { take(sentence); ownSentence.set(sentence); input.focus(); change(); }));
    }
    offered.replaceChildren(...(known ? reading.completions(text) : []).map(value => html("option", { value })));
  }
  input.setAttribute("list", offered.id);
  input.addEventListener("input", tell);
  document.addEventListener("annotated-sentence", ({ detail }) => {
    if (document.activeElement !== input) take(detail || first);
    change();
  });
  tell();
  const element = html("div", { className: "live-sentence" }, labelled(label, underlined), offered, ...(examples.length > 1 ? [menu] : []), model.element, notes, about);
  // The engine that translates a text: `engine`, the classroom's, or the wide model's; without that one the classroom's after all.
  // `waits` is called if it has to be fetched.
  async function speaker(engine, text, waits) {
    if (!engine?.reading) return engine;
    reading = engine.reading;
    failed = false;
    const isWide = isOwn(text) && model.asks(text, reading);
    if (isWide && !other) waits();
    if (isWide) await loadWide().then(found => { other = found; }, () => { failed = true; });
    tell();
    return isWide && !failed ? other : engine;
  }
  // What the classroom model has made of a text: `translation()`, asked for if its words leave it open.
  function learn(text, translation) {
    if (isOwn(text) && !reading.notes(text).length) doubts = { [text]: reading.doubts(translation()) };
    tell();
  }
  return { element, input, text: () => normalise(input.value), speaker, learn };
}
