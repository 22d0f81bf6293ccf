// The page of the search. Sphinx's index finds pages; this shows them: in the three groups of scorer.js, each page once, with
// the sections that say most and a sentence of each. Their texts are scripts, which also load from a folder on a disk.
(() => {
  const place = document.getElementById("search-results"), engine = typeof Search === "undefined" ? undefined : Search;
  const passages = globalThis.annotatedPassages;
  if (!place || !engine || !passages) return;
  const FIRST = 5, MOST_OBJECTS = 5;
  const NAMES = ["Chapters", "Reference", "Names and code of the library"], NAMED = "The name in the library";
  const COMMON = ["attention", "mask", "why sqrt(d_k)", "multi-head", "positional encoding", "layer normalisation", "label smoothing", "warm-up", "beam search", "BLEU"];
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
  const stemmer = new Stemmer(), stems = new Map();
  const stem = word => stems.get(word) ?? (stems.set(word, stemmer.stemWord(word)), stems.get(word));
  const make = (tag, className = "", ...inside) => {
    const element = Object.assign(document.createElement(tag), { className });
    element.append(...inside);
    return element;
  };
  const link = (href, ...inside) => Object.assign(make("a", "", ...inside), { href });
  const searchFor = text => link(`search.html?q=${encodeURIComponent(text)}`, text);
  const mark = (text, terms) => passages.marked(text, terms, stem).map((part, i) => (i % 2 ? make("mark", "", part) : part));

  // Scripts that hand their data to a function of this name.
  const waiting = new Map(), loaded = new Map();
  globalThis.annotatedTexts = (page, texts, code = []) => waiting.get(page)?.({ texts, code });
  globalThis.annotatedWords = words => waiting.get("words")?.(words);
  globalThis.annotatedAnswers = answers => waiting.get("answers")?.(answers);
  const loading = (key, file) => new Promise(resolve => {
    waiting.set(key, resolve);
    const script = Object.assign(document.createElement("script"), { src: `${root}_static/search/${file}` });
    script.onerror = () => resolve(undefined);
    document.head.append(script);
  });
  const load = (key, file) => loaded.get(key) ?? (loaded.set(key, loading(key, file)), loaded.get(key)); // two groups may have a page

  const answers = load("answers", "answers.js").then(known => known ?? { numbers: {}, parts: {}, terms: {} });

  // Sphinx's own search for a word takes it from the middle of others, too: "atention" would be found in "latention".
  const filesOf = files => (files === undefined ? [] : [].concat(files));
  function filesWith(word) {
    const { terms, titleterms } = engine._index, known = [[terms, 5, 2], [titleterms, 15, 7]], files = new Map();
    const add = (list, score) => { for (const file of filesOf(list)) files.set(file, Math.max(score, files.get(file) ?? 0)); };
    for (const [index, whole, part] of known) {
      if (Object.hasOwn(index, word)) add(index[word], whole);
      else if (word.length > 2) for (const [term, list] of Object.entries(index)) if (passages.begins(term, word)) add(list, part);
    }
    return files;
  }
  engine.performTermsSearch = (asked, excluded) => {
    const { docnames, titles, filenames } = engine._index, long = [...asked].filter(word => word.length > 2);
    const found = (long.length ? long : [...asked]).map(filesWith), without = [...excluded].map(filesWith);
    return [...(found[0]?.keys() ?? [])].filter(file => found.every(files => files.has(file)) && !without.some(files => files.has(file)))
      .map(file => [docnames[file], titles[file], "", null, Math.max(...found.map(files => files.get(file))), filenames[file]]);
  };
  const objectsWith = engine.performObjectSearch;
  engine.performObjectSearch = (word, all) => objectsWith(word, all).filter(([, name]) => passages.begins(name, word));
  // What Sphinx finds for words; of titles only those with the words at a word's beginning.
  function ofWords(words) {
    const parsed = engine._parseQuery(words), terms = [...parsed[1]], asked = [...parsed[3]];
    const pages = new Set(engine.performTermsSearch(parsed[1], parsed[2]).map(([name]) => name));
    const fits = ([name, title, , about]) => about || pages.has(name) || asked.every(word => (title.match(/[\p{L}\p{N}_]+/gu) ?? []).some(one => passages.begins(one, word)));
    return { terms, results: engine._performSearch(...parsed).reverse().filter(fits) };
  }
  // The pages with all numbers, those first that have them most often.
  function ofNumbers(numbers, counts) {
    const { docnames } = engine._index, each = numbers.map(number => counts[number] ?? {});
    const all = Object.keys(each[0]).filter(name => docnames.includes(name) && each.every(one => one[name]));
    return all.sort((a, b) => Math.min(...each.map(one => one[b])) - Math.min(...each.map(one => one[a]))).map(name => [name, "", ""]);
  }

  // The pages of the objects that a query names to the letter, each with their anchors.
  async function namedBy(typed) {
    const { exports = [] } = await answers;
    const { docnames, objects, objtypes, titles } = engine._index, pages = new Map();
    for (const [at, full] of passages.objectsNamed(typed, objects, objtypes, exports)) {
      const page = pages.get(at) ?? pages.set(at, { name: docnames[at], title: titles[at], anchors: [], labels: [], isAnswer: true, only: true }).get(at);
      page.anchors.push(full);
    }
    return [...pages.values()];
  }
  // What Sphinx found, each page once, the best first, with the anchors that a title or a name answered.
  function pagesOf(results, first) {
    const pages = new Map();
    const page = (name, title) => pages.get(name) ?? pages.set(name, { name, title, anchors: [], labels: [] }).get(name);
    const add = (name, title, anchor) => {
      const one = page(name, title);
      if (anchor && !one.anchors.includes(anchor)) one.anchors.push(anchor);
    };
    const { docnames, titles } = engine._index, titleOf = (name, title) => titles[docnames.indexOf(name)] ?? title;
    for (const [address, label] of first) {
      const [file, anchor] = address.split("#"), name = file.replace(/\.html$/, "");
      add(name, titleOf(name, label.split(" > ")[0]), anchor);
      page(name).isAnswer = true;
      if (anchor && label) page(name).labels.push([anchor, label]);
    }
    for (const [name, title, anchor] of results) add(name, titleOf(name, title), anchor.slice(1));
    return [...pages.values()];
  }

  // A long name of code breaks behind its dots and underscores, and nowhere else.
  const breaking = parts => parts.flatMap(part => {
    const text = typeof part === "string" ? part : part.textContent, pieces = text.split(/(?<=[._])/).flatMap((piece, i) => (i ? [make("wbr"), piece] : [piece]));
    return typeof part === "string" ? pieces : [make(part.nodeName.toLowerCase(), "", ...pieces)];
  });
  const headingOf = (heading, name, terms) => (name.startsWith("reference/api/") ? [make("code", "", ...breaking(mark(heading, terms)))] : mark(heading, terms));
  function section(page, { anchor, heading, text }, terms) {
    const item = make("li", "search-place");
    if (anchor) item.append(link(`${root}${page.name}.html#${anchor}`, ...headingOf(heading, page.name, terms)));
    if (text) item.append(make("p", "context", ...mark(text, terms)));
    return item;
  }
  // Pages that have the words in their code alone are named in one line below the others, with the section of that code.
  function onlyInCode(item, page, also, place) {
    const isFocused = item.contains(document.activeElement), title = place ? `${page.title} › ${place.heading}` : page.title;
    const leads = link(`${root}${page.name}.html${place ? `#${place.anchor}` : ""}`, title);
    if (also.hidden) { also.append("In code, a picture, a note or an answer alone: "); also.hidden = false; } else also.append(" · ");
    also.append(leads);
    item.remove();
    if (isFocused) leads.focus();
  }
  function hit(page, terms, also) {
    const item = make("li", "search-page", link(`${root}${page.name}.html`, page.title)), list = make("ul", "search-places");
    load(page.name, `texts/${page.name}.js`).then(({ texts, code } = { code: [] }) => {
      const most = page.only ? page.anchors.length : page.name.startsWith("reference/api/") ? MOST_OBJECTS : undefined;
      for (const [anchor, heading] of page.labels) if (!texts?.some(([known]) => known === anchor)) list.append(section(page, { anchor, heading, text: "" }, terms));
      const best = passages.best(texts ?? [], terms, stem, page.anchors, most, page.isAnswer);
      if (best[0]?.isOnlyCode && !list.children.length) { onlyInCode(item, page, also, passages.placeInCode(code, texts, terms, stem)); return; }
      for (const one of best.filter(one => !one.isOnlyCode)) list.append(section(page, one, terms));
      if (list.children.length) item.append(list);
      item.dataset.ready = "yes";
    });
    return item;
  }
  function group(number, pages, terms) {
    const box = make("section", "search-group", make("h2", "", NAMES[number] ?? NAMED)), list = make("ol", "search");
    const also = Object.assign(make("p", "search-also"), { hidden: true });
    box.dataset.group = number;
    list.append(...pages.slice(0, FIRST).map(page => hit(page, terms, also)));
    box.append(list, also);
    const rest = pages.slice(FIRST);
    if (rest.length) {
      const button = Object.assign(make("button", "", `Show ${rest.length} more`), { type: "button" });
      button.addEventListener("click", () => {
        const more = rest.map(page => hit(page, terms, also));
        list.append(...more);
        more[0].querySelector("a").focus();
        button.remove();
      });
      box.append(button);
    }
    return box;
  }

  async function run(typed) {
    const { words, places } = globalThis.annotatedQuery(passages.fold(typed));
    const { numbers: counts, parts, terms: entries, formulas = [] } = await answers;
    const part = passages.partOf(typed, parts), missing = passages.missingPart(typed, parts), numbers = part ? [] : passages.numbersOf(words);
    const first = [...places, ...(parts[part] ?? []), ...passages.formulasWith(typed, formulas), ...passages.entryOf(typed, entries), ...passages.entryOf(words, entries)];
    if (part) {
      const keys = /^\d/.test(typed.trim()) ? part.split(" ").slice(1) : [part], isOfPaper = /^(section|equation|figure|table) /.test(part);
      return { typed, words: "", terms: isOfPaper ? keys[0].split(" ").map(stem) : [], pages: pagesOf(ofNumbers(keys, counts), first) };
    }
    const left = numbers.length ? passages.withoutNumbers(words) : words;
    // Words such as "the" stand on every page, and Sphinx's index leaves them out.
    const asked = splitQuery(left), isCommon = !numbers.length && asked.length > 0 && asked.every(word => stopwords.indexOf(word.toLowerCase()) >= 0);
    if (isCommon) return { typed, words: "", terms: [], pages: pagesOf([], first), common: [...new Set(asked)] };
    const found = left ? ofWords(left) : { terms: [], results: [] }, terms = [...numbers, ...found.terms];
    if (!numbers.length) return { typed, words, terms, missing, pages: pagesOf(found.results, first) };
    const { docnames, titles } = engine._index, named = new Set(found.results.map(([name]) => name));
    const fit = ([name]) => Math.floor(globalThis.annotatedTitleFit(titles[docnames.indexOf(name)] ?? "", left)); // 1 if the title is what was asked for
    const having = ofNumbers(numbers, counts).sort((a, b) => fit(b) - fit(a));
    return { typed, words: left, terms, missing, pages: pagesOf(found.terms.length ? having.filter(([name]) => named.has(name)) : having, first) };
  }
  function isKnown(word) {
    const lower = word.toLowerCase(), { terms, titleterms, objects } = engine._index;
    if (lower.length < 3 || /\d/.test(lower) || stopwords.indexOf(lower) >= 0) return true;
    if (Object.hasOwn(terms, stem(lower)) || Object.hasOwn(titleterms, stem(lower))) return true;
    return Object.entries(objects).some(([prefix, names]) => passages.begins(prefix, lower) || names.some(name => passages.begins(name[4], lower)));
  }
  async function meant(found) {
    const unknown = splitQuery(found.words).filter(word => !isKnown(word));
    return unknown.length ? passages.correct(found.typed.toLowerCase(), unknown, (await load("words", "words.js")) ?? {}) : undefined;
  }
  function summary(found, correction) {
    const status = engine.status, count = new Set([...found.named, ...found.pages].map(page => page.name)).size, index = link("reference/index_of_terms.html", "index of terms");
    if (found.common) {
      const one = found.common.length === 1;
      status.replaceChildren(`${found.common.map(word => `“${word}”`).join(", ")} ${one ? "is too common a word" : "are too common words"} to be looked for. Add a rarer one.`);
      if (count) status.append(` ${count} ${count === 1 ? "page answers" : "pages answer"} by name.`);
    } else if (!count) {
      status.classList.add("search-nothing");
      status.replaceChildren("Nothing found. Try another spelling, the ", index, " or the ", link("reference/glossary.html", "glossary"), ".");
    } else status.replaceChildren(`${count} ${count === 1 ? "page" : "pages"} found.`);
    if (found.missing) status.prepend(`The paper has no ${found.missing}; `, link("reference/paper_map.html", "the map of the paper"), " has all its parts. ");
    if (correction) status.before(correction);
  }
  let latest = 0, wanted;
  async function answer(typed) {
    const mine = ++latest, named = await namedBy(typed), dotted = named.length && /\./.test(typed);
    // Of a dotted name the words are its last: "model.attention.MultiHeadAttention" is one class, and no question of models.
    let found = { ...await run(dotted ? typed.replace(/\(.*/, "").split(".").pop() : typed), typed, named }, correction;
    // A name of code that nothing has whole is looked for in its parts: warm_up_steps as warm up steps.
    const parts = typed.replace(/[\\_]+/g, " ").trim(), isSplit = !found.pages.length && !named.length && !found.common && /\w_\w/.test(typed) && /[^\W_]{3}/.test(parts);
    const inParts = isSplit ? { ...await run(parts), named } : undefined;
    const better = inParts?.pages.length ? parts : named.length || found.common ? undefined : await meant(found);
    if (better && !found.pages.length) {
      found = { ...await run(better), named };
      correction = make("p", "search-meant", `No page has “${typed}”. These pages have `, make("strong", "", better), ".");
    } else if (better) correction = make("p", "search-meant", "Did you mean ", searchFor(better), "?");
    if (mine !== latest) return; // something else was asked for meanwhile
    engine.stopPulse();
    place.querySelectorAll(".search-group, .search-meant").forEach(old => old.remove());
    engine.status.classList.remove("search-nothing");
    engine.title.textContent = `Results for “${typed}”`;
    engine.output.remove();
    summary(found, found.pages.length ? correction : undefined);
    if (named.length) place.append(group(3, named, []));
    for (const number of [0, 1, 2]) {
      const own = found.pages.filter(page => globalThis.annotatedSearchGroup(page.name) === number);
      const pages = number === 2 && /^\w+$/.test(found.words) ? passages.objectsFirst(own, found.words) : own;
      if (pages.length) place.append(group(number, pages, found.terms));
    }
    place.dataset.done = "yes";
  }
  engine.query = typed => answer(wanted ?? typed);
  globalThis.annotatedSearchFor = typed => { // of the dialog, find.js; perhaps before the index is there
    wanted = typed;
    if (engine._index) answer(typed);
  };

  if (!new URLSearchParams(location.search).get("q")) {
    place.append(make("p", "search-common", "Try: ", ...COMMON.flatMap((text, i) => [i ? " · " : "", searchFor(text)])));
  }
})();
