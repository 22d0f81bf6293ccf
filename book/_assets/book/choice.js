// A choice among radio buttons that is made on purpose: by a click, by Enter or the space bar, or by a button "Commit".
// The arrow keys, which move the mark in every browser, only browse.
(() => {
  const isArrow = key => key.startsWith("Arrow");

  // `group` holds the `radios`; `commit` is called with the number of the one that was chosen, from 1. Returns a function
  // that takes the button away again, when the mark was moved by other means.
  function onPurpose(group, radios, commit) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "commit", textContent: "Commit", hidden: true });
    let browsing = false;
    const chosen = () => radios.findIndex(radio => radio.checked) + 1;
    const settle = () => {
      button.hidden = true;
      if (chosen()) commit(chosen());
    };
    group.addEventListener("keydown", event => {
      if (!radios.includes(event.target)) return;
      browsing = isArrow(event.key);
      const isChoice = event.key === "Enter" || (event.key === " " && event.target.checked);
      if (!isChoice) return;
      event.preventDefault();
      event.target.checked = true;
      settle();
    });
    group.addEventListener("pointerdown", () => { browsing = false; });
    for (const radio of radios) {
      radio.addEventListener("change", () => { if (browsing) button.hidden = false; else settle(); });
      radio.addEventListener("click", () => { if (!browsing && !button.hidden) settle(); }); // on the one that is marked
    }
    button.addEventListener("click", () => {
      settle();
      radios.find(radio => radio.checked)?.focus(); // the button is gone
    });
    group.append(button);
    return () => { button.hidden = true; };
  }

  window.annotatedBook.onPurpose = onPurpose;
})();
