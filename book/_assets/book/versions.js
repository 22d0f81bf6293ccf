// The reader's choice of a Transformer: as written, as released, as today. It is kept in this browser (`store.js`) and
// holds for all notes of the book; the first time it is "as written". Without this script the notes show all three.
(() => {
  const NAMES = { written: "Written", released: "Released", today: "Today" };
  const store = window.annotatedBook, root = document.documentElement;
  const places = [...document.querySelectorAll(".versions, .versions-switch, .versions-table")];
  if (!places.length) return;
  const chosen = () => {
    const value = store.get("choices", "versions");
    return value in NAMES ? value : "written";
  };

  const groups = places.map((place, i) => {
    const group = document.createElement("fieldset");
    group.className = "version-choice";
    const legend = Object.assign(document.createElement("legend"), { className: "visually-hidden", textContent: "Version of the model, for all notes of the book" });
    group.append(legend);
    for (const [value, name] of Object.entries(NAMES)) {
      const label = document.createElement("label");
      const radio = Object.assign(document.createElement("input"), { type: "radio", name: `version-${i}`, value, autocomplete: "off" });
      radio.addEventListener("change", () => store.set("choices", "versions", value));
      label.append(radio, Object.assign(document.createElement("span"), { textContent: name }));
      group.append(label);
    }
    place.prepend(group);
    return group;
  });

  function show() {
    const version = chosen();
    root.dataset.versions = version;
    for (const group of groups) for (const radio of group.querySelectorAll("input")) radio.checked = radio.value === version;
  }
  store.changed(show);
  show();
})();
