// Fields that show only some entries of a long page: glossary, index of terms, paper map, exercises. The directive
// `{filter}` writes them, hidden; without this script the whole page is there. Nothing is remembered.
(() => {
  // An entry may have several values of one kind, with semicolons between them.
  const values = (item, name) => (value(item, name) ?? "").split(";").filter(Boolean);
  const value = (item, name) => item.dataset[name] ?? item.querySelector(`[data-${name}]`)?.dataset[name];

  // One spelling of what has two, in what is typed and in what is searched. Each holds for a word that is half typed, too.
  const SPELLINGS = [[/(?<=\p{L}{2}[iy])z/gu, "s"], [/(?<=\p{L}{2})our/gu, "or"], [/(?<=label|model|cancel|travel|level|signal)l/gu, ""],
    [/centre/gu, "center"], [/centerd/gu, "centered"], [/\bgray/gu, "grey"], [/artefact/gu, "artifact"]];
  // Of a formula, signs of TeX go: d_\text{model} is d_model; and W^O is W_O. Names such as ex05-1 stay whole.
  const flat = text => text.replace(/\\(?:text|mathrm|operatorname) *\{/g, "").replace(/[_^] *\{?|(?<=\p{N})-(?=\p{N})/gu, "_").replace(/[\\{}$]/g, " ");
  const plain = text => SPELLINGS.reduce((made, [from, to]) => made.replace(from, to), flat(text).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase());
  // 5.3 is one word, and so is "equation 3", however it is written.
  const spaced = text => ` ${text.replace(/(?:[^\p{L}\p{N}_.]|\.(?!\d)|(?<!\d)\.)+/gu, " ").trim()} `;
  const PARTS = { c: "chapter", e: "equation", f: "figure", t: "table", s: "section", "§": "section" };
  function asked(text) {
    const parts = [], rest = plain(text).replace(/(?<!\p{L})(?:chapter|eqn?|equation|fig|figure|tab|table|sec|section|§)s?[ .(]*\d[\d.]*/gu, found => {
      const part = `${PARTS[found[0]]} ${found.match(/\d.*?(?=\.?$)/u)[0]}`;
      parts.push(found[0] === "c" ? `${part} ` : part); // section 3 has a 3.2, chapter 3 no 31
      return " ";
    });
    return [...parts, ...spaced(rest).split(" ").filter(Boolean).map(single)];
  }
  // The words of an entry, a typed word is looked for at their beginnings: multi-head is also multihead, and head; padding_mask
  // is also mask; d_k is also dk; MultiHeadAttention is also attention.
  function wordsOf(text) {
    const parts = plain(text.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")), whole = plain(text);
    return [parts, whole, whole.replace(/(?<=\p{L})[-\u2010\u2011](?=\p{L})/gu, ""), parts.replaceAll("_", " "), whole.replaceAll("_", "")].map(spaced).join("");
  }
  const single = word => word.replace(/(?<=\p{L}{2}[^\Ws])s$/u, ""); // masks also finds mask
  const has = (text, word) => /^[\p{L}\p{N}]/u.test(word) && !/\p{Script=Han}/u.test(word) ? text.includes(` ${word}`) : text.includes(word);
  // What a reader sees of an entry, its formulas as they are typed, and its other names (`data-words`).
  const attributes = (element, name) => [element, ...element.querySelectorAll(`[${name}]`)].filter(part => part.hasAttribute(name)).map(part => part.getAttribute(name));
  // A name of code with its dots, model.attention.Multi, begins a part of the anchor that an entry of the reference leads to.
  const DOTTED = /^[a-z_]\w*(\.[a-z_]\w*)+(?=\.?$|\()/;
  const anchorOf = item => `.${item.querySelector("dt[id]")?.id ?? item.querySelector("a[href*='#']")?.hash.slice(1) ?? ""}`.replace(".module-", ".").toLowerCase();
  function query(typed, items) {
    const words = asked(typed), dotted = DOTTED.exec(typed.trim().toLowerCase())?.[0], named = ({ path }) => path.includes(`.${dotted}`);
    return { words, matches: dotted && items.some(named) ? named : ({ text }) => words.every(word => has(text, word)) };
  }
  const textOf = element => [...element.children, element].map(part => part.textContent).concat(attributes(element, "alttext"), attributes(element, "data-words")).join(" ");

  // Insertions, deletions and substitutions that make one word of the other.
  function slips(a, b) {
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      row = row.reduce((made, above, j) => [...made, j ? Math.min(above + 1, made[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1])) : i], []);
    }
    return row[b.length];
  }
  // What was typed with each unknown word replaced by the nearest one of the entries; nothing if there is none.
  function meant(words, items) {
    const known = [...new Set(items.flatMap(({ text }) => text.split(" ")))].filter(word => word.length > 2), all = items.map(({ text }) => text).join("");
    const made = words.map(word => {
      if (has(all, word)) return word;
      const reach = word.length < 3 ? 0 : word.length < 6 ? 1 : 2;
      const near = known.filter(one => Math.abs(one.length - word.length) <= reach).map(one => [slips(word, one), one]).filter(([n]) => n <= reach);
      return near.sort(([n], [m]) => n - m)[0]?.[1];
    });
    return made.every(Boolean) && made.join(" ") !== words.join(" ") ? made.join(" ") : undefined;
  }

  // Says how many entries are shown: of all, or of kinds, each with its name and selector. Opens the folds of the last three.
  function counter(box, items) {
    const kinds = box.dataset.count ? box.dataset.count.split(";").map(kind => kind.split("|").map(part => part.trim())) : [[box.dataset.what, "*"]];
    return narrowed => {
      const left = items.map(({ item }) => item).filter(item => !item.hidden);
      // Folds of entries open where few are left.
      if (box.dataset.open) for (const item of left) for (const fold of item.querySelectorAll(box.dataset.open)) fold.open = narrowed && left.length <= 3;
      if (!narrowed) return "";
      const found = kinds.map(([name, which]) => [name, items.map(({ item }) => item).filter(item => item.matches(which))]);
      const sums = found.map(([name, all]) => [name, all.filter(item => !item.hidden).length, all.length]);
      const some = sums.filter(([, shown]) => shown);
      if (!some.length) return `None of ${sums.map(([name, , all]) => `${amount(all)} ${name}`).join(", ")}`;
      return some.map(([name, shown, all]) => `${amount(shown)} of ${amount(all)} ${name}`).join(", ");
    };
  }
  const amount = number => number.toLocaleString("en");
  // A number in the head of a fold says how many entries are left in it.
  function recount(fold, items, narrowed) {
    const head = fold.querySelector(":scope > summary > [data-entries]"), left = items.filter(({ item }) => !item.hidden && fold.contains(item)).length;
    if (head) head.textContent = narrowed ? `${left} of ${head.dataset.entries}` : head.dataset.entries;
  }

  // A menu without values offers those that the entries have.
  function fill(menus, items) {
    for (const menu of menus.filter(menu => menu.options.length < 2)) {
      const offered = new Set(items.flatMap(({ item }) => values(item, menu.dataset.by)));
      const listed = "asListed" in menu.dataset ? [...offered] : [...offered].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      for (const text of listed) menu.append(new Option(text));
    }
  }
  // Each value of a menu says how many entries it would leave beside the field and the other menus.
  function facets(box, menus, items, chosen) {
    const counted = box.dataset.facets ? items.filter(({ item }) => item.matches(box.dataset.facets)) : [];
    return fits => {
      for (const menu of counted.length ? menus : []) {
        const left = counted.filter(one => fits(one) && chosen(one.item, menu));
        for (const option of [...menu.options].filter(option => option.value)) {
          const { value } = option, count = left.filter(({ item }) => values(item, menu.dataset.by).includes(value)).length;
          Object.assign(option, { textContent: `${value} (${count})`, value, disabled: !count && menu.value !== value });
        }
      }
    };
  }
  // A letter without entries leads nowhere.
  function jump(link, leads) {
    link.dataset.to ??= link.getAttribute("href");
    if (leads) { link.setAttribute("href", link.dataset.to); link.removeAttribute("role"); link.removeAttribute("aria-disabled"); }
    else { link.removeAttribute("href"); link.setAttribute("role", "link"); link.setAttribute("aria-disabled", "true"); }
  }

  function start(box) {
    const field = box.querySelector("input"), menus = [...box.querySelectorAll("select")], said = box.querySelector("[role=status]");
    const ask = Object.assign(document.createElement("button"), { type: "button", hidden: true, textContent: "Show all" });
    said.after(ask);
    const searched = item => (box.dataset.names ? [...[...item.querySelectorAll(box.dataset.names)].map(e => e.textContent), ...attributes(item, "data-words")].join(" ") : textOf(item));
    const items = [...document.querySelectorAll(box.dataset.items)].map(item => ({ item, text: wordsOf(searched(item)), path: anchorOf(item) }));
    const counted = counter(box, items);
    const followers = [...document.querySelectorAll("[data-follows]")].map(row => [row, document.getElementById(row.dataset.follows)]);
    fill(menus, items);
    const tables = new Set([...items.map(({ item }) => item), ...followers.map(([row]) => row)].map(item => item.closest("table")).filter(Boolean));
    const groups = [...document.querySelectorAll(box.dataset.groups || "no-groups")].filter(group => items.some(({ item }) => group.contains(item)));
    const jumps = groups.flatMap(group => [...document.querySelectorAll(`.index-jumps a[href="#${group.id}"]`)].map(link => [link, group]));
    const chosen = (item, but) => menus.every(menu => menu === but || !menu.value || values(item, menu.dataset.by).includes(menu.value));
    const countValues = facets(box, menus, items, chosen);

    function show() {
      const { words, matches } = query(field.value, items);
      let shown = 0;
      for (const one of items) {
        const { item } = one, fits = matches(one) && chosen(item);
        item.hidden = !fits;
        shown += fits;
      }
      const narrowed = words.length > 0 || menus.some(menu => menu.value);
      for (const group of groups) {
        group.hidden = items.every(({ item }) => item.hidden || !group.contains(item));
        if (group.nodeName === "DETAILS") { group.open = narrowed && !group.hidden; recount(group, items, narrowed); }
      }
      for (const [link, group] of jumps) jump(link, !group.hidden);
      countValues(matches);
      for (const [row, item] of followers) row.hidden = item.hidden;
      for (const table of tables) table.hidden = [...items.map(({ item }) => item), ...followers.map(([row]) => row)].every(item => item.hidden || !table.contains(item));
      said.textContent = counted(narrowed);
      offer(shown ? undefined : meant(words, items), narrowed && (!shown || menus.some(menu => menu.value)));
    }
    // Where nothing fits: another word, or everything; where a menu narrows, everything.
    function offer(word, isOffered) {
      if (ask.hidden && !isOffered) return;
      ask.hidden = !isOffered;
      ask.textContent = word ? `Did you mean ${word}?` : "Show all";
      ask.onclick = () => { if (word) field.value = word; else clear(); show(); field.focus(); };
    }
    function clear() { field.value = ""; for (const menu of menus) menu.value = ""; show(); }

    field.addEventListener("input", show);
    // Enter goes to the first entry that is shown; Escape shows everything.
    field.addEventListener("keydown", event => {
      const first = event.key === "Enter" && field.value && items.find(({ item }) => !item.hidden)?.item;
      if (first) (first.querySelector("a[href], button:not([hidden]), summary") ?? first).focus();
      if (event.key === "Escape") clear();
    });
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
