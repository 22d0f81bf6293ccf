// The answers to a case: a button for each; a wrong one says what speaks against it.
import { button, group, html } from "../../viz/controls.js";

const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// `right()` is called when the case is solved, `tests()` tells how many tests were made before.
export function answersView(names, right, tests) {
  let wrong = 0;
  const element = html("div", { className: "doctor-answers" }), said = html("p", { role: "status" });
  function answered(made, one, id) {
    if (id === one.id) { solve(one, `Right, ${wrong ? `after ${counted(wrong, "wrong answer")}` : "at the first answer"}, with ${counted(tests(), "test")}.`); right(); return; }
    made.disabled = true;
    wrong++;
    made.classList.add("wrong");
    said.textContent = `No: ${one.whyNot[id]}`;
  }
  function solve(one, verdict = "Right.") {
    for (const made of element.querySelectorAll("button")) {
      made.disabled = true;
      if (made.dataset.answer === one.id) made.classList.add("right");
    }
    said.textContent = `${verdict} The report is below.`;
  }
  function show(one) {
    said.textContent = "";
    wrong = 0;
    element.replaceChildren(group("Which mistake is it?", ...one.options.map(id => {
      const made = button(names[id], () => answered(made, one, id));
      made.dataset.answer = id;
      return made;
    })), said);
  }
  return { element, show, solve };
}
