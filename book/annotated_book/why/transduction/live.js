// Live panel of chapter 2: the log-probability of a German sentence, token by token, and the factor that breaks.
import { html } from "../../viz/controls.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { nats, percent, tableCell, tableHead, timesText } from "../../viz/engine/views.js";

const FAILS = 0.5; // a sentence has no factor that breaks if each token is at least as probable as all others together
const LOOKS = `
.factors .length { width: 40%; }
.factors .length span { display: block; height: 0.85rem; background: var(--live-looks); border-radius: 0.15rem; }
.factors tr.breaks > * { font-weight: 700; }
.factors tr.breaks .length span { background: #d9731a; }
.factors tfoot :is(th, td) { border-block-start: 1px solid var(--live-line); font-weight: 700; }
@container (max-width: 34rem) { .factors .length { width: 22%; } }`;

// A probability in per cent; small ones with two digits, because the panel is about them: 0.017 %.
export function factorText(p) {
  if (p >= 0.01 || p <= 0) return percent(p);
  const digits = 1 - Math.floor(Math.log10(100 * p));
  return digits > 6 ? "<0.00001 %" : `${(100 * p).toFixed(digits)} %`;
}

// The step whose factor is the smallest; -1 if none is small enough to break the sentence.
export function breakingStep(steps) {
  const worst = steps.reduce((found, step, t) => step.logProbability < steps[found].logProbability ? t : found, 0);
  return steps[worst].probability < FAILS ? worst : -1;
}

// Rows for the table: the token, its factor, and what the model would have written there.
export const factorRows = (engine, steps) => steps.map(step => {
  const [best, p] = step.best[0];
  return { token: engine.tokenizer.readable(step.id), probability: step.probability, logProbability: step.logProbability,
    instead: best === step.id ? "" : `${engine.tokenizer.readable(best)} (${percent(p)})` };
});

function factorTable(rows, worst, sum) {
  const most = Math.max(1, ...rows.map(row => -row.logProbability));
  const body = rows.map((row, t) => html("tr", { className: t === worst ? "breaks" : "" },
    tableHead(row.token, "row"), tableCell(factorText(row.probability), "amount"), tableCell(nats(row.logProbability), "amount"),
    html("td", { className: "length" }, html("span", { style: `width:${100 * -row.logProbability / most}%` })),
    tableCell(t === worst ? `the model prefers ${row.instead}` : row.instead)));
  return html("table", { className: "live-table factors" }, html("caption", { className: "live-caption", textContent: "One factor per token, and the token that the model would write instead" }),
    html("thead", {}, html("tr", {}, tableHead("token", "col"), tableHead("factor", "col", { className: "amount" }), tableHead("ln (nats)", "col", { className: "amount" }),
      tableHead("−ln", "col"), tableHead("instead", "col"))),
    html("tbody", {}, ...body),
    html("tfoot", {}, html("tr", {}, tableHead("product / sum", "row"), tableCell(factorText(Math.exp(sum)), "amount"), tableCell(nats(sum), "amount"), tableCell(""), tableCell(""))));
}

// What the sum says beside that of the model's own translation.
export function verdict(own, score, rows, worst) {
  const broken = worst < 0 ? "No factor breaks. " : `The factor of “${rows[worst].token}” is the smallest. `;
  const difference = score.logProbability - own.logProbability;
  if (Math.abs(difference) < 0.005) return `${broken}This is what the model writes, with log-probability ${nats(score.logProbability)} nats.`;
  return `${broken}Your sentence has log-probability ${nats(score.logProbability)} nats and is ${timesText(difference)} than `
    + `“${own.text}” (${nats(own.logProbability)} nats), which the model writes.`;
}

livePanels({
  scores(box) {
    const table = html("div");
    box.before(html("style", { textContent: LOOKS }));
    panel(box, {
      examples: ["The grandmother opened the green school bag.", "The cat sees a dog.", "The small dog sees the cat."],
      target: "Die Großmutter hat den grünen Schultasche aufgemacht.", wide: () => "", output: [table],
      run({ engine, text, target, say }) {
        if (!target) { table.replaceChildren(); say("Type a German sentence."); return; }
        const own = engine.translation(text), score = engine.score(text, target), worst = breakingStep(score.steps);
        const rows = factorRows(engine, score.steps);
        table.replaceChildren(factorTable(rows, worst, score.logProbability));
        say(verdict(own, score, rows, worst));
      },
    });
  },
});
