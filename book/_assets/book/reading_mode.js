// What waits behind a mark (reading_mode.py): the marks, the switch for the whole page, and addresses that lead into what waits.
(() => {
  const root = document.documentElement, marks = [...document.querySelectorAll(".waits-mark")];
  const WAITS = ".waits, .waits-code, .waits-section", show = mode => buttons.forEach(one => one.setAttribute("aria-pressed", one.dataset.mode === mode));
  const buttons = [...document.querySelectorAll(".reading-switch button")];

  // The elements that a mark stands for: the section that it heads, or those before and behind it, up to what does not wait.
  function behind(mark) {
    if (mark.parentElement.matches(".waits-section") && mark.previousElementSibling?.matches("h2, h3, h4")) return [mark.parentElement];
    const found = [], gather = step => { for (let one = mark[step]; one?.matches(WAITS); one = one[step]) found.push(one); };
    gather("previousElementSibling");
    gather("nextElementSibling");
    return found;
  }
  function open(mark, is = true) {
    for (const one of behind(mark)) {
      one.classList.toggle("waits-open", is);
      for (const fold of one.querySelectorAll(":scope > details.checks, :scope > details.hide")) fold.open = is; // one click is enough
    }
    mark.firstChild.setAttribute("aria-expanded", is);
  }
  for (const mark of marks) mark.firstChild.addEventListener("click", () => open(mark, mark.firstChild.getAttribute("aria-expanded") !== "true"));
  function openAround(element) {
    const waits = element?.closest?.(WAITS), mark = waits && marks.find(one => behind(one).includes(waits));
    if (mark) open(mark);
    return Boolean(mark);
  }
  function follow() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && openAround(target)) target.scrollIntoView();
  }
  for (const button of buttons) {
    button.addEventListener("click", () => {
      root.dataset.reading = button.dataset.mode;
      try { localStorage.setItem("reading", button.dataset.mode); } catch { /* private */ }
      show(button.dataset.mode);
    });
  }
  show(root.dataset.reading);
  follow();
  addEventListener("hashchange", follow);
  addEventListener("load", () => document.querySelectorAll("span.highlighted").forEach(openAround)); // of a search
})();
