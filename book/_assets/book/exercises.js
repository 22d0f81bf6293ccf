// The reader's marks on exercises, kept on this device: a button in each box, and the list of all exercises.
(() => {
  const store = window.annotatedBook, buttons = document.querySelectorAll("button.exercise-done");
  const marks = [...document.querySelectorAll(".mark-of-exercise")], summary = document.querySelector(".exercises-done");
  const today = () => new Date().toISOString().slice(0, 10), done = id => store.get("exercises", id);
  const beliefs = [...document.querySelectorAll(".facts-of-belief")], total = document.querySelector(".exercises-total");
  // As `exactly` of exercise_index.py.
  const inWords = minutes => [Math.floor(minutes / 60) && `${Math.floor(minutes / 60)} h`, (minutes % 60 || minutes < 60) && `${minutes % 60} min`].filter(Boolean).join(" ");
  const minutesOf = some => some.reduce((sum, mark) => sum + Number(mark.dataset.minutes), 0);
  const stateOf = id => done(id) ? "done" : "not done";

  function show() {
    for (const button of buttons) {
      const isDone = Boolean(done(button.dataset.exercise));
      button.setAttribute("aria-pressed", isDone);
      button.textContent = isDone ? "✓ Done" : "Mark as done";
    }
    for (const mark of marks) {
      const isDone = done(mark.dataset.exercise);
      mark.textContent = isDone ? "✓ done" : "";
      mark.dataset.state = stateOf(mark.dataset.exercise); // a filter asks for it
    }
    for (const belief of beliefs) belief.dataset.state = [...new Set(belief.dataset.exercises.split(";").map(stateOf))].join(";");
    if (!summary) return;
    const left = marks.filter(mark => !done(mark.dataset.exercise));
    summary.textContent = left.length < marks.length
      ? `You have done ${marks.length - left.length} of ${marks.length}; about ${inWords(minutesOf(left))} are left.` : "";
  }

  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const { exercise } = button.dataset;
      store.set("exercises", exercise, done(exercise) ? undefined : today());
    });
  }
  // Numbers and times of what a filter shows.
  function addUp() {
    const shown = marks.filter(mark => !mark.closest("li").hidden);
    total.textContent = shown.length < marks.length ? `${shown.length} of ${marks.length} exercises are shown, together about ${inWords(minutesOf(shown))}.`
      : `${marks.length} exercises, together about ${inWords(minutesOf(marks))}.`;
    for (const group of document.querySelectorAll(".exercise-group"))
      group.querySelector(".index-facts").textContent = ` ${inWords(minutesOf(shown.filter(mark => group.contains(mark))))}`;
  }
  if (total) {
    const watch = new MutationObserver(addUp);
    for (const list of document.querySelectorAll(".exercise-columns")) watch.observe(list, { subtree: true, attributeFilter: ["hidden"] });
  }

  store.changed(show);
  show();
})();
