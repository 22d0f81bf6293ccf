// The page of the search: its query in the book's words, headings between the groups that scorer.js has put in order, five
// results of each group and a button for more, one line for each place, and excerpts of the text alone.
(() => {
  const place = document.getElementById("search-results");
  const groupNumber = globalThis.annotatedSearchGroup; // scorer.js has it, in searchtools.js
  if (!place || !groupNumber) return;
  const FIRST = 5, GLOSSARY = /reference\/glossary\.html#term-/;
  const NAMES = ["Chapters", "Reference", "Names and code of the library"];
  const COMMON = ["attention", "mask", "why sqrt(d_k)", "multi-head", "positional encoding", "layer normalisation", "label smoothing", "warm-up", "beam search", "BLEU"];
  const NOT_TEXT = "figure, svg, pre, script, style, noscript, nav, .live, .headerlink, .no-search, #jb-print-docs-body, .bd-header-article, .prev-next-footer";
  const BLOCKS = "p, li, dt, dd, td, th, h1, h2, h3, h4, div, section, caption, label, legend, option, summary, button";
  const link = (href, text) => Object.assign(document.createElement("a"), { href, textContent: text });
  const rootOf = () => new URL(document.documentElement.dataset.content_root || "./", location.href).href;

  // The page without what is no text; between blocks a space.
  const readable = source => {
    const page = new DOMParser().parseFromString(source, "text/html");
    page.querySelectorAll(NOT_TEXT).forEach(e => e.remove());
    page.querySelectorAll(BLOCKS).forEach(e => e.append(" "));
    return page;
  };
  const engine = typeof Search === "undefined" ? undefined : Search;
  if (engine) {
    const { htmlToText, query } = engine;
    engine.htmlToText = (source, anchor) => htmlToText(readable(source).documentElement.outerHTML, anchor).replace(/\s+/g, " ");
    engine.query = typed => {
      const { words, places: best } = globalThis.annotatedQuery(typed);
      for (const [address, title] of best) engine.output.append(answer(address, title, words));
      query(words);
    };
  }
  // A place that answers an alias, with the excerpt that other results have.
  function answer(address, title, words) {
    const item = document.createElement("li"), [page, anchor] = address.split("#");
    item.append(link(address, title));
    fetch(rootOf() + page).then(found => found.text())
      .then(source => item.append(engine.makeSearchSummary(source, new Set(words.split(" ")), anchor ? `#${anchor}` : ""))).catch(() => {});
    return item;
  }
  // A term of the glossary shows its definition.
  function define(item, address) {
    fetch(address.split("#")[0]).then(found => found.text()).then(source => {
      let found = readable(source).getElementById(address.split("#")[1]);
      while (found && found.nodeName !== "DD") found = found.nextElementSibling;
      if (!found) return;
      item.querySelectorAll("p.context").forEach(e => e.remove());
      item.append(Object.assign(document.createElement("p"), { className: "context definition", textContent: found.textContent.replace(/\s+/g, " ").trim() }));
    }).catch(() => {});
  }

  const places = new Set(), groups = new Map();
  function head(group) {
    const item = Object.assign(document.createElement("li"), { className: "search-group", textContent: NAMES[group] });
    item.dataset.group = group;
    return item;
  }
  // Hide what comes after the first results of a group, behind one button at the group's end.
  function limit(group, item) {
    const known = groups.get(group) ?? { items: [], open: false };
    groups.set(group, known);
    known.items.push(item);
    if (known.items.length <= FIRST || known.open) return;
    item.hidden = true;
    if (!known.more) {
      known.more = Object.assign(document.createElement("li"), { className: "search-more" });
      known.more.dataset.group = group;
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.addEventListener("click", () => {
        known.open = true;
        for (const one of known.items) one.hidden = false;
        known.items[FIRST].querySelector("a").focus();
        known.more.remove();
      });
      known.more.append(button);
    }
    known.more.firstChild.textContent = `Show ${known.items.length - FIRST} more`;
    item.after(known.more);
  }
  function sort(item) {
    const found = item.querySelector("a"), address = found?.href.replace(/\?[^#]*/, "");
    if (places.has(address)) { item.remove(); return; }
    places.add(address);
    const group = found ? groupNumber(found.href.slice(rootOf().length)) : 0, known = groups.get(group);
    item.dataset.group = group;
    if (known) (known.more?.isConnected ? known.more : known.items.at(-1)).before(item);
    else item.before(head(group));
    if (known && !known.more?.isConnected) known.items.at(-1).after(item);
    limit(group, item);
    if (GLOSSARY.test(address)) define(item, address);
  }
  function nothing(status) {
    status.replaceChildren("Nothing found. Try another spelling, the ", link("reference/index_of_terms.html", "index of terms"), " or the ", link("reference/glossary.html", "glossary"), ".");
    status.className = "search-summary search-nothing";
  }
  // Sphinx's own sentence counts every place, and speaks of categories that there are none of.
  function count(status) {
    if (status.classList.contains("search-nothing") || !status.textContent || status.dataset.counted) return;
    status.dataset.counted = "yes";
    if (places.size) status.textContent = `${places.size} ${places.size === 1 ? "place" : "places"} found.`; else nothing(status);
  }
  new MutationObserver(changes => {
    for (const { addedNodes } of changes) for (const item of addedNodes)
      if (item.nodeName === "LI" && !item.dataset.group) sort(item);
    const status = place.querySelector(".search-summary");
    if (status) count(status);
  }).observe(place, { childList: true, subtree: true });

  if (!new URLSearchParams(location.search).get("q")) {
    const list = document.createElement("p");
    list.className = "search-common";
    list.append("Try: ", ...COMMON.flatMap((text, i) => [i ? " · " : "", link(`search.html?q=${encodeURIComponent(text)}`, text)]));
    place.append(list);
  }
})();
