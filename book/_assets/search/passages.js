// What the search shows of a page that it found: the places on it that say most, a sentence of each with the words
// marked; and the word that somebody may have meant. Nothing here touches the page, and a test runs it without one.
globalThis.annotatedPassages = (() => {
  // A number is one word with its points and commas: 28.4, 37,000 and 3.2.1; `answers.py` reads numbers alike.
  const WORD = /(?<![\p{L}\p{N}_.,])\d+(?:[.,]\d+)*(?![\p{L}\p{N}_])|[\p{L}\p{N}_]+/gu, LONGEST = 240, SHORTEST = 90;
  const MOST_PLACES = 3;

  const plain = number => (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(number) ? number.replaceAll(",", "") : number);
  const numbersOf = query => (query.match(WORD) ?? []).filter(word => /^\d[\d.,]+$/.test(word)).map(plain);
  // Latin letters without their accents, as people type them; `citations.py` folds the words of the index alike.
  const PLAIN = { ł: "l", Ł: "L", ø: "o", Ø: "O", đ: "d", ı: "i", ß: "ss", æ: "ae" };
  const fold = text => text.normalize("NFD").replace(/(?<=[A-Za-z])[\u0300-\u036f]+/g, "").normalize("NFC").replace(/[łŁøØđıßæ]/g, letter => PLAIN[letter]);
  const withoutNumbers = query => query.replace(WORD, word => (/^\d[\d.,]*$/.test(word) ? "" : word)).replace(/\s+/g, " ").trim();

  // Whether a part of a word begins with a term: "attention" in MultiHeadAttention, not in "latention". Chinese has no gaps.
  function begins(word, term) {
    const lower = word.toLowerCase();
    if (/\p{Script=Han}/u.test(term)) return lower.includes(term);
    for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, at + 1)) {
      if (at === 0 || /[^\p{L}\p{N}]/u.test(word[at - 1]) || (/[\p{Ll}\p{N}]/u.test(word[at - 1]) && /\p{Lu}/u.test(word[at]))) return true;
    }
    return false;
  }
  // Which of the terms, stems of the words asked for and numbers, a word is.
  const termOf = (word, terms, stem) => {
    if (/^\d/.test(word)) return terms.find(term => term === plain(word));
    const lower = fold(word).toLowerCase(), own = stem(lower);
    return terms.find(term => own === term) ?? terms.find(term => (term.length > 2 || /\p{Script=Han}/u.test(term)) && begins(fold(word), term));
  };

  // The key of a part of the paper or of the book that a query names: "Eq. (3)" is "equation 3", "3.2.1" a section,
  // "ex05-1" exercise 5.1, "ch 7" a chapter, and "C08" a belief.
  const KINDS = { eq: "equation", eqn: "equation", fig: "figure", tab: "table", sec: "section", "§": "section", ch: "chapter", ex: "exercise" };
  function partOf(query, parts) {
    const asked = query.toLowerCase().trim(), known = key => (Object.hasOwn(parts, key) ? key : undefined);
    if (/^[acq]\d+$/.test(asked)) return known(asked) ?? known(`${asked[0]}0${asked.slice(1)}`);
    const [, kind, number] = /^(?:the )?(eqn?|equation|fig|figure|tab|table|sec|section|§|ch|chapter|ex|exercise)?\.? ?\(?(\d+(?:[.-]\d+)*)\)?$/.exec(asked) ?? [];
    const full = KINDS[kind] ?? kind ?? (number?.includes(".") ? "section" : "");
    const written = full === "exercise" ? number.replace("-", ".").replace(/^0/, "") : number;
    return known(`${full} ${written}`);
  }
  // A part that the paper does not have, as a query names it: "equation 4".
  function missingPart(query, parts) {
    const [, kind, number] = /^(?:the )?(eqn?|equation|fig|figure|tab|table|sec|section|§)\.? ?\(?(\d+(?:\.\d+)*)\)?$/.exec(query.toLowerCase().trim()) ?? [];
    return kind && Object.keys(parts).some(key => key.startsWith("section ")) && !partOf(query, parts) ? `${KINDS[kind] ?? kind} ${number}` : undefined;
  }
  const BESIDE = /^(module-)?annotated(_grader|\.(chapters|viz|analysis|interop|runs|wmt14|classroom))\b/;
  // The objects of the library whose dotted name ends in the query, letter by letter. The query looks like a name of code: it
  // has a dot, an underscore or a capital; of small letters alone it must be one of `exports`, what `import annotated` gives.
  // Without a dot only classes and functions are meant: `d_k` is first a letter of the paper.
  // `objects` and `kinds` are those of Sphinx's index; found are [page, full name], those of fewer parts first.
  function objectsNamed(query, objects, kinds, exports = []) {
    const asked = query.trim().replace(/\(.*\)$/, ""), name = asked.replace(/^annotated\./, ""), found = [];
    if (!/^[A-Za-z_]\w*(\.\w+)*$/.test(asked) || !(/\.|[a-z\d]_[a-z\d]|^[A-Z]\w*[a-z]|[a-z][A-Z]/.test(asked) || exports.includes(name))) return [];
    const meant = asked.includes(".") && name.includes(".") ? /^py:(?!module)/ : /^py:(function|class|exception)$/;
    for (const [prefix, list] of Object.entries(objects)) {
      for (const [page, kind, , , last] of list) {
        const full = `${prefix}.${last}`;
        if (full.endsWith(`.${name}`) && /^annotated(_grader)?\./.test(full) && meant.test(kinds[kind])) found.push([page, full]);
      }
    }
    // What `import annotated` gives comes before a namesake: the Transformer of the paper before that of another library.
    const isOther = full => (exports.includes(name) && BESIDE.test(full) ? 1 : 0);
    return found.sort((a, b) => isOther(a[1]) - isOther(b[1]) || a[1].split(".").length - b[1].split(".").length || (a[1] < b[1] ? -1 : 1)).slice(0, MOST_PLACES);
  }
  // What a word begins to name, first: "sca" is first scaled_dot_product_attention, then a class's member or a value, then a
  // name with the word inside; what the paper is made of comes before the rest. Pages are in the order of their first object.
  function rankOf(full, word) {
    const parts = full.split("."), last = parts.pop(), isPart = full.startsWith("module-") || last === last.toUpperCase() || parts.some(part => /^[A-Z]/.test(part));
    return (last.toLowerCase().startsWith(word) ? (isPart ? 2 : 0) : 4) + (BESIDE.test(full) ? 1 : 0);
  }
  function objectsFirst(pages, word) {
    const rank = full => rankOf(full, word.toLowerCase()), least = page => Math.min(9, ...page.anchors.map(rank));
    return pages.map(page => ({ ...page, anchors: [...page.anchors].sort((a, b) => rank(a) - rank(b)) })).sort((a, b) => least(a) - least(b));
  }
  // The places of a term of the glossary: of the term itself, or of up to three that begin with the query.
  function entryOf(query, terms) {
    const spaced = text => text.toLowerCase().replace(/[-\s]+/g, " ").trim(), joined = text => spaced(text).replaceAll(" ", "").replace(/s$/, "");
    const names = Object.keys(terms), asked = spaced(query);
    const same = names.filter(name => joined(name) === joined(asked));
    const near = /\p{Script=Han}{2}/u.test(asked) ? names.filter(name => name.includes(asked)) : asked.length > 3 ? names.filter(name => spaced(name).startsWith(`${asked} `)) : [];
    const chosen = asked === "" ? [] : same.length ? same : near.length <= 3 ? near : [];
    return chosen.flatMap(name => terms[name]);
  }
  // The places of the displayed formulas that have what was typed: "max(0, x" is in the feed-forward network, and
  // "softmax(QK^T/sqrt(d_k))V" in equation 1. `answers.py` has formulas bare in the same way.
  const bare = text => text.toLowerCase().replace(/sqrt/g, "√").replace(/[⊤ᵀ]/g, "t").replaceAll("−", "-").replace(/[\s(){}[\]^_\\$*·]/g, "");
  function formulasWith(query, formulas) {
    const asked = bare(query);
    if (!/[=()/^√∑]|\\/.test(query) || asked.length < (/[_^()[\]]/.test(query) ? 3 : 4)) return [];
    return [...new Set(formulas.filter(([formula]) => formula.includes(asked)).map(([, address]) => address))].slice(0, MOST_PLACES).map(address => [address, ""]);
  }
  const found = (text, terms, stem) => (text.match(WORD) ?? []).map(word => termOf(word, terms, stem)).filter(Boolean);

  const sentences = text => text.split(/(?<=[.!?:]["”’)]?)\s+(?=["“(]?[\p{Lu}\d])/u);

  // The sentence with most of the terms, with the next one if it is short, cut around the first term if it is long. Nothing
  // where no sentence has one, unless the first will do.
  function excerpt(blocks, terms, stem, isAny = false) {
    let best = { worth: isAny ? -1 : 0.9, text: "" };
    for (const block of blocks) {
      const parts = sentences(block);
      parts.forEach((part, i) => {
        const count = new Set(found(part, terms, stem)).size;
        const worth = count + (part.length > 40 ? 0.5 : 0); // a sentence rather than a name or a cell
        if (worth > best.worth) best = { worth, text: part.length < SHORTEST && parts[i + 1] ? `${part} ${parts[i + 1]}` : part };
      });
    }
    return shorten(best.text, terms, stem);
  }
  function shorten(text, terms, stem) {
    if (text.length <= LONGEST) return text;
    const first = [...text.matchAll(WORD)].find(([word]) => termOf(word, terms, stem))?.index ?? 0;
    const start = Math.max(0, Math.min(first - LONGEST / 3, text.length - LONGEST)), from = start ? text.indexOf(" ", start) + 1 : 0;
    const end = from + LONGEST >= text.length ? text.length : text.lastIndexOf(" ", from + LONGEST);
    return `${from ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`;
  }

  // A text in parts that alternate: plain, marked, plain, ...
  function marked(text, terms, stem) {
    const parts = [""];
    let end = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (!termOf(word, terms, stem)) continue;
      parts[parts.length - 1] += text.slice(end, index);
      parts.push(word, "");
      end = index + word.length;
    }
    parts[parts.length - 1] += text.slice(end);
    return parts;
  }

  // A term of the glossary or an object of the library: what stands below its name defines it, in whatever words.
  const isDefined = anchor => /^term-|\./.test(anchor);
  // The places of a page to show: those that were asked for by their anchors, then those that have most of the terms; an
  // exercise comes behind the sections that explain what it asks for.
  function best(places, terms, stem, anchors = [], most = MOST_PLACES, isAnswer = false) {
    const weighed = places.map(([anchor, heading, blocks], at) => {
      const inHeading = new Set(found(heading, terms, stem)), inText = blocks.flatMap(block => found(block, terms, stem));
      const all = new Set([...inHeading, ...inText]).size, asked = anchors.indexOf(anchor);
      const weight = 4 * all + 3 * inHeading.size + Math.min(inText.length, 10) / 10 - (/^ex\d/.test(anchor) ? 100 : 0);
      return { anchor, heading, blocks, at, all, weight: asked < 0 || !anchor ? weight : 1000 - asked };
    }).filter(one => one.all || one.weight >= 900);
    weighed.sort((a, b) => b.weight - a.weight || a.at - b.at);
    const whole = Math.max(0, ...weighed.map(one => one.all));
    // What was found in code or a picture alone has no such place, nor has a page that answers in other words.
    if (!weighed.length) return places.slice(0, 1).map(([, heading, blocks]) => ({ anchor: "", heading, text: isAnswer ? excerpt(blocks, terms, stem, true) : "", isOnlyCode: !isAnswer }));
    // A page whose title alone has the words needs no line below it.
    return weighed.filter(one => one.all === whole || one.weight >= 900)
      .map(({ anchor, heading, blocks }) => ({ anchor, heading, text: excerpt(blocks, terms, stem, isDefined(anchor)) }))
      .filter(({ anchor, text }) => anchor || text).slice(0, most);
  }
  // The place of a page whose code has all the terms, or one of them: its anchor and heading.
  function placeInCode(code, places, terms, stem) {
    const has = (words, term) => words.split(" ").some(word => termOf(word, [term], stem));
    const fit = code.find(([, words]) => terms.every(term => has(words, term))) ?? code.find(([, words]) => terms.some(term => has(words, term)));
    const at = fit && places.find(([anchor]) => anchor === fit[0]);
    return at ? { anchor: at[0], heading: at[1] } : undefined;
  }

  // Insertions, deletions, substitutions and swaps of neighbours that make one word of the other.
  function distance(a, b) {
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
      rows[i] = [i];
      for (let j = 1; j <= b.length; j++) {
        const same = a[i - 1] === b[j - 1] ? 0 : 1;
        rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
    return rows[a.length][b.length];
  }
  // The nearest word of the book, the commonest of equals: one slip in up to five letters, two in more.
  function nearest(word, counts) {
    const lower = word.toLowerCase(), reach = lower.length < 3 ? 0 : lower.length <= 5 ? 1 : 2;
    let meant, least = Infinity;
    for (const [other, count] of Object.entries(counts)) {
      if (Math.abs(other.length - lower.length) > reach || other === lower) continue;
      const slips = distance(lower, other);
      const rank = slips - (other[0] === lower[0] ? 0.3 : 0) - count / 1e6;
      if (slips <= reach && rank < least) [meant, least] = [other, rank];
    }
    return meant;
  }
  // A query with each unknown word replaced by the nearest one; nothing if there is none.
  function correct(query, unknown, counts) {
    let made = query;
    for (const word of unknown) {
      const meant = nearest(word, counts);
      if (!meant) return undefined;
      made = made.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, "giu"), meant);
    }
    return made === query ? undefined : made;
  }
  return { begins, best, correct, distance, entryOf, excerpt, fold, formulasWith, marked, missingPart, nearest, numbersOf, objectsFirst, objectsNamed, partOf, placeInCode, sentences, withoutNumbers };
})();
