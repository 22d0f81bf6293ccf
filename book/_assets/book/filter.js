// Fields that show only some entries of a long page: glossary, index of terms, paper map, exercises. The directive
// `{filter}` writes them, hidden; without this script the whole page is there. What is typed and chosen stands in the
// address (?show=mask&kind=write), so that a link brings it back; nothing else is remembered.
(() => {
  // An entry may have several values of one kind, with semicolons between them.
  const values = (item, name) => (value(item, name) ?? "").split(";").filter(Boolean);
  const value = (item, name) => item.dataset[name] ?? item.querySelector(`[data-${name}]`)?.dataset[name];

  // One spelling of what has two, in what is typed and in what is searched. Each holds for a word that is half typed, too.
  const SPELLINGS = [[/(?<=\p{L}{2}[iy])z/gu, "s"], [/(?<=\p{L}{2})our/gu, "or"], [/(?<=label|model|cancel|travel|level|signal)l/gu, ""],
    [/centre/gu, "center"], [/centerd/gu, "centered"], [/\bgray/gu, "grey"], [/artefact/gu, "artifact"]];
  // Of a formula, signs of TeX go: d_\text{model} is d_model; and W^O is W_O. Names such as ex05-1 stay whole.
  // Signs of formulas by their names in TeX: \u221ad_k is sqrt d_k, and \u03b5 is epsilon.
  const SIGNS = { "\u221a": "sqrt ", "\u221e": "infty ", "\u2211": "sum ", "\u2202": "partial ", "\u2207": "nabla ", "\u03b1": "alpha", "\u03b2": "beta", "\u03b3": "gamma", "\u03b4": "delta",
    "\u03b5": "epsilon", "\u03b7": "eta", "\u03b8": "theta", "\u03bb": "lambda", "\u03bc": "mu", "\u03c0": "pi", "\u03c1": "rho", "\u03c3": "sigma", "\u03c4": "tau", "\u03c9": "omega" };
  const named = text => text.replace(/[\u221a\u221e\u2211\u2202\u2207\u03b1-\u03c9]/gu, sign => (sign in SIGNS ? ` ${SIGNS[sign]}` : sign));
  const flat = text => text.replace(/\\(?:text|mathrm|operatorname) *\{/g, "").replace(/[_^] *\{?|(?<=\p{N})-(?=\p{N})/gu, "_").replace(/[\\{}$]/g, " ");
  const plain = text => SPELLINGS.reduce((made, [from, to]) => made.replace(from, to), named(flat(text).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()));
  // 5.3 is one word, and so is "equation 3", however it is written.
  const spaced = text => ` ${text.replace(/(?:[^\p{L}\p{N}_.]|\.(?!\d)|(?<!\d)\.)+/gu, " ").trim()} `;
  const PARTS = { c: "chapter", e: "equation", f: "figure", t: "table", s: "section", "§": "section" };
  const part = (kind, number) => `${kind} ${number}${kind === "chapter" || kind === "exercise" ? " " : ""}`; // section 3 has a 3.2, chapter 3 no 31
  function asked(text) {
    const parts = [], rest = plain(text).replace(/(?<!\p{L})(?:chapter|eqn?|equation|exercise|fig|figure|tab|table|sec|section|§)s?[ .(]*\d[\d.]*/gu, found => {
      const kind = found.startsWith("ex") ? "exercise" : PARTS[found[0]];
      parts.push(part(kind, found.match(/\d.*?(?=\.?$)/u)[0]));
      return " ";
    });
    return [...parts, ...spaced(rest).split(" ").filter(Boolean).map(single)];
  }
  // The words of an entry, a typed word is looked for at their beginnings: multi-head is also multihead, and head; padding_mask
  // is also mask; d_k is also dk; MultiHeadAttention is also attention.
  function wordsOf(text) {
    const parts = plain(text.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")), whole = plain(text);
    const joined = whole.replace(/(?<=\p{L})[-\u2010\u2011](?=\p{L})/gu, ""), one = (parts.match(/\p{L}+ies\b/gu) ?? []).map(single).join(" ");
    return [parts, whole, joined, parts.replaceAll("_", " "), whole.replaceAll("_", ""), one].map(spaced).join("");
  }
  const single = word => word.replace(/(?<=\p{L}{2})ies$/u, "y").replace(/(?<=\p{L}{2}[^\Ws])s$/u, ""); // masks also finds mask, and queries query
  const has = (text, word) => /^[\p{L}\p{N}]/u.test(word) && !/\p{Script=Han}/u.test(word) ? text.includes(` ${word}`) : text.includes(word);
  // What a reader sees of an entry, its formulas as they are typed, and its other names (`data-words`).
  const attributes = (element, name) => [element, ...element.querySelectorAll(`[${name}]`)].filter(part => part.hasAttribute(name)).map(part => part.getAttribute(name));
  // A name of code with its dots, model.attention.Multi, begins a part of the anchor that an entry of the reference leads to.
  const DOTTED = /^[a-z_]\w*(\.[a-z_]\w*)+(?=\.?$|\()/;
  const anchorOf = item => `.${item.querySelector("dt[id]")?.id ?? item.querySelector("a[href*='#']")?.hash.slice(1) ?? ""}`.replace(".module-", ".").toLowerCase();
  // A bare 5 or 5.2 is read as the page says: as a chapter, an exercise, or a section of the paper. Other readings that fit
  // are offered. A whole number that no kind has stays a word.
  function readings(typed, kinds, items) {
    const number = /^\s*(\d+(?:\.\d+)*)\s*$/.exec(typed)?.[1];
    const fits = kind => items.some(({ text }) => has(text, part(kind, number)));
    const found = number ? kinds.filter(fits) : [];
    return number ? (found.length || !number.includes(".") ? found : kinds.slice(0, 1)).map(kind => [kind, number]) : [];
  }
  function query(typed, items, kinds = []) {
    const [read, ...others] = readings(typed, kinds, items), words = read ? [part(...read)] : asked(typed), dotted = DOTTED.exec(typed.trim().toLowerCase())?.[0], leads = ({ path }) => path.includes(`.${dotted}`);
    // An entry that is itself a numbered thing is found by its own number, or one above it; others by what they say.
    const isOwn = words.length === 1 && items.some(({ own }) => own === words[0]), says = ({ text }) => words.every(word => has(text, word));
    const fits = one => (isOwn && one.own ? `${one.own}.`.startsWith(`${words[0]}.`) : says(one));
    return { words, read, others, matches: dotted && items.some(leads) ? leads : fits };
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
      const [stem] = /\s/.test(word) ? [] : known.filter(one => one.length > 3 && word.startsWith(one)).sort((a, b) => b.length - a.length); // masking: mask
      if (stem) return stem;
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
      if (!some.length) return `Nothing fits among ${listed(sums.map(([name, , all]) => `${amount(all)} ${name}`))}`;
      return some.map(([name, shown, all]) => `${amount(shown)} of ${amount(all)} ${name}`).join(", ");
    };
  }
  const listed = parts => parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0];
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
  // Entries about other entries: data-exercises="ex05-1;ex05-2" names values of data-exercise.
  function join(box, items) {
    const [one, many] = (box.dataset.about ?? "").split("|").map(part => part.trim());
    if (!many) return;
    const named = new Map(items.map(entry => [value(entry.item, one), entry]));
    for (const entry of items) if (value(entry.item, many) !== undefined) entry.about = values(entry.item, many).map(name => named.get(name)).filter(Boolean);
  }
  // Each value of a menu says how many entries it would leave beside the field and the other menus.
  function facets(box, menus, items, chosen) {
    const counted = box.dataset.facets ? items.filter(({ item }) => item.matches(box.dataset.facets)) : [];
    return fits => {
      for (const menu of counted.length ? menus : []) {
        const left = counted.filter(one => fits(one) && chosen(one, menu));
        for (const option of [...menu.options].filter(option => option.value)) {
          const { value } = option, count = left.filter(({ item }) => values(item, menu.dataset.by).includes(value)).length;
          Object.assign(option, { textContent: `${value} (${count})`, value, disabled: !count && menu.value !== value });
        }
      }
    };
  }
  // What the menus leave. An entry about others stays with one of them that every menu leaves, and that the field leaves if
  // it does not leave the entry itself.
  function choices(menus) {
    const chosen = ({ item }, but) => menus.every(menu => menu === but || !menu.value || values(item, menu.dataset.by).includes(menu.value));
    const stays = (one, matches) => (one.about ? one.about.some(other => chosen(other) && (matches(one) || matches(other))) : matches(one) && chosen(one));
    return { chosen, stays };
  }
  // A letter without entries leads nowhere.
  function jump(link, leads) {
    link.dataset.to ??= link.getAttribute("href");
    if (leads) { link.setAttribute("href", link.dataset.to); link.removeAttribute("role"); link.removeAttribute("aria-disabled"); }
    else { link.removeAttribute("href"); link.setAttribute("role", "link"); link.setAttribute("aria-disabled", "true"); }
  }

  // What is typed and chosen, in the address: a page on a disk or in a frame may have none that can change.
  let writing;
  const address = {
    get: name => new URLSearchParams(location.search).get(name) ?? "",
    set(values) {
      clearTimeout(writing);
      Object.assign(address.waiting ??= {}, values);
      writing = setTimeout(() => {
        const params = new URLSearchParams(location.search);
        for (const [name, value] of Object.entries(address.waiting)) if (value) params.set(name, value); else params.delete(name);
        address.waiting = {};
        const search = params.size ? `?${params}` : "";
        if (search !== location.search) try { history.replaceState(history.state, "", `${location.pathname}${search}${location.hash}`); } catch { /* it stays as it is */ }
      }, 200);
    },
  };
  globalThis.annotatedAddress = address;

  // Where nothing fits, the book may have it: a link to its search.
  function searcher(place) {
    const link = document.createElement("a"), root = document.documentElement.dataset.content_root;
    link.hidden = true;
    if (root !== undefined) place.after(link);
    return typed => {
      link.hidden = !typed;
      Object.assign(link, { textContent: `Search the book for “${typed}”`, href: `${root}search.html?q=${encodeURIComponent(typed)}` });
    };
  }
  // Folds of entries: a button opens those that are shown, and a link to an entry opens its own.
  function unfolder(box, items) {
    const all = Object.assign(document.createElement("button"), { type: "button" });
    const foldsOf = some => some.filter(({ item }) => !item.hidden).flatMap(({ item }) => [...item.querySelectorAll(box.dataset.open)]);
    const reset = () => { all.textContent = "Unfold all"; };
    if (!box.dataset.open) return { reset, unfold() {} };
    box.querySelector("[role=status]").before(all);
    all.addEventListener("click", () => {
      const isOpening = all.textContent === "Unfold all";
      for (const fold of foldsOf(items)) fold.open = isOpening;
      all.textContent = isOpening ? "Fold all" : "Unfold all";
    });
    function unfold(target) {
      const own = items.filter(({ item }) => item === target);
      for (const fold of foldsOf(own)) fold.open = true;
      if (own.length) target.scrollIntoView();
    }
    return { reset, unfold };
  }
  // Links of a chart choose as their addresses say, without a new page.
  function chartLinks(box, choose) {
    for (const link of document.querySelectorAll("a[data-filters]")) link.addEventListener("click", event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const wanted = new URL(link.href).searchParams;
      choose(name => wanted.get(name) ?? "");
      box.scrollIntoView();
      box.querySelector("input").focus({ preventScroll: true });
    });
  }
  // Tables, and groups with the letters that lead to them, hide when nothing in them is left.
  function hider(box, items) {
    const followers = [...document.querySelectorAll("[data-follows]")].map(row => [row, document.getElementById(row.dataset.follows)]);
    const rows = [...items.map(({ item }) => item), ...followers.map(([row]) => row)], tables = new Set(rows.map(row => row.closest("table")).filter(Boolean));
    const all = [...document.querySelectorAll(box.dataset.groups || "no-groups")], groups = all.filter(group => items.some(({ item }) => group.contains(item)));
    const empty = box.dataset.empty ? all.filter(group => !groups.includes(group)) : [];
    let before = false; // folds that the reader opened stay open until something is looked for
    const jumps = groups.flatMap(group => [...document.querySelectorAll(`.index-jumps a[href="#${group.id}"]`)].map(link => [link, group]));
    return narrowed => {
      for (const group of groups) {
        group.hidden = items.every(({ item }) => item.hidden || !group.contains(item));
        if (group.nodeName !== "DETAILS") continue;
        if (narrowed || before) group.open = narrowed && !group.hidden;
        recount(group, items, narrowed);
      }
      for (const group of empty) group.hidden = narrowed;
      before = narrowed;
      for (const [link, group] of jumps) jump(link, !group.hidden);
      for (const [row, item] of followers) row.hidden = item.hidden;
      for (const table of tables) table.hidden = rows.every(row => row.hidden || !table.contains(row));
    };
  }

  // Groups that are folds open where a link leads into them.
  function openAround(box, target) {
    const around = [...document.querySelectorAll(box.dataset.groups || "no-groups")].filter(fold => fold.open === false && target && (fold.contains(target) || fold.parentElement === target));
    for (const fold of around) fold.open = true;
    if (around.length) target.scrollIntoView();
  }
  // The entries with what is searched of each, its place in the code, and its own number.
  function entriesOf(box) {
    const named = item => [...[...item.querySelectorAll(box.dataset.names)].map(e => e.textContent), ...attributes(item, "data-words")].join(" ");
    const searched = box.dataset.names ? named : textOf;
    const items = [...document.querySelectorAll(box.dataset.items)].map(item => ({ item, text: wordsOf(searched(item)), path: anchorOf(item), own: value(item, "own") }));
    join(box, items);
    return items;
  }

  function start(box, at) {
    const field = box.querySelector("input"), menus = [...box.querySelectorAll("select")], said = box.querySelector("[role=status]");
    const ask = Object.assign(document.createElement("button"), { type: "button", hidden: true, textContent: "Show all" }), search = searcher(said);
    said.after(ask);
    const items = entriesOf(box);
    const counted = counter(box, items), folds = unfolder(box, items), hide = hider(box, items);
    fill(menus, items);
    const { chosen, stays } = choices(menus);
    const countValues = facets(box, menus, items, chosen), kinds = (box.dataset.numbers ?? "").split(";").map(kind => kind.trim()).filter(Boolean);
    const inAddress = name => (at ? `${name}${at + 1}` : name); // a second field of a page has names of its own

    function show() {
      const { words, read, others, matches } = query(field.value, items, kinds), narrowed = words.length > 0 || menus.some(menu => menu.value);
      for (const one of items) one.item.hidden = !stays(one, matches);
      const shown = items.some(({ item }) => !item.hidden);
      hide(narrowed);
      folds.reset();
      countValues(matches);
      said.textContent = `${counted(narrowed)}${read ? ` (${read.join(" ")})` : ""}`;
      if (!words.length && field.value.trim()) said.textContent = "Type a letter or a number too: signs alone are not looked for.";
      const other = others[0]?.join(" "), word = shown ? undefined : meant(words, items);
      search(shown || !words.length ? "" : field.value.trim());
      if (other) offer(`Show ${other} instead`, other, true);
      else offer(word ? `Did you mean ${word}?` : "Show all", word, narrowed && (!shown || menus.some(menu => menu.value)));
      address.set(Object.fromEntries([["show", field.value.trim()], ...menus.map(menu => [menu.dataset.by, menu.value])].map(([name, text]) => [inAddress(name), text])));
    }
    // Where a number has two readings, the other one; where nothing fits, another word; where a menu narrows, everything.
    function offer(text, typed, isOffered) {
      if (ask.hidden && !isOffered) return;
      ask.hidden = !isOffered;
      ask.textContent = text;
      ask.onclick = () => { if (typed) { field.value = typed; show(); } else clear(); field.focus(); };
    }
    function choose(get) {
      field.value = get("show");
      for (const menu of menus) menu.value = [...menu.options].some(({ value }) => value === get(menu.dataset.by)) ? get(menu.dataset.by) : "";
      show();
    }
    const clear = () => choose(() => "");
    field.addEventListener("input", show);
    // Enter goes to the first entry that is shown; Escape shows everything.
    field.addEventListener("keydown", event => {
      const first = event.key === "Enter" && field.value && items.find(({ item }) => !item.hidden)?.item;
      if (first) (first.querySelector("a[href], button:not([hidden]), summary") ?? first).focus();
      if (event.key === "Escape") clear();
    });
    for (const menu of menus) menu.addEventListener("change", show);
    if (!at) chartLinks(box, choose);
    // A link to a hidden entry shows everything again.
    function showTarget() {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target?.closest("[hidden]")) { clear(); target.scrollIntoView(); }
      openAround(box, target);
      folds.unfold(target);
    }
    addEventListener("hashchange", showTarget);
    // The browser may bring back what was typed; what the address says holds.
    addEventListener("pageshow", () => { choose(name => address.get(inAddress(name))); showTarget(); });
    box.hidden = false;
  }
  document.querySelectorAll(".page-filter").forEach(start);
})();
