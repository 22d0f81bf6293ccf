// Buttons that copy a text: `button.copy` with it in `data-copy`, hidden until this script runs. On a page of formulas,
// marked by `.formula-sheet`, each formula on a line of its own gets one for its LaTeX. With `data-copy-all`, a selector,
// a button copies what those of these buttons copy that a filter leaves, and says how many.
(() => {
  // Without a secure address a browser copies only what is selected.
  function bySelection(text) {
    const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
    field.style.cssText = "position:fixed;inset-block-start:0;opacity:0";
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus();
    if (!done) throw new Error("not copied");
  }
  async function copy(button) {
    const words = button.dataset.words ??= button.textContent;
    let answer = "Copied";
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      try { bySelection(button.dataset.copy); } catch { answer = "Not copied"; }
    }
    said.textContent = "";
    button.textContent = answer;
    requestAnimationFrame(() => { said.textContent = `${answer}: ${button.getAttribute("aria-label") ?? words}`; });
    clearTimeout(button.timer);
    button.timer = setTimeout(() => { button.textContent = words; }, 2000);
  }

  if (document.querySelector(".formula-sheet")) for (const box of document.querySelectorAll(".bd-article div.math")) {
    const math = box.querySelector("math[alttext]"), line = document.createElement("div");
    if (!math) continue;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy LaTeX" });
    button.dataset.copy = math.getAttribute("alttext");
    line.className = "formula-line";
    box.replaceWith(line);
    line.append(box, button);
  }
  const buttons = document.querySelectorAll("button.copy"), said = document.createElement("span");
  if (!buttons.length) return;
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  (document.querySelector(".bd-article") ?? document.body).append(said);
  for (const button of document.querySelectorAll("button[data-copy-all]")) {
    const parts = [...document.querySelectorAll(button.dataset.copyAll)], what = button.dataset.what;
    const show = () => {
      const left = parts.filter(part => !part.closest("li[hidden]"));
      button.dataset.copy = left.map(part => part.dataset.copy).join("\n\n");
      button.textContent = button.dataset.words = `Copy BibTeX of ${left.length < parts.length ? `the ${left.length} ${left.length === 1 ? what.replace(/s$/, "") : what} shown` : `all ${parts.length} ${what}`}`;
      button.disabled = !left.length;
    };
    for (const event of ["input", "change", "click"]) document.addEventListener(event, ({ target }) => { if (target !== button) show(); });
    for (const event of ["pageshow", "hashchange"]) addEventListener(event, () => setTimeout(show));
    show();
  }
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
})();
