// The game of the doctor's page: a model with a known mistake is examined, and its mistake is named. The model loads when asked for.
import { button, html, labelled, select } from "../../viz/controls.js";
import { loadEngine } from "../../viz/engine/loader.js";
import { livePanels } from "../../viz/engine/panel.js";
import { caption } from "../../viz/engine/views.js";
import { answersView } from "./answers.js";
import { mapsView } from "./maps.js";
import { patient } from "./mistakes.js";
import { reportOf } from "./report.js";
import { translationsTable } from "./translations.js";
import { trialsView } from "./trials.js";

const book = globalThis.annotatedBook, KIND = "doctor";
const solved = id => Boolean(book?.get(KIND, id));

// One button for each case; `current` is the number of the one that is open.
function caseList(cases, open) {
  const score = html("p", { className: "live-caption", role: "status" });
  const buttons = cases.map((_, i) => button(String(i + 1), () => open(i)));
  const element = html("div", {}, html("div", { className: "doctor-cases", role: "group", "aria-label": "Cases" }, ...buttons), score);
  function show(current) {
    buttons.forEach((made, i) => {
      const done = solved(cases[i].id);
      made.classList.toggle("solved", done);
      made.textContent = `${i + 1}${done ? " ✓" : ""}`;
      made.setAttribute("aria-label", `${i + 1}${done ? " ✓" : ""}: case ${i + 1}${done ? ", solved" : ""}`);
      made.setAttribute("aria-current", String(i === current));
    });
    score.textContent = `Case ${current + 1} of ${cases.length}. Solved: ${cases.filter(({ id }) => solved(id)).length}.`;
  }
  return { element, show };
}

function game(box, engine, { sentences, answers, cases }) {
  const table = translationsTable(sentences), maps = mapsView(), trials = trialsView();
  const report = html("section", { className: "doctor-report", tabIndex: -1, "aria-label": "The doctor's report" });
  const menu = select(sentences.map((text, i) => [i, text]), value => { sentence = +value; read(); });
  const list = caseList(cases, open), choice = answersView(answers, () => { book?.set(KIND, cases[at].id, new Date().toISOString().slice(0, 10)); unfold(); report.focus(); }, trials.made);
  let at = Math.max(0, cases.findIndex(({ id }) => !solved(id))), sentence = 0, ill;

  // The sentence under examination, with the healthy model's translation as its right one.
  function read() {
    const text = sentences[sentence], ids = engine.translation(text).tokens;
    maps.show(engine, ill, text, ids);
    trials.start(engine, ill, text, ids);
  }
  function unfold() {
    list.show(at);
    const next = button(at + 1 < cases.length ? "Next case" : "First case", () => { open((at + 1) % cases.length); box.scrollIntoView({ block: "start" }); });
    report.replaceChildren(reportOf(cases[at], answers, trials.subject()), next);
  }
  function open(number) {
    at = number;
    ill = patient(engine, cases[at].id);
    table.show(ill);
    trials.forget();
    read();
    report.replaceChildren();
    list.show(at);
    choice.show(cases[at]);
    if (solved(cases[at].id)) { choice.solve(cases[at]); unfold(); }
  }
  box.replaceChildren(list.element, table.element, html("div", { className: "doctor-row" }, labelled("Examine with", menu)),
    html("div", { className: "doctor-columns" }, maps.element, trials.element), choice.element, report);
  open(at);
  book?.changed(() => list.show(at));
}

function doctor(box) {
  const data = JSON.parse(box.querySelector(".doctor-data").textContent), said = caption("");
  const kept = [...box.querySelectorAll(":scope > :is(style, .live-fallback)")];
  said.setAttribute("role", "status");
  const begin = button("Examine the first model", async () => {
    begin.disabled = true;
    said.textContent = "The model loads.";
    try {
      const engine = await loadEngine();
      game(box, engine, data);
      box.dataset.state = "done";
      box.append(...kept);
      box.querySelector("[aria-current=true]").focus();
    } catch (error) {
      begin.disabled = false;
      said.textContent = `${error.message} Try again.`;
    }
  });
  box.replaceChildren(html("p", { textContent: `${data.cases.length} models, each with at most one mistake. The model has 1.6 million parameters: 2.3 MB, loaded when you begin.` }), begin, said, ...kept);
  box.dataset.state = "waiting";
}

livePanels({ doctor });
