// Fields that show only some entries of a long page: glossary, index of terms, paper map, exercises. The directive
// `{filter}` writes them, hidden; without this script the whole page is there. Nothing is remembered.
(() => {
  const value = (item, name) => item.dataset[name] ?? item.querySelector(`[data-${name}]`)?.dataset[name];
  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  // Words at whose beginning a typed word is looked for; multi-head is also found as multihead, and head.
  const wordsOf = text => ` ${text.replace(/(?<=\p{L})[-\u2010\u2011](?=\p{L})/gu, "")} ${text}`.replace(/[^\p{L}\p{N}_^]+/gu, " ");
  const has = (text, word) => /^[\p{L}\p{N}]/u.test(word) && !/\p{Script=Han}/u.test(word) ? text.includes(` ${word}`) : text.includes(word);
  // An entry with what belongs to it: the definition in a glossary has its terms before it.
  const whole = item => {
    const all = [item];
    if (item.nodeName === "DD") for (let e = item.previousElementSibling; e?.nodeName === "DT"; e = e.previousElementSibling) all.push(e);
    return all;
  };

  function start(box) {
    const field = box.querySelector("input"), menus = [...box.querySelectorAll("select")], said = box.querySelector("[role=status]");
    const items = [...document.querySelectorAll(box.dataset.items)].map(item => {
      const parts = whole(item);
      return { item, parts, text: wordsOf(plain(parts.map(part => part.textContent).join(" "))) };
    });
    const groups = [...document.querySelectorAll(box.dataset.groups || "no-groups")].filter(group => items.some(({ item }) => group.contains(item)));

    function show() {
      const words = wordsOf(plain(field.value)).trim().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { item, parts, text } of items) {
        const fits = words.every(word => has(text, word)) && menus.every(menu => !menu.value || value(item, menu.dataset.by) === menu.value);
        for (const part of parts) part.hidden = !fits;
        shown += fits;
      }
      for (const group of groups) group.hidden = items.every(({ item }) => item.hidden || !group.contains(item));
      const narrowed = words.length || menus.some(menu => menu.value);
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
