// The doctor's report on a case that is solved: the tests on this page, and the examination that was recorded.
import { html } from "../../viz/controls.js";
import { TRIALS, outcome } from "./trials.js";

const CHANGED = 4; // the target position whose token the leak test of the report changes

const finding = ({ holds, found, passed }) => html("p", {}, html("b", { className: passed ? "" : "failed", textContent: passed ? "✓ " : "✗ " }),
  html("b", { textContent: "Must hold: " }), `${holds} `, html("b", { textContent: "Found: " }), found);

const part = (title, ...children) => html("div", {}, html("h3", { textContent: title }), ...children);

// An element from HTML that the book was built with.
function built(text) {
  const made = html("div");
  made.innerHTML = text;
  return made;
}

function examined({ passed, failed, ...others }) {
  const skipped = others["not applicable"];
  return failed ? `${failed} of ${passed + failed} invariants fail; ${skipped} were not examined. Those that follow from another failure are folded under it.`
    : `All ${passed} invariants that were examined hold; ${skipped} were not examined.`;
}

export function reportOf(one, answers, subject) {
  const sure = Math.min(CHANGED, subject.ids.length), trials = Object.keys(TRIALS).map(name => finding(outcome(name, subject, sure)));
  const links = built(`The part is taught in <a href="${one.chapter.href}">${one.chapter.text}</a>${one.claim ? ` (${one.claim})` : ""}.`);
  const like = one.alike.length ? [part("Mistakes that look alike", html("ul", {}, ...one.alike.map(textContent => html("li", { textContent }))),
    html("p", { className: "quiet", textContent: "Of the invariants that this mistake or the other one fails, both fail at least half." }))] : [];
  const seen = one.seen ? [html("p", { className: "quiet", textContent: `Seen in: ${one.seen}.` })] : [];
  return html("div", { className: "doctor" },
    part("Diagnosis", html("p", {}, html("strong", { textContent: answers[one.id] }), " ", html("code", { textContent: one.id })), ...seen, links),
    part("On this sentence", ...trials),
    part("The examination", html("p", { textContent: examined(one.counts) }), built(one.report)), ...like);
}
