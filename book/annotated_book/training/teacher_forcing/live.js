// Panel of the chapter on teacher forcing: the decoder reads a reference, and beside it its own tokens; any of them can be changed.
import { button, group, html } from "../../viz/controls.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { caption, nats, percent, tableCell, tableHead } from "../../viz/engine/views.js";
import { bothRows, changesOf, oneWordChanged } from "./forced.js";

const EXAMPLES = [
  ["The bats were old.", "Die Fledermäuse waren alt."],
  ["The grandmother opened the green school bag.", "Die Großmutter öffnete die grüne Schultasche."],
  ["On Thursday the boy showed me a red scarf.", "Der Junge hat mir am Donnerstag einen roten Schal gezeigt."],
  ["The small dog sees the cat.", "Der kleine Hund sieht die Katze."],
];
const LOOKS = `
.forcing :is(th, td) { padding-inline-end: 0.5rem; }
.forcing .beside { border-inline-start: 2px solid var(--live-line); padding-inline-start: 0.5rem; }
.forcing .wrong { font-weight: 700; }
.forcing td small { color: var(--live-soft); white-space: nowrap; }
.forcing td button { min-height: 1.7rem; min-width: 1.7rem; padding: 0 0.3rem; }
.forcing-choices fieldset { display: flex; flex-wrap: wrap; gap: 0.4rem; }
.forcing-stage { overflow-x: auto; }
:is(.forcing, .forcing-choices) button[aria-pressed="true"] { border-color: var(--live-change); border-width: 2px; font-weight: 700; }
.forcing mark { background: none; color: inherit; text-decoration: underline dotted var(--live-change) 2px; text-underline-offset: 3px; }
.forcing tr.fed > * { border-block-start: 2px solid var(--live-change); }
@container (max-width: 34rem) {
  .forcing :is(td, th, button) { font-size: 0.8rem; }
  .forcing :is(td, th) { padding-inline-end: 0.15rem; }
  .forcing .beside { padding-inline-start: 0.25rem; }
  .forcing td button { padding: 0 0.15rem; }
  .forcing .wanted { display: none; }
  .forcing td small { display: block; }
}`;

const slotsText = (count, all) => `${count} of ${all}`;

// What both rows show, in words.
export function forcingVerdict({ forced, free }, before, fed, name, written) {
  if (!fed) {
    const right = forced.filter(step => step.best[0][0] === step.id).length, sum = forced.reduce((x, step) => x + step.logProbability, 0);
    return `Teacher forcing: the reference's token is the most probable one in ${slotsText(right, forced.length)} slots, and the reference has `
      + `log-probability ${nats(sum)} nats. Writing: “${written}”`;
  }
  const rows = [[before.forced, forced], [before.free, free]].map(pair => changesOf(...pair, fed.slot));
  const early = rows.every(row => row.same) ? "no probability changes" : "probabilities change";
  return `Slot ${fed.slot + 1} reads “${name}”. In the slots before it ${early}. From it on, the most probable token changes in `
    + `${slotsText(rows[0].later, rows[0].slots)} slots under teacher forcing and in ${slotsText(rows[1].later, rows[1].slots)} in writing: “${written}”`;
}

