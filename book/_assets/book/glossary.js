// The glossary as a test: definitions or names are covered until the reader asks for them, and says whether they were known.
// Only what the filter shows is asked. Nothing is kept.
(() => {
  const entries = [...document.querySelectorAll("dl.glossary > .entry")], filter = document.querySelector(".page-filter");
  if (!entries.length || !filter) return;
  const nameOf = entry => entry.querySelector("dt").firstChild.textContent.trim();
  const make = (tag, more) => Object.assign(document.createElement(tag), more);

  const menu = make("select", { ariaLabel: "What is covered" });
  for (const [value, text] of [["", "Read names and definitions"], ["definition", "Cover the definitions"], ["name", "Cover the names"]]) menu.append(make("option", { value, textContent: text }));
  const said = make("span", {}), again = make("button", { type: "button", textContent: "Repeat those not known", hidden: true });
  said.setAttribute("role", "status");
  const box = make("div", { className: "recall" }), label = make("label", { textContent: "Test yourself: " });
  label.append(menu);
  box.append(label, said, again);
  filter.after(box);

  function tell() {
    const open = entries.filter(entry => entry.classList.contains("uncovered")), known = open.filter(entry => entry.dataset.known === "yes");
    said.textContent = menu.value ? `${open.length} of ${entries.length} uncovered, ${known.length} known` : "";
    again.hidden = !menu.value || known.length === open.length;
  }
  // The button of a covered entry; then the two that say whether it was known.
  function cover(entry) {
    entry.querySelector(".recall-ask")?.remove();
    entry.classList.remove("uncovered");
    delete entry.dataset.known;
    if (!menu.value) return;
    const what = menu.value === "name" ? "Show the name" : "Show the definition";
    const ask = make("dd", { className: "recall-ask" }), button = make("button", { type: "button", textContent: what });
    if (menu.value === "definition") button.setAttribute("aria-label", `${what} of ${nameOf(entry)}`);
    button.addEventListener("click", () => uncover(entry, ask));
    ask.append(button);
    entry.append(ask);
  }
  function uncover(entry, ask) {
    entry.classList.add("uncovered");
    const answers = [["yes", "I knew it"], ["no", "Not yet"]].map(([value, text]) => {
      const button = make("button", { type: "button", textContent: text });
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        entry.dataset.known = value;
        for (const one of answers) one.setAttribute("aria-pressed", one === button);
        tell();
      });
      return button;
    });
    ask.replaceChildren(...answers);
    answers[0].focus();
    tell();
  }
  menu.addEventListener("change", () => {
    document.body.dataset.recall = menu.value;
    entries.forEach(cover);
    tell();
  });
  again.addEventListener("click", () => {
    entries.filter(entry => entry.classList.contains("uncovered") && entry.dataset.known !== "yes").forEach(cover);
    tell();
    entries.find(entry => !entry.hidden && !entry.classList.contains("uncovered"))?.querySelector(".recall-ask button").focus();
  });
  // The browser may bring back the choice of before.
  addEventListener("pageshow", () => { menu.value = ""; document.body.dataset.recall = ""; entries.forEach(cover); tell(); });
})();
