// What the search shows of a page that it found: the places on it that say most, a sentence of each with the words
// marked; and the word that somebody may have meant. Nothing here touches the page, and a test runs it without one.
globalThis.annotatedPassages = (() => {
  const WORD = /[\p{L}\p{N}_]+/gu, LONGEST = 240, SHORTEST = 90;
  const MOST_PLACES = 3;

  // Which of the terms, stems of the words asked for, a word is.
  const termOf = (word, terms, stem) => {
    const lower = word.toLowerCase(), own = stem(lower);
    return terms.find(term => own === term) ?? terms.find(term => term.length > 2 && lower.includes(term));
  };
  const found = (text, terms, stem) => (text.match(WORD) ?? []).map(word => termOf(word, terms, stem)).filter(Boolean);

  const sentences = text => text.split(/(?<=[.!?:]["”’)]?)\s+(?=["“(]?[\p{Lu}\d])/u);

  // The sentence with most of the terms, with the next one if it is short, cut around the first term if it is long.
  function excerpt(blocks, terms, stem) {
    let best = { worth: -1, text: "" };
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

  // The places of a page to show: those that were asked for by their anchors, then those that have most of the terms.
  function best(places, terms, stem, anchors = [], most = MOST_PLACES) {
    const weighed = places.map(([anchor, heading, blocks], at) => {
      const inHeading = new Set(found(heading, terms, stem)), inText = blocks.flatMap(block => found(block, terms, stem));
      const all = new Set([...inHeading, ...inText]).size, asked = anchors.indexOf(anchor);
      const weight = 4 * all + 3 * inHeading.size + Math.min(inText.length, 10) / 10;
      return { anchor, heading, blocks, at, all, weight: asked < 0 || !anchor ? weight : 1000 - asked };
    }).filter(one => one.all || one.weight >= 900);
    weighed.sort((a, b) => b.weight - a.weight || a.at - b.at);
    const whole = Math.max(0, ...weighed.map(one => one.all));
    // What was found in code or a picture alone has no such place: the page's beginning says what it is about.
    const shown = weighed.length ? weighed.filter(one => one.all === whole || one.weight >= 900).slice(0, most) : places.slice(0, 1).map(([, heading, blocks]) => ({ anchor: "", heading, blocks }));
    return shown
      .map(({ anchor, heading, blocks }) => ({ anchor, heading, text: excerpt(blocks, terms, stem) }));
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
  return { best, correct, distance, excerpt, marked, nearest, sentences };
})();
