// The reader's marks on exercises, kept on this device: a button in each box, and the list of all exercises.
(() => {
  const store = window.annotatedBook, buttons = document.querySelectorAll("button.exercise-done");
  const marks = [...document.querySelectorAll(".mark-of-exercise")], summary = document.querySelector(".exercises-done");
  const today = () => new Date().toISOString().slice(0, 10), done = id => store.get("exercises", id);
  const total = document.querySelector(".exercises-total");
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
  const groups = [...document.querySelectorAll(".exercise-group")], shownOf = all => all.filter(mark => !mark.closest("li").hidden);
  // Numbers and times of what a filter shows.
  function addUp() {
    const shown = shownOf(marks);
    total.textContent = shown.length < marks.length ? `${shown.length} of ${marks.length} exercises are shown, together about ${inWords(minutesOf(shown))}.`
      : `${marks.length} exercises, together about ${inWords(minutesOf(marks))}.`;
    for (const group of groups)
      group.querySelector(".index-facts").textContent = ` ${inWords(minutesOf(shown.filter(mark => group.contains(mark))))}`;
    for (const level of document.querySelectorAll("[data-level]")) level.textContent = spanOf(shown.filter(mark => mark.dataset.difficulty === level.dataset.level));
  }
  // As in `_legend` of exercise_index.py.
  function spanOf(some) {
    const times = some.map(mark => Number(mark.dataset.minutes));
    return times.length ? `${times.length} (${[...new Set([Math.min(...times), Math.max(...times)])].join(" to ")} min)` : "none";
  }

  // In another order than that of the chapters the exercises stand in one list.
  const ORDERS = { "chapter": null, "difficulty": mark => "easy medium hard".indexOf(mark.dataset.difficulty), "time": mark => Number(mark.dataset.minutes),
    "kind": mark => "predict write prove repair".indexOf(mark.dataset.kind) };
  function orderMenu(filter) {
    const label = document.createElement("label"), menu = document.createElement("select"), list = document.createElement("ul"), homes = marks.map(mark => mark.closest("ul"));
    label.className = "order-of-exercises";
    label.append("Order by ", menu);
    for (const name of Object.keys(ORDERS)) menu.append(new Option(name));
    list.className = "simple exercise-index exercise-columns";
    groups[0].before(list);
    const address = globalThis.annotatedAddress, asked = address?.get("order");
    menu.addEventListener("change", () => {
      address?.set({ order: menu.selectedIndex ? menu.value : "" });
      const key = ORDERS[menu.value], ordered = key ? [...marks].sort((a, b) => key(a) - key(b)) : marks;
      for (const mark of ordered) (key ? list : homes[marks.indexOf(mark)]).append(mark.closest("li"));
      list.parentElement.classList.toggle("in-one-list", Boolean(key));
      filter.querySelector("input").dispatchEvent(new Event("input")); // heads of chapters come and go
    });
    filter.querySelector("[role=status]").before(label);
    if (asked in ORDERS) addEventListener("pageshow", () => { menu.value = asked; menu.dispatchEvent(new Event("change")); }, { once: true });
    return list;
  }
  if (total) {
    const watch = new MutationObserver(addUp), lists = [...document.querySelectorAll(".exercise-columns")];
    for (const list of [...lists, orderMenu(document.querySelector(".page-filter"))]) watch.observe(list, { subtree: true, attributeFilter: ["hidden"] });
  }

  store.changed(show);
  show();
})();
