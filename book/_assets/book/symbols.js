// Symbols of a page's formulas: a menu, or a click on a formula, chooses one; its meaning and its places are shown, and it
// is marked wherever it stands. The directive `{symbols}` writes the menu, hidden, and the data beside it.
(() => {
  const SCRIPTS = new Set(["msub", "msup", "msubsup", "munder", "mover", "munderover"]);
  const signature = element => element.outerHTML.replace(/ (?:class|data-symbol|xmlns)="[^"]*"/g, "");
  // A form is the list of the elements that it is made of: `pos` has three.
  function partsOf(math) {
    const inside = math.children.length === 1 && math.firstElementChild.nodeName === "mrow" ? math.firstElementChild : math;
    return [...inside.children].map(signature);
  }
  // What of an element a sign stands for: all of it, its base and lower index, or its base alone; null if nothing.
  function standsFor(element, sign) {
    if (signature(element) === sign) return { marked: [element], rest: [] };
    if (!SCRIPTS.has(element.nodeName)) return null;
    const [base, low, high] = element.children;
    if (element.nodeName === "msubsup" && `<msub>${signature(base)}${signature(low)}</msub>` === sign) return { marked: [base, low], rest: [high] };
    return signature(base) === sign ? { marked: [base], rest: [...element.children].slice(1) } : null;
  }
  function matchAt(elements, start, parts) {
    if (start + parts.length > elements.length) return null;
    const last = parts.length - 1;
    for (let k = 0; k < last; k++) if (signature(elements[start + k]) !== parts[k]) return null;
    const end = standsFor(elements[start + last], parts[last]);
    return end && { marked: [...elements.slice(start, start + last), ...end.marked], rest: end.rest };
  }
  // Every symbol in a formula: `forms` is a list of { symbol, parts }; calls found(symbol, elements).
  function scan(elements, forms, found) {
    for (let k = 0; k < elements.length; k++) {
      const fits = forms.map(form => ({ form, match: matchAt(elements, k, form.parts) })).filter(({ match }) => match);
      // The form that covers most is meant: `step`, not s, and W_i^Q, not W.
      fits.sort((a, b) => b.form.parts.length - a.form.parts.length || a.match.rest.length - b.match.rest.length || b.match.marked.length - a.match.marked.length);
      if (!fits.length) { scan([...elements[k].children], forms, found); continue; }
      found(fits[0].form.symbol, fits[0].match.marked);
      scan(fits[0].match.rest, forms, found);
      k += fits[0].form.parts.length - 1;
    }
  }

  function nameOf(math, names) {
    let last = null;
    for (const name of names) if (name.compareDocumentPosition(math) & Node.DOCUMENT_POSITION_FOLLOWING) last = name;
    return last;
  }
  // Of each symbol: the formulas' names, and at each the elements of its places; the elements learn their symbol.
  function placesOf(entries, names) {
    const reader = document.createElement("template"), places = entries.map(() => new Map());
    const forms = entries.flatMap((entry, symbol) => entry.forms.map(form => {
      reader.innerHTML = form;
      return { symbol, parts: partsOf(reader.content.firstElementChild) };
    }));
    for (const math of document.querySelectorAll(".bd-article div.math > math")) {
      const name = nameOf(math, names);
      if (name) scan([...math.children], forms, (symbol, elements) => {
        for (const element of elements) element.dataset.symbol = symbol;
        places[symbol].set(name, [...(places[symbol].get(name) ?? []), elements]);
      });
    }
    return places;
  }
  const word = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  // A line for each meaning, with the formulas that have it.
  function meanings(entry, found) {
    const groups = new Map(), list = document.createElement("ul");
    for (const [name, places] of found) {
      const meaning = entry.in[name.textContent.trim()] ?? entry.meaning;
      groups.set(meaning, [...(groups.get(meaning) ?? []), [name, places.length]]);
    }
    for (const [meaning, where] of groups) {
      const line = document.createElement("li");
      line.append(word("b", meaning), ": ");
      where.forEach(([name, count], k) => {
        const link = Object.assign(word("a", name.textContent), { href: `#${name.parentElement.id}` });
        line.append(k ? ", " : "", link, count > 1 ? ` (${count}\u00d7)` : "");
      });
      list.append(line);
    }
    return list;
  }
  function describe(entry, found) {
    const head = document.createElement("p");
    head.innerHTML = entry.forms.join(", ");
    if (entry.code) head.append(" in the code ", word("code", entry.code));
    if (entry.base) head.append(entry.code ? "; " : " ", `in the base model ${entry.base}`);
    return [head, meanings(entry, found)];
  }

  // The menu by the sections in which the symbols first stand; each with all meanings that it has on the page.
  const short = meaning => meaning.split(/[;,]/)[0];
  function order(menu, entries, places) {
    const first = [...menu.options].filter(option => option.value !== "" && places[option.value].size);
    const place = option => [...places[option.value].values()][0][0][0];
    first.sort((a, b) => (place(a).compareDocumentPosition(place(b)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    menu.replaceChildren(menu.options[0]);
    let group;
    for (const option of first) {
      const entry = entries[option.value], heading = place(option).closest("section")?.querySelector("h2, h1")?.firstChild.textContent.trim() ?? "";
      if (group?.label !== heading) menu.append(group = Object.assign(document.createElement("optgroup"), { label: heading }));
      const all = new Set([...places[option.value].keys()].map(name => short(entry.in[name.textContent.trim()] ?? entry.meaning)));
      option.textContent = `${entry.name}: ${[...all].join("; ")}`;
      group.append(option);
    }
  }

  function start(desk) {
    const entries = JSON.parse(document.querySelector(".symbol-data").textContent);
    const menu = desk.querySelector("select"), clear = desk.querySelector("button"), said = desk.querySelector(".symbol-said");
    const names = [...document.querySelectorAll(".bd-article p > strong:first-child")];
    names.forEach((name, k) => { name.parentElement.id ||= `formula-${k + 1}`; });
    const places = placesOf(entries, names);
    order(menu, entries, places);
    function choose(symbol) {
      document.querySelectorAll(".symbol-here").forEach(element => element.classList.remove("symbol-here"));
      menu.value = symbol;
      const entry = entries[symbol];
      clear.hidden = !entry;
      desk.classList.toggle("chosen", Boolean(entry));
      said.replaceChildren(...(entry ? describe(entry, places[symbol]) : []));
      desk.closest(".bd-article").style.setProperty("--symbol-desk", entry ? `${desk.offsetHeight}px` : "0px"); // headings stop below it
      if (entry) for (const element of [...places[symbol].values()].flat(2)) element.classList.add("symbol-here");
    }
    menu.addEventListener("change", () => choose(menu.value));
    clear.addEventListener("click", () => { choose(""); menu.focus(); });
    document.querySelector(".bd-article").addEventListener("click", event => {
      const element = event.target.closest?.("[data-symbol]");
      if (element && !getSelection().toString()) choose(element.dataset.symbol);
    });
    addEventListener("pageshow", () => choose(""));
    desk.hidden = false;
  }
  if (document.querySelector(".symbol-data")) document.querySelectorAll(".symbol-desk").forEach(start);
})();