function forcingTable(rows, before, fed, name, choose) {
  const changed = Object.fromEntries(["forced", "free"].map(row => [row, fed ? changesOf(before[row], rows[row], fed.slot).changed : []]));
  const readCell = (row, t) => {
    if (t >= rows[row].length) return tableCell("");
    if (!t) return tableCell(name(rows.reads[row][0]));
    return tableCell(button(name(rows.reads[row][t]), () => choose(t), { "aria-pressed": String(fed?.slot === t),
      "aria-label": `slot ${t + 1} reads ${name(rows.reads[row][t])}: change it` }));
  };
  const predictedCell = (row, t) => {
    const step = rows[row][t];
    if (!step) return tableCell("");
    const [id, p] = step.best[0], isWrong = row === "forced" && id !== step.id;
    const piece = html(changed[row].includes(t) ? "mark" : "span", { className: isWrong ? "wrong" : "", textContent: name(id) });
    return tableCell(html("span", {}, piece, " ", html("small", { textContent: percent(p) })));
  };
  const wantedCell = step => tableCell(step ? html("span", {}, html("span", { className: "wanted", textContent: `${name(step.id)} ` }), html("small", { textContent: nats(step.logProbability) })) : "");
  const body = Array.from({ length: Math.max(rows.forced.length, rows.free.length) }, (_, t) => {
    const beside = readCell("free", t);
    beside.className = "beside";
    return html("tr", { className: fed?.slot === t ? "fed" : "" }, tableHead(t + 1, "row"), readCell("forced", t), predictedCell("forced", t),
      wantedCell(rows.forced[t]), beside, predictedCell("free", t));
  });
  const wanted = tableHead("ln p", "col");
  wanted.prepend(html("span", { className: "wanted", textContent: "reference, " }));
  return html("table", { className: "live-table forcing" },
    html("thead", {}, html("tr", {}, html("td"), tableHead("teacher forcing", "colgroup", { colSpan: 3 }), tableHead("writing", "colgroup", { colSpan: 2, className: "beside" })),
      html("tr", {}, tableHead("slot", "col"), tableHead("reads", "col"), tableHead("predicts", "col"), wanted,
        tableHead("reads", "col", { className: "beside" }), tableHead("predicts", "col"))),
    html("tbody", {}, ...body));
}

// Pieces that could be fed to slot t: those that either row finds probable in the slot before, and what stands there.
function offered(rows, t) {
  const known = new Map();
  for (const step of [rows.free[t - 1], rows.forced[t - 1]]) for (const [id, p] of step?.best ?? []) if (!known.has(id)) known.set(id, p);
  for (const row of ["free", "forced"]) if (rows.reads[row][t] !== undefined && !known.has(rows.reads[row][t])) known.set(rows.reads[row][t], null);
  return [...known];
}

function forcing(box) {
  const table = html("div", { className: "forcing-stage" }), choices = html("div", { className: "forcing-choices" }), known = new Map(EXAMPLES);
  let fed = null, slot = 0, before = {}, wantsOther = false;
  const feed = next => { fed = next; return made.rerun(); };
  const changeOne = button("the model's own, one word changed", () => { wantsOther = true; made.rerun(); });
  const restore = button("feed the tokens as they were", () => feed(null), { className: "live-reset" });
  box.before(html("style", { textContent: LOOKS }));

  // For a new English sentence without a reference of its own the model's translation serves, with one word changed.
  function referenceFor(engine, text, target) {
    const isNew = text !== before.text;
    if (wantsOther || (isNew && known.get(text) !== target)) made.target.value = target = oneWordChanged(engine, text);
    wantsOther = false;
    if (isNew || target !== before.target) { fed = null; slot = 0; }
    before = { text, target };
    return target;
  }
  function showChoices(rows, name) {
    if (!slot) { choices.replaceChildren(); return; }
    choices.replaceChildren(group(`Slot ${slot + 1} reads, on both sides`, ...offered(rows, slot).map(([id, p]) => button(
      `${name(id)}${p === null ? "" : ` ${percent(p)}`}`, () => feed({ slot, id }).then(() => choices.querySelector("[aria-pressed=true]")?.focus()),
      { "aria-pressed": String(fed?.slot === slot && fed.id === id) }))));
  }
  const made = panel(box, {
    examples: EXAMPLES, target: EXAMPLES[0][1], controls: [changeOne], output: [caption("Choose a token under “reads” to feed another one to that slot."), table, choices], below: [restore],
    run({ engine, text, target: typed, say }) {
      const target = referenceFor(engine, text, typed), name = id => engine.tokenizer.readable(id).replace("▁", "") || "␣";
      const whole = bothRows(engine, text, target), rows = fed ? bothRows(engine, text, target, fed) : whole;
      const choose = t => { slot = t; showChoices(whole, name); choices.querySelector("button")?.focus(); };
      table.replaceChildren(forcingTable(rows, whole, fed, name, choose));
      showChoices(whole, name);
      restore.disabled = !fed;
      say(forcingVerdict(rows, whole, fed, fed && name(fed.id), engine.tokenizer.decode(rows.free.map(step => step.id))));
    },
  });
}

livePanels({ forcing });
