// The reader's marks on exercises, kept on this device: a button in each box, and the list of all exercises.
(() => {
  const store = window.annotatedBook, buttons = document.querySelectorAll("button.exercise-done");
  const marks = [...document.querySelectorAll(".mark-of-exercise")], summary = document.querySelector(".exercises-done");
  const today = () => new Date().toISOString().slice(0, 10), done = id => store.get("exercises", id);
  const inWords = minutes => minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;

  function show() {
    for (const button of buttons) {
      const isDone = Boolean(done(button.dataset.exercise));
      button.setAttribute("aria-pressed", isDone);
      button.textContent = isDone ? "✓ Done" : "Mark as done";
    }
    for (const mark of marks) {
      const isDone = done(mark.dataset.exercise);
      mark.textContent = isDone ? "✓ done" : "";
      mark.dataset.state = isDone ? "done" : "not done"; // a filter asks for it
    }
    if (!summary) return;
    const left = marks.filter(mark => !done(mark.dataset.exercise));
    const minutes = left.reduce((sum, mark) => sum + Number(mark.dataset.minutes), 0);
    summary.textContent = left.length < marks.length
      ? `You have done ${marks.length - left.length} of ${marks.length}; about ${inWords(minutes)} are left.` : "";
  }

  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const { exercise } = button.dataset;
      store.set("exercises", exercise, done(exercise) ? undefined : today());
    });
  }
  store.changed(show);
  show();
})();
