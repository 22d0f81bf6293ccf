// The laboratory: a sentence of the reader's, translated in the page, with switches on the parts of the model.
(() => {
  const base = document.currentScript.src.replace(/[^/]*$/, "");
  const { Tokenizer, Transformer } = globalThis.annotatedLaboratory;
  const EOS = 2, BOS = 1, MOST_PIECES = 40;
  const EXAMPLES = [
    "The grandmother opened the green school bag.", "The children do not eat the cold soup.",
    "Yesterday the old teacher bought a red car.", "The small dog sees the cat.",
  ];
  const SWITCHES = [
    ["positions", "positions", "Add the sinusoids"], ["embedScale", "√d_model", "Multiply embeddings by the root of d_model"],
    ["causal", "causal mask", "The decoder may not look ahead"], ["residual", "residuals", "Add the input of each sub-layer to its output"],
    ["norm", "layer norm", "Normalise after each sub-layer"], ["feedForward", "feed-forward", "Run the position-wise network"],
  ];
  const DIVISORS = [["root", "√d_k"], ["d_k", "d_k"], ["one", "1"]];
  const KINDS = [["encoder", "Encoder self-attention"], ["decoder", "Decoder self-attention"], ["cross", "Cross-attention"]];

  const html = (tag, properties = {}, ...children) => {
    const { aria = {}, ...rest } = properties, element = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const percent = p => p >= 0.995 ? "100 %" : p < 0.01 ? "<1 %" : `${Math.round(100 * p)} %`;
  const pause = () => new Promise(resume => setTimeout(resume));

  let loading;
  const load = () => loading ??= new Promise((resolve, reject) => document.head.append(html("script", {
    src: `${base}model.js`,
    onload: () => {
      const model = globalThis.annotatedModel, bytes = Uint8Array.from(atob(model.bytes), c => c.charCodeAt(0)).buffer;
      resolve({ tokenizer: new Tokenizer(model.tokenizer), transformer: new Transformer({ ...model, bytes }), config: model.config });
    },
    onerror: () => { loading = undefined; reject(new Error("The model did not load.")); },
  })));

  // Greedy decoding, a piece at a time; stops early when the reader has asked for something else.
  async function translate({ tokenizer, transformer }, text, switches, isCurrent) {
    const source = [...tokenizer.encode(text), EOS], encoded = transformer.encode(source, switches);
    const written = [BOS], steps = [];
    while (written.length <= MOST_PIECES && written.at(-1) !== EOS) {
      const { logProbabilities, cross } = transformer.decode(written, encoded, switches);
      const best = [...logProbabilities.keys()].sort((a, b) => logProbabilities[b] - logProbabilities[a]).slice(0, 5);
      const looked = cross.at(-1).map(weights => weights.subarray(weights.length - source.length));
      steps.push({ id: best[0], best: best.map(id => [id, Math.exp(logProbabilities[id])]),
        looks: source.map((_, s) => looked.reduce((sum, head) => sum + head[s], 0) / looked.length) });
      written.push(best[0]);
      await pause();
      if (!isCurrent()) return null;
    }
    return { source, steps, text: tokenizer.decode(written), ended: written.at(-1) === EOS };
  }

  function mount(box) {
    const fallback = [...box.childNodes];
    const start = html("button", { type: "button", className: "laboratory-start", textContent: "Load the model (2.3 MB)" });
    const note = html("p", { className: "laboratory-note" });
    note.setAttribute("role", "status");
    box.replaceChildren(start, note);
    start.addEventListener("click", async () => {
      start.disabled = true;
      note.textContent = "Loading …";
      try {
        const parts = await load();
        open(box, parts);
      } catch (error) {
        box.replaceChildren(start, note, ...fallback);
        start.disabled = false;
        note.textContent = `${error.message} Try again; if it still fails, read what follows instead.`;
      }
    });
  }

  function open(box, parts) {
    const { tokenizer, config } = parts, switches = { off: new Set() };
    const input = html("input", { type: "text", value: EXAMPLES[0], maxLength: 160, spellcheck: false, autocomplete: "off" });
    const examples = html("select", {}, html("option", { value: "", textContent: "an example …" }),
      ...EXAMPLES.map(text => html("option", { value: text, textContent: text })));
    const toggles = SWITCHES.map(([name, label, title]) => {
      const check = html("input", { type: "checkbox", checked: true, name });
      check.addEventListener("change", () => { switches[name] = check.checked; run(); });
      return html("label", { title }, check, ` ${label}`);
    });
    const divisor = html("select", { name: "divisor" }, ...DIVISORS.map(([value, text]) => html("option", { value, textContent: text })));
    divisor.addEventListener("change", () => { switches.divisor = divisor.value; run(); });
    const layers = { encoder: config.num_encoder_layers, decoder: config.num_decoder_layers, cross: config.num_decoder_layers };
    const heads = KINDS.map(([kind, label]) => html("fieldset", {}, html("legend", { textContent: label }),
      ...Array.from({ length: layers[kind] }, (_, layer) => html("div", { className: "laboratory-heads" },
        html("span", { textContent: `layer ${layer + 1}` }),
        ...Array.from({ length: config.num_heads }, (_, head) => {
          const button = html("button", { type: "button", textContent: head + 1, aria: {
            "aria-pressed": "true", "aria-label": `${label}, layer ${layer + 1}, head ${head + 1}` } });
          button.addEventListener("click", () => {
            const place = `${kind}.${layer}.${head}`, on = switches.off.has(place);
            switches.off[on ? "delete" : "add"](place);
            button.setAttribute("aria-pressed", String(on));
            run();
          });
          return button;
        })))));
    const reset = html("button", { type: "button", textContent: "Put everything back" });
    reset.addEventListener("click", () => {
      for (const name of Object.keys(switches)) delete switches[name];
      switches.off = new Set();
      box.querySelectorAll("input[type=checkbox]").forEach(check => { check.checked = true; });
      box.querySelectorAll(".laboratory-heads button").forEach(button => button.setAttribute("aria-pressed", "true"));
      divisor.value = "root";
      run();
    });
    const read = html("div", { className: "laboratory-pieces", aria: { "aria-label": "What the encoder reads" } });
    const wrote = html("div", { className: "laboratory-pieces", aria: { role: "group", "aria-label": "What the decoder wrote: choose a piece" } });
    const result = html("output", { className: "laboratory-result" }), whole = html("p", { className: "laboratory-whole" });
    const detail = html("div", { className: "laboratory-detail" });
    box.replaceChildren(
      html("div", { className: "laboratory-input" },
        html("label", {}, html("span", { textContent: "English " }), input), html("label", {}, html("span", { textContent: "or " }), examples)),
      html("fieldset", { className: "laboratory-switches" }, html("legend", { textContent: "Parts that are on" }), ...toggles,
        html("label", {}, "scores divided by ", divisor)),
      html("details", {}, html("summary", { textContent: "Heads: switch off any of them" }), html("div", { className: "laboratory-grid" }, ...heads)),
      reset, html("h3", { textContent: "What it writes" }), result, whole,
      html("p", { className: "laboratory-caption", textContent: "It reads these pieces; underlined: where the last layer looked for the chosen one." }), read,
      html("p", { className: "laboratory-caption", textContent: "It writes these; underlined: how sure it was. Choose one." }), wrote, detail);

    let number = 0, chosen = 0, waiting;
    function choose(found, index) {
      chosen = Math.min(index, found.steps.length - 1);
      const step = found.steps[chosen], most = Math.max(...step.looks);
      [...wrote.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
      [...read.children].forEach((piece, i) => {
        piece.style.setProperty("--weight", (step.looks[i] / most).toFixed(3));
        piece.title = `${percent(step.looks[i])} of the attention`;
      });
      const looked = step.looks.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
      detail.replaceChildren(
        html("p", { textContent: `Before it wrote “${tokenizer.readable(step.id)}”, the last layer looked at `
          + looked.map(([weight, i]) => `“${tokenizer.readable(found.source[i])}” (${percent(weight)})`).join(", ") + ", averaged over its heads." }),
        html("ol", { className: "laboratory-bars", aria: { "aria-label": "Most probable pieces" } }, ...step.best.map(([id, p]) =>
          html("li", {}, html("span", { textContent: tokenizer.readable(id) }),
            html("span", { className: "laboratory-bar", style: `--p:${p.toFixed(3)}` }), html("span", { textContent: percent(p) })))));
    }

    async function run() {
      const mine = ++number, text = input.value.trim();
      if (!text) { result.textContent = "Type an English sentence."; return; }
      box.dataset.state = "busy";
      const found = await translate(parts, text, { ...switches, off: new Set(switches.off) }, () => mine === number);
      if (!found) return;
      const plain = !switches.off.size && Object.entries(switches).every(([name, value]) => name === "off" || value === true || value === "root");
      result.textContent = found.text || "(nothing)";
      whole.textContent = "";
      read.replaceChildren(...found.source.map(id => html("span", { textContent: tokenizer.readable(id) })));
      wrote.replaceChildren(...found.steps.map((step, i) => {
        const button = html("button", { type: "button", textContent: tokenizer.readable(step.id), aria: {
          "aria-label": `${tokenizer.readable(step.id)}, probability ${percent(step.best[0][1])}` } });
        button.style.setProperty("--p", step.best[0][1].toFixed(3));
        button.addEventListener("click", () => choose(found, i));
        return button;
      }));
      choose(found, chosen);
      if (!found.ended) whole.textContent = `It did not stop by itself: cut off after ${MOST_PIECES} pieces. `;
      if (!plain) {
        const intact = await translate(parts, text, {}, () => mine === number);
        if (!intact) return;
        whole.textContent += intact.text === found.text ? "The whole model writes the same." : `The whole model writes: ${intact.text}`;
      }
      box.dataset.state = "done";
    }
    input.addEventListener("input", () => { clearTimeout(waiting); chosen = 0; waiting = setTimeout(run, 250); });
    examples.addEventListener("change", () => { if (examples.value) { input.value = examples.value; chosen = 0; run(); } });
    run();
    input.focus();
  }

  document.querySelectorAll(".laboratory").forEach(mount);
})();
