// Numbers put into formulas: each function takes a formula's fields and gives its results, in the order in which the
// directive `{numbers}` lists them. Without this script the page shows the results for the base model.
(() => {
  const share = difference => 1 / (1 + Math.exp(-difference));
  const entropy = (p, times) => p > 0 ? -p * Math.log(p) * times : 0;
  const formulas = {
    root: dk => [Math.sqrt(dk), share(Math.sqrt(dk)), share(1)],
    heads: (d, h) => [d / h, 4 * d * d],
    "feed-forward": (d, inner) => [2 * d * inner, d + inner],
    embedding: d => [Math.sqrt(d), Math.sqrt(d / 2)],
    position: (pos, i, d) => {
      const wave = 10000 ** (2 * i / d);
      return [Math.sin(pos / wave), Math.cos(pos / wave), 2 * Math.PI * wave];
    },
    cost: (n, d, k, r) => [n * n * d, r * n * d, n * d * d, k * n * d + n * d * d, k * n * d * d],
    "learning-rate": (step, d, warmup) => [d ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5)],
    adam: (t, first, second) => [1 / (1 - first ** t), 1 / (1 - second ** t)],
    smoothing: (epsilon, size) => {
      const right = 1 - epsilon, other = epsilon / (size - 1);
      return [right, other, entropy(right, 1) + entropy(other, size - 1)];
    },
    "length-penalty": (logP, length, alpha) => [((5 + length) / 6) ** alpha, logP / ((5 + length) / 6) ** alpha],
    "wrong-index": (...scores) => {
      const powers = scores.map(Math.exp), sum = powers.reduce((a, b) => a + b);
      return [...powers.map(power => power / sum), 1 / scores.length, sum / (scores.length * powers[0])];
    },
    "word-share": d => [1, d, d * d].map(factor => factor / (factor + d / 2)),
    perplexity: (logP, tokens) => [-logP / tokens, Math.exp(-logP / tokens)],
    bleu: (c, r, ...precisions) => {
      const penalty = Math.min(1, Math.exp(1 - r / c));
      return [penalty, 100 * penalty * precisions.reduce((a, b) => a * b) ** (1 / precisions.length)];
    },
  };
  // Cells of a table of results that fields drive, row by row, as `result_table` writes them.
  const softmax = scores => {
    const powers = scores.map(score => Math.exp(score - Math.max(...scores))), sum = powers.reduce((a, b) => a + b);
    return powers.map(power => power / sum);
  };
  const tables = {
    "wrong-index": (...scores) => { // of d_k = 4: without the division the scores are twice as large
      const columns = [softmax(scores), scores.map(() => 1 / scores.length), scores.map(score => Math.exp(score - scores[0]) / scores.length), softmax(scores.map(score => 2 * score))];
      const rows = scores.map((_, k) => columns.map(column => column[k]));
      return [...rows, columns.map(column => column.reduce((a, b) => a + b))].map(row => row.map(value => (value < 1e6 ? value.toFixed(2) : written(value))));
    },
    "word-share": d => formulas["word-share"](d).map(value => [`${(100 * value).toFixed(1)}\u00a0%`]),
  };
  function written(value) {
    const size = Math.abs(value);
    if (!Number.isFinite(value)) return "too large";
    if (Number.isInteger(value) && size < 1e15) return (value || 0).toLocaleString("en-US").replace("-", "−");
    if (size < 1e-4 || size >= 1e15) return value.toExponential(3).replace("e+", "e").replaceAll("-", "−");
    const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
  }
  // What two fields together do not allow, though each is in its range: the field at fault, by its place, and why.
  const refusals = {
    heads: (d, h) => (d % h ? [1, `${h} does not divide ${d}`] : null),
    position: (pos, i, d) => (i > d / 2 - 1 ? [1, `pair: from 0 to ${d / 2 - 1}, whole`] : null),
  };
  globalThis.annotatedFormulas = { formulas, refusals, tables, written };
  if (typeof document === "undefined") return;

  function field(place) {
    const { value, min, max, step, words } = place.dataset;
    const input = Object.assign(document.createElement("input"), { type: "number", value, min, max, step, inputMode: "decimal", autocomplete: "off" });
    input.setAttribute("aria-label", words);
    input.title = words;
    input.style.width = `calc(${Math.max(4, value.length + 1)}ch + 2.4rem)`;
    place.replaceWith(input);
    return input;
  }
  function start(panel) {
    const inputs = [...panel.querySelectorAll("[data-value]")].map(field), first = inputs.map(input => input.value);
    const results = [...panel.querySelectorAll("dd")], compute = formulas[panel.dataset.formula];
    const above = [...document.querySelectorAll("table.results")].filter(table => table.compareDocumentPosition(panel) & Node.DOCUMENT_POSITION_FOLLOWING);
    const driven = "drives" in panel.dataset ? above.at(-1)?.tBodies[0] : undefined;
    const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Reset", hidden: true });
    function show() {
      const numbers = inputs.map(input => input.value.trim() === "" ? NaN : Number(input.value));
      const fits = inputs.map((input, k) => numbers[k] >= Number(input.min) && numbers[k] <= Number(input.max) && (input.step === "any" || (numbers[k] - Number(input.min)) % Number(input.step) === 0));
      const [at, why] = (fits.every(Boolean) && refusals[panel.dataset.formula]?.(...numbers)) || [-1, ""];
      if (at >= 0) fits[at] = false;
      inputs.forEach((input, k) => input.setAttribute("aria-invalid", String(!fits[k])));
      const bad = fits.indexOf(false), kind = { any: "", 2: ", even" }[inputs[bad]?.step] ?? ", whole";
      const values = bad < 0 ? compute(...numbers) : results.map(() => null);
      if (driven && bad < 0) tables[panel.dataset.formula](...numbers).forEach((row, i) => row.forEach((text, j) => { driven.rows[i].cells[j + 1].textContent = text; }));
      results.forEach((place, k) => { place.textContent = values[k] === null ? "–" : written(values[k]); });
      said.textContent = bad < 0 ? "" : why || `${inputs[bad].title}: from ${written(Number(inputs[bad].min))} to ${written(Number(inputs[bad].max))}${kind}`;
      if (bad >= 0 && driven) said.textContent += ". The table has the last numbers that fit.";
      inputs.forEach((input, k) => { if (input.nextElementSibling) input.nextElementSibling.hidden = input.value !== first[k]; }); // "ours"
      reset.hidden = inputs.every((input, k) => input.value === first[k]);
    }
    const said = Object.assign(document.createElement("span"), { className: "numbers-said" });
    said.setAttribute("role", "status");
    panel.querySelector("dl")?.setAttribute("aria-live", "polite");
    panel.querySelector(".numbers-fields").append(reset, " ", said);
    reset.addEventListener("click", () => { inputs.forEach((input, k) => { input.value = first[k]; }); show(); inputs[0].focus(); });
    for (const input of inputs) input.addEventListener("input", show);
  }
  document.querySelectorAll(".formula-numbers").forEach(start);
})();
