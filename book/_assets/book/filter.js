// Fields that show only some entries of a long page: glossary, index of terms, paper map, exercises. The directive
// `{filter}` writes them, hidden; without this script the whole page is there. Nothing is remembered.
(() => {
  // An entry may have several values of one kind, with semicolons between them.
  const values = (item, name) => (value(item, name) ?? "").split(";").filter(Boolean);
  const value = (item, name) => item.dataset[name] ?? item.querySelector(`[data-${name}]`)?.dataset[name];
  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  // Words at whose beginning a typed word is looked for; multi-head is also found as multihead, and head.
  const wordsOf = text => ` ${text.replace(/(?<=\p{L})[-\u2010\u2011](?=\p{L})/gu, "")} ${text}`.replace(/[^\p{L}\p{N}_^]+/gu, " ");
  const has = (text, word) => /^[\p{L}\p{N}]/u.test(word) && !/\p{Script=Han}/u.test(word) ? text.includes(` ${word}`) : text.includes(word);

  // Of a name of the library each part is a word: MultiHeadAttention, w_q.
  const partsOf = name => `${name} ${name.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")} ${name.replaceAll("_", " ")}`;

  function start(box) {
    const field = box.querySelector("input"), menus = [...box.querySelectorAll("select")], said = box.querySelector("[role=status]");
    const searched = item => (box.dataset.names ? [...item.querySelectorAll(box.dataset.names)].map(e => partsOf(e.textContent)) : [...item.children, item].map(part => part.textContent));
    const items = [...document.querySelectorAll(box.dataset.items)].map(item => ({ item, text: wordsOf(plain(searched(item).join(" "))) }));
    // A menu without values offers those that the entries have.
    for (const menu of menus.filter(menu => menu.options.length < 2)) {
      const offered = new Set(items.flatMap(({ item }) => values(item, menu.dataset.by)));
      for (const text of [...offered].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))) menu.append(new Option(text));
    }
    const groups = [...document.querySelectorAll(box.dataset.groups || "no-groups")].filter(group => items.some(({ item }) => group.contains(item)));

    function show() {
      const words = wordsOf(plain(field.value)).trim().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { item, text } of items) {
        const fits = words.every(word => has(text, word)) && menus.every(menu => !menu.value || values(item, menu.dataset.by).includes(menu.value));
        item.hidden = !fits;
        shown += fits;
      }
      const narrowed = words.length > 0 || menus.some(menu => menu.value);
      for (const group of groups) {
        group.hidden = items.every(({ item }) => item.hidden || !group.contains(item));
        if (group.nodeName === "DETAILS") group.open = narrowed && !group.hidden;
      }
      said.textContent = narrowed ? `${shown} of ${items.length} ${box.dataset.what}` : "";
    }
    function clear() { field.value = ""; for (const menu of menus) menu.value = ""; show(); }

    field.addEventListener("input", show);
    for (const menu of menus) menu.addEventListener("change", show);
    // A link to a hidden entry shows everything again.
    addEventListener("hashchange", () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target?.closest("[hidden]")) { clear(); target.scrollIntoView(); }
    });
    addEventListener("pageshow", clear); // the browser may bring back what was typed
    box.hidden = false;
  }
  document.querySelectorAll(".page-filter").forEach(start);
})();
