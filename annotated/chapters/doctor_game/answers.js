// The answers to a case: a button for each; a wrong one says what speaks against it.
import { button, group, html } from "../../viz/controls.js";

// `right()` is called when the case is solved.
export function answersView(names, right) {
  const element = html("div", { className: "doctor-answers" }), said = html("p", { role: "status" });
  function answered(made, one, id) {
    if (id === one.id) { solve(one); right(); return; }
    made.disabled = true;
    made.classList.add("wrong");
    said.textContent = `No: ${one.whyNot[id]}`;
  }
  function solve(one) {
    for (const made of element.querySelectorAll("button")) {
      made.disabled = true;
      if (made.dataset.answer === one.id) made.classList.add("right");
    }
    said.textContent = "Right. The report is below.";
  }
  function show(one) {
    said.textContent = "";
    element.replaceChildren(group("Which mistake is it?", ...one.options.map(id => {
      const made = button(names[id], () => answered(made, one, id));
      made.dataset.answer = id;
      return made;
    })), said);
  }
  return { element, show, solve };
}
