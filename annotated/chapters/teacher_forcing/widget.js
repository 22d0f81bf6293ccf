// The slots of a decoder in training. Who sees what is worked out here; the probabilities are recorded.
const BLUE = "#3b83d6", ORANGE = "#d9731a";
const percent = p => p >= 0.995 && p < 1 ? "> 99 %" : p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`;
const plain = token => token.replace("▁", "");
let steppers = 0;

function render({ model, el }) {
  const sentences = model.get("sentences"), losses = model.get("losses"), id = `stepper-${steppers++}-`;
  const set = setter(model);
  const one = () => sentences[model.get("sentence")];
  const targets = () => one().target, count = () => targets().length;
  const slot = () => Math.min(model.get("slot"), count() - 1);
  const name = () => `${model.get("masked") ? "mask" : "no mask"}, shift ${model.get("shift")}`;
  const reads = k => k < model.get("shift") ? "<s>" : targets()[k - model.get("shift")];
  const sees = (i, k) => !model.get("masked") || k <= i;
  const holds = (i, k) => k === i + model.get("shift"); // slot k holds what slot i has to write

  // Controls.
  const menu = html("select", { id: `${id}sentence` }, ...sentences.map((s, value) =>
    html("option", { value, textContent: s.source })));
  menu.addEventListener("change", () => set({ sentence: +menu.value, slot: 0 }));
  const radios = [0, 1, 2].map(value => {
    const input = html("input", { type: "radio", name: `${id}shift`, value });
    input.addEventListener("change", () => set({ shift: value }));
    return input;
  });
  const mask = html("input", { type: "checkbox" });
  mask.addEventListener("change", () => set({ masked: mask.checked }));
  const range = html("input", { type: "range", min: 1, id: `${id}slot` });
  range.addEventListener("input", () => set({ slot: +range.value - 1 }));
  const step = (text, label, by) => {
    const button = html("button", { type: "button", textContent: text, ariaLabel: label });
    button.addEventListener("click", () => set({ slot: Math.max(0, Math.min(count() - 1, slot() + by)) }));
    return button;
  };
  const stage = html("div", { className: "stage" }), says = html("p", { className: "says" });
  const verdict = html("p", { className: "verdict" }), bars = html("div", { className: "bars" });
  const alone = html("p", { className: "alone" }), live = html("div", { className: "answer" }, says, bars, verdict);
  live.setAttribute("aria-live", "polite");
  el.append(html("div", { className: "tf-stepper" },
    html("label", { className: "pick", htmlFor: menu.id }, html("span", { textContent: "sentence" }), menu),
    html("fieldset", {}, html("legend", { textContent: "input shifted by" }),
      ...radios.map((input, value) => html("label", {}, input, `${value}`)),
      html("label", { className: "tick" }, mask, "hide the future")),
    html("div", { className: "steps" }, html("label", { htmlFor: range.id, textContent: "slot" }),
      step("◀", "slot before", -1), range, step("▶", "next slot", 1)),
    stage, live, alone));

  let rows = [], columns = [];
  function build() { // the frame: it changes with the sentence and the width
    const n = count(), width = el.clientWidth || 600, text = width < 480 ? 84 : 120, meter = width < 480 ? 56 : 110;
    const cell = Math.max(9, Math.min(26, (width - 2 * text - meter - 34) / n)), height = Math.max(22, Math.min(26, cell));
    const left = 22 + text, right = left + cell * n + 8, top = 22, size = Math.min(13, height * 0.62);
    const picture = svg("svg", { width: right + text + meter, height: top + height * n + 4, role: "img" });
    const head = (words, x, anchor = "start") => {
      const t = svg("text", { x, y: 13, class: "head", "text-anchor": anchor });
      t.textContent = words;
      picture.append(t);
    };
    head("reads", left - 6, "end");
    head(cell * n > 70 ? "may look into" : "sees", left + cell * n / 2, "middle");
    head("must write", right);
    head(meter < 80 ? "p" : "probability", right + text);
    rows = targets().map((token, i) => {
      const y = top + i * height, middle = y + height / 2;
      const write = (attributes, content = "") => {
        const t = svg("text", { y: middle, "dominant-baseline": "central", style: `font-size:${size}px`, ...attributes });
        t.textContent = content;
        return t;
      };
      const band = svg("rect", { x: 0, y, width: right + text + meter, height, class: "band" });
      const number = write({ x: 2, class: "number" }, `${i + 1}`), read = write({ x: left - 6, "text-anchor": "end" });
      const written = write({ x: right }, plain(token));
      const frame = svg("rect", { x: right + text, y: y + height * 0.28, width: meter - 6, height: height * 0.44, class: "frame" });
      const bar = svg("rect", { x: right + text, y: y + height * 0.28, width: 0, height: height * 0.44, fill: BLUE });
      const cells = targets().map((_, k) => {
        const x = left + k * cell, a = cell * 0.3;
        const paint = svg("rect", { x, y, width: cell, height, class: "cell" });
        const cross = svg("path", { class: "cross", d: `M${x + a} ${y + height / 2 - a}l${2 * a} ${2 * a}m0 ${-2 * a}l${-2 * a} ${2 * a}` });
        const star = svg("path", { class: "star", d: `M${x + cell / 2} ${middle - a}l${a} ${a}l${-a} ${a}l${-a} ${-a}z` });
        return { paint, cross, star };
      });
      const hit = svg("rect", { x: 0, y, width: right + text + meter, height, class: "hit" });
      hit.addEventListener("click", () => set({ slot: i }));
      picture.append(band, number, read, ...cells.flatMap(c => [c.paint, c.cross, c.star]), written, frame, bar, hit);
      return { band, read, written, bar, full: meter - 6, cells };
    });
    const fit = t => { // long words are cut to their column
      for (let s = t.textContent; t.getComputedTextLength() > text - 8 && s.length > 2;)
        t.textContent = `${s = s.slice(0, -1)}…`;
    };
    rows.fit = fit;
    stage.replaceChildren(picture);
    rows.forEach(row => fit(row.written));
    range.max = n;
    columns = picture;
    update();
  }

  function update() {
    const n = count(), now = slot(), shift = model.get("shift"), recorded = one().cells[name()];
    menu.value = model.get("sentence");
    radios.forEach((radio, value) => { radio.checked = value === shift; });
    mask.checked = model.get("masked");
    range.value = now + 1;
    range.setAttribute("aria-valuetext", `slot ${now + 1} of ${n}`);
    let cheats = 0;
    rows.forEach((row, i) => {
      row.band.classList.toggle("now", i === now);
      row.read.textContent = plain(reads(i));
      rows.fit(row.read);
      let leak = false;
      row.cells.forEach(({ paint, cross, star }, k) => {
        const open = sees(i, k), answer = open && holds(i, k);
        leak ||= answer;
        paint.setAttribute("fill", answer ? ORANGE : BLUE);
        paint.setAttribute("fill-opacity", open ? (answer ? 0.9 : i === now ? 0.75 : 0.35) : 0);
        cross.style.display = open ? "none" : "";
        star.style.display = answer ? "" : "none";
      });
      cheats += leak;
      row.bar.setAttribute("width", row.full * recorded.slots[i][0]);
      row.bar.setAttribute("fill", leak ? ORANGE : BLUE);
    });
    columns.setAttribute("aria-label", `${n} slots, ${name()}. In ${cheats} of them the answer is in sight. `
      + `Slot ${now + 1} reads ${plain(reads(now))} and must write ${plain(targets()[now])}.`);
    const word = token => `“${plain(token)}”`, own = Array.from({ length: n }, (_, k) => k).filter(k => sees(now, k));
    const [p, best] = recorded.slots[now], gold = targets()[now], top = Object.entries(best).sort((a, b) => b[1] - a[1]);
    says.replaceChildren("Slot ", html("b", { textContent: now + 1 }), ` reads ${word(reads(now))}. It may look at `
      + `${own.map(k => plain(reads(k))).join(" ")}. It must write `, html("b", { textContent: plain(gold) }), ".");
    const shown = top.some(([token]) => token === gold) ? top : [...top.slice(0, 3), [gold, p]];
    bars.replaceChildren(...shown.map(([token, q]) => html("div", { className: token === gold ? "right" : "" },
      html("span", { textContent: plain(token) + (token === gold ? " ✓" : "") }),
      html("span", { className: "track" }, html("span", { style: `width:${100 * q}%` })),
      html("b", { textContent: percent(q) }))));
    const place = now + shift, open = place < n && sees(now, place);
    verdict.textContent = open && shift === 0 ? "The answer stands in its own input. Nothing is left to predict."
      : open ? `The answer stands ${shift === 1 ? "one slot" : "two slots"} below, and nothing hides it.`
      : place >= n && !model.get("masked") ? "Nothing hides the future, but the answer was pushed out of the input. This slot has to work it out."
      : shift === 2 && now > 0 ? `Honest, and blind to the newest word, ${word(targets()[now - 1])}.`
      : shift === 2 ? "Honest: the answer is nowhere in sight." : "Honest: all that was written before is in sight, the answer is not.";
    verdict.classList.toggle("leak", open);
    const loss = losses[name()];
    alone.replaceChildren(`With ${name()}: loss ${loss === undefined ? "unknown" : loss.toFixed(2)}, the answer in sight in `
      + `${cheats} of ${n} slots. Writing on its own, this decoder gives: `, html("i", { textContent: recorded.writes.length > 60 ? `${recorded.writes.slice(0, 60)} …` : recorded.writes || "(nothing: it ends at once)" }));
  }

  model.on("change:sentence", build);
  for (const trait of ["slot", "masked", "shift"]) model.on(`change:${trait}`, update);
  build();
  return onWidth(el, build);
}

export default { render };
