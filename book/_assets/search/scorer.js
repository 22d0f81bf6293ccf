// How Sphinx's search orders what it finds: chapters first, then the reference part, then names and code of the library; in
// each group first the pages whose title is what was asked for, and of equals the earlier chapter. It is put into searchtools.js when the book is built.
globalThis.Scorer = {
  score: ([page, title, anchor, , score]) => {
    const group = globalThis.annotatedSearchGroup(page);
    const whole = anchor === "" || anchor === undefined; // a chapter before its sections
    return [10000, 5000, 0][group] + score + (whole && group === 0 ? 3 : 0) + 100 * globalThis.annotatedTitleFit(title)
      - (Number(/^\d+/.exec(title)) || 0) / 1000;
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
// How much of a title the query is: 1 for "mask" and "7. Masks", 1/2 for "teacher" and "18. Teacher forcing".
globalThis.annotatedTitleFit = (title, query = globalThis.annotatedQuery(new URLSearchParams(location.search).get("q") ?? "").words) => {
  const words = text => text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [], asked = words(query);
  const own = words(title.replace(/^.* > /, "").replace(/^\d+\. /, ""));
  return asked.length ? asked.filter(word => own.some(other => other === word || other === `${word}s`)).length / Math.max(own.length, asked.length) : 0;
};
globalThis.annotatedSearchGroup = page => {
  if (/^(source\/|reference\/api\/|genindex|py-modindex)/.test(page)) return 2;
  return /^(reference|appendix)\//.test(page) ? 1 : 0;
};
// What readers type for the book's own words: signs of the paper, other spellings, words that only ask. Each alias has a
// pattern of the whole query in small letters, the words to search for, and the places that answer best, if there are such.
globalThis.annotatedAliases = [
  { asked: /^(sqrt|√|square root)( of)? ?\(?d_?model\)?$|^(factor|scaling) of (the )?embeddings?$/, words: "embeddings scaling factor",
    places: [["machine/embeddings.html#take-the-factor-out-play", "13. Embeddings, shared three ways > Take the factor out"]] },
  { asked: /^((sqrt|√|square root|root)( of)?( ?\(?d_?k\)?)?|scaling factor|1 ?\/ ?(sqrt|√) ?\(?d_?k\)?)$/, words: "division variance dot product",
    places: [["attention/scaled_dot_product.html#the-variance-of-a-dot-product-run", "5. Scaled dot-product attention > The variance of a dot product"],
      ["attention/scaled_dot_product.html#what-goes-wrong-without-the-division", "5. Scaled dot-product attention > What goes wrong without the division"]] },
  { asked: /^w[_^ ]?o$/, words: "output projection",
    places: [["attention/multi_head.html#what-the-output-projection-does", "8. Multi-head attention > What the output projection does"],
      ["reference/notation.html#symbols-of-the-paper-names-in-the-code", "Notation > Symbols of the paper, names in the code"]] },
  { asked: /^w[_^ ]?[qkv]$/, words: "projections queries keys values",
    places: [["attention/multi_head.html#two-products-for-each-head", "8. Multi-head attention > Two products for each head"],
      ["reference/notation.html#symbols-of-the-paper-names-in-the-code", "Notation > Symbols of the paper, names in the code"]] },
  { asked: /^transformers?( model| architecture)?$/, words: "transformer", places: [["start/one_sentence.html", "1. One sentence, end to end"],
    ["machine/assembly.html", "15. Assemble and audit"], ["intro.html", "Attention Is All You Need, annotated"]] },
  { asked: /^(epsilon|eps|ε)_?ls$/, words: "label smoothing", places: [["training/label_smoothing.html", "19. Label smoothing"]] },
  { asked: /^lr(ate)?( schedule)?$|^learning rate schedule$|^noam( schedule)?$/, words: "warm-up", places: [["training/warm_up.html", "20. Adam and the warm-up"]] },
  { asked: /^q[, ]*k[, ]*v$/, words: "queries keys values", places: [["attention/query_key_value.html", "6. Query, key, value"]] },
  { asked: /^(can )?(my )?(own )?(train(ing)?|fit)( (my|own|this|one|from scratch))*( (model|transformer|network))?( from scratch)?$/, words: "training run model", places: [["training/first_run.html", "22. The first training run"]] },
  { asked: /^self[- ]?attention (vs\.?|versus|and|or|against) cross[- ]?attention$|^cross[- ]?attention (vs\.?|versus|and|or|against) self[- ]?attention$/, words: "cross-attention",
    places: [["attention/query_key_value.html", "6. Query, key, value"]] },
  { asked: /^机器翻译$|^(neural )?machine translation$/, words: "translation", places: [["why/transduction.html", "2. Sequence transduction"]] },
  { asked: /^attention is all you need( (paper|pdf|arxiv|annotated|summary|explained))*$/, words: "attention is all you need", places: [["intro.html", "Attention Is All You Need, annotated"],
    ["reference/bibliography.html", "Bibliography and reading list"]] },
  { asked: /^(number|count)?( of)? ?(parameters|params)( count)?$|^how many parameters$/, words: "parameters", places: [["machine/assembly.html", "15. Assemble and audit"]] },
  { asked: /^(gpu|training) ?(hours|time|costs?)$/, words: "training cost GPU", places: [["results/table_2.html", "27. Table 2 and its costs"]] },
  { asked: /^o ?\(n(\^2|²)\)$|^n(\^2|²)$|^quadratic( cost| complexity| time)?$/, words: "complexity per layer", places: [["why/table_1.html", "4. Table 1, measured"]] },
  { asked: /^(o ?\()?(n(\^2|²) ?[·*]? ?d|n ?[·*]? ?d(\^2|²))\)?$/, words: "complexity per layer", places: [["why/table_1.html", "4. Table 1, measured"]] },
  { asked: /^[-−] ?(inf|infinity|∞)$|^(minus|negative) inf(inity)?$|^-?(math|torch)\.inf$/, words: "minus infinity", places: [["attention/masks.html", "7. Masks"]] },
  { asked: /^learning rates?$/, words: "learning rate", places: [["training/warm_up.html", "20. Adam and the warm-up"]] },
  { asked: /^(β|beta)[_ ]?[12₁₂]?$/, words: "Adam", places: [["training/warm_up.html", "20. Adam and the warm-up"],
    ["reference/notation.html#symbols-of-the-paper-names-in-the-code", "Notation > Symbols of the paper, names in the code"]] },
  { asked: /^(ε|ϵ|epsilon)$/, words: "epsilon", places: [["training/warm_up.html", "20. Adam and the warm-up"], ["training/label_smoothing.html", "19. Label smoothing"],
    ["reference/notation.html#symbols-of-the-paper-names-in-the-code", "Notation > Symbols of the paper, names in the code"]] },
];
const SPELLINGS = [[/\bwarm ?up\b/g, "warm-up"], [/\blayer ?norm\b|\blayernormali[sz]ation\b/g, "layer normalisation"], [/\bnormalization\b/g, "normalisation"],
  [/\bpositional embeddings?\b/g, "positional encoding"], [/\bmulti ?head\b/g, "multi-head"], [/\bffn\b/g, "feed-forward network"], [/\bkv[- ]cache\b/g, "cache"],
  [/\bflash[ -]attention\b/g, "flashattention"]];
const ASKING = /\b(why|how|what|when|where|which|who|does|do|did|is|are|was|the|a|an|to|of|in|by|it|we|you|i|divide[ds]?|need(ed)?|use[ds]?)\b/g;
// The words to search for, and the places to show first: "why sqrt(d_k)?" gives those of the root in chapter 5.
globalThis.annotatedQuery = query => {
  const spelled = SPELLINGS.reduce((text, [from, to]) => text.replace(from, to), query.toLowerCase().replace(/[$\\{}?!"]/g, "").replace(/\s+/g, " ").trim());
  const short = spelled.replace(ASKING, " ").replace(/\s+/g, " ").trim();
  const alias = globalThis.annotatedAliases.find(({ asked }) => asked.test(spelled) || asked.test(short));
  return { words: alias?.words ?? (short || spelled), places: alias?.places ?? [] };
};
