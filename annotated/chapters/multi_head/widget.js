// One matrix of queries on its way through multi-head attention, a step at a time. Heads have a colour and a hatching.
const HUES = ["#3b83d6", "#d9731a", "#2f9e6e", "#b45fc4", "#c4475f", "#8a8f98", "#b8941c", "#2aa3b5"];
const HATCH = ["M0 3H6", "M3 0V6", "M0 0L6 6", "M6 0L0 6", "M0 3H6M3 0V6", "M0 0L6 6M6 0L0 6", "M2 3H4", "M0 1H6M0 4H6"];

function render({ model, el }) {
  const options = model.get("options"), steps = model.get("steps"), tokens = model.get("tokens");
  const T = tokens.length, D = options[0].q[0].length, uid = Math.random().toString(36).slice(2);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const W = 352, LEFT = 50, CELL = 32, HIGH = 25, TOP = 34;
  const set = setter(model);

  const slider = html("input", { type: "range", min: 0, max: options.length - 1, step: 1 });
  const many = html("output");
  const back = html("button", { type: "button", textContent: "◀ back" });
  const play = html("button", { type: "button", textContent: "▶ play" });
  const next = html("button", { type: "button", textContent: "next ▶" });
  const name = html("p", { className: "title" }), shape = html("p", { className: "shape" });
  const text = html("p", { className: "says" }), stage = html("div", { className: "stage" });
  const says = html("div", {}, name, shape, text);
  says.setAttribute("aria-live", "polite");
  slider.setAttribute("aria-label", "heads");
  el.append(html("div", { className: "split-heads" },
    html("div", { className: "bar" }, html("label", {}, "heads h ", slider, many), html("span", { className: "buttons" }, back, play, next)),
    stage, says));

  let picture, cells, frames;
  const defs = () => svg("defs", {}, ...HUES.map((hue, h) => svg("pattern", { id: `${uid}-${h}`, width: 6, height: 6,
    patternUnits: "userSpaceOnUse" }, svg("rect", { width: 6, height: 6, fill: hue, "fill-opacity": 0.25 }),
    svg("path", { d: HATCH[h], stroke: hue, "stroke-width": 1.6, fill: "none" }))));

  // A cell: a number, and a strip under it with the colour and hatching of what it is made of: [[head, share], ...].
  function cell(value, parts, width = CELL, height = HIGH) {
    const group = svg("g", { class: "cell" });
    group.append(svg("rect", { width: width - 2, height: height - 2, class: "box" }));
    let x = 0;
    for (const [head, share] of parts) {
      const wide = share * (width - 2), strip = height > 20 ? 8 : height - 2;
      group.append(svg("rect", { x, y: height - 2 - strip, width: wide, height: strip, fill: head < 0 ? "currentColor" : `url(#${uid}-${head})`,
        "fill-opacity": head < 0 ? 0.15 : 1 }));
      x += wide;
    }
    if (height > 20) {
      const label = svg("text", { x: width / 2 - 1, y: 10, "text-anchor": "middle" });
      label.textContent = value.toFixed(1).replace("-", "−").replace("−0.0", "0.0");
      group.append(label);
    } else group.append(svg("rect", { width: width - 2, height: height - 2, fill: HUES[parts[0][0]], "fill-opacity": Math.min(1, value) }));
    return group;
  }

  // Where head h stands once heads are pages of their own: a grid of blocks.
  function block(h, H, wide, high) {
    const columns = Math.min(H, 4);
    return [8 + (h % columns) * (W - 8) / columns, TOP + Math.floor(h / columns) * (high + 26)];
  }

  function build() {
    const option = options[model.get("heads")], H = option.heads, K = D / H;
    picture = svg("svg", { viewBox: `0 0 ${W} 300`, role: "img" }, defs());
    cells = { x: [], q: [], w: [], o: [], y: [] };
    const add = (kind, group, t, j, h) => { group.dataset.kind = kind; cells[kind].push({ group, t, j, h }); picture.append(group); };
    for (let t = 0; t < T; t++) for (let j = 0; j < D; j++) {
      const h = Math.floor(j / K);
      add("x", cell(option.x[t][j], [[-1, 1]]), t, j, h);
      add("q", cell(option.q[t][j], [[h, 1]]), t, j, h);
      add("o", cell(option.out[t][j], [[h, 1]]), t, j, h);
      add("y", cell(option.mixed[t][j], option.shares[t][j].map((share, i) => [i, share])), t, j, h);
    }
    for (let h = 0; h < H; h++) for (let t = 0; t < T; t++) for (let s = 0; s < T; s++)
      add("w", cell(option.weights[h][t][s], [[h, 0]], 19, 19), t, s, h);
    frames = svg("g");
    picture.append(frames);
    stage.replaceChildren(picture);
    slider.value = model.get("heads");
    many.textContent = ` ${H}, each ${K} wide`;
    place();
  }

  function place() {
    const at = model.get("step"), option = options[model.get("heads")], H = option.heads, K = D / H, { kind, layout } = steps[at];
    for (const [own, list] of Object.entries(cells)) for (const { group, t, j, h } of list) {
      let x = LEFT + j * CELL + (layout === "groups" ? h * Math.min(12, 42 / H) : 0);
      let y = TOP + t * HIGH;
      const paged = layout === "pages" || own === "w";
      if (paged) {
        const [left, top] = own === "w" ? block(h, H, T * 19, T * 19) : block(h, H, K * CELL, T * HIGH);
        x = left + (own === "w" ? j * 19 : (j % K) * CELL);
        y = top + t * (own === "w" ? 19 : HIGH);
      }
      group.style.transform = `translate(${x}px, ${y}px)`;
      group.style.opacity = own === kind ? 1 : 0;
    }
    frames.replaceChildren();
    const label = (content, x, y, anchor = "start") => {
      const element = svg("text", { x, y, "text-anchor": anchor, class: "label" });
      element.textContent = content;
      frames.append(element);
    };
    const paged = layout === "pages";
    const high = kind === "w" ? T * 19 : T * HIGH;
    if (paged) for (let h = 0; h < H; h++) {
      const [x, y] = block(h, H, 0, high);
      label(`head ${h + 1}`, x, y - 5);
    } else {
      tokens.forEach((token, t) => label(token, LEFT - 6, TOP + t * HIGH + 15, "end"));
      if (kind === "q" || kind === "o") for (let h = 0; h < H; h++)
        label(H > 4 ? h + 1 : `head ${h + 1}`, LEFT + h * K * CELL + (layout === "groups" ? h * Math.min(12, 42 / H) : 0), TOP - 7);
      else label(`${D} dimensions`, LEFT, TOP - 7);
    }
    const rows = paged ? Math.ceil(H / 4) : 1;
    picture.setAttribute("viewBox", `0 0 ${W} ${TOP + rows * high + (rows - 1) * 26 + 6}`);
    const fill = words => words.replaceAll("{H}", H).replaceAll("{K}", K).replaceAll("{T}", T).replaceAll("{D}", D)
      .replaceAll("{heads}", H === 1 ? "the one head" : `each of the ${H} heads`);
    name.textContent = `${at + 1} of ${steps.length}: ${fill(steps[at].name)}`;
    shape.replaceChildren(html("span", { textContent: fill(steps[at].shape) }), html("code", { textContent: fill(steps[at].code) }));
    text.textContent = fill(steps[at].text);
    picture.setAttribute("aria-label", `${name.textContent}, shape ${fill(steps[at].shape)}. ${text.textContent}`);
    back.disabled = at === 0;
    next.disabled = at === steps.length - 1;
  }

  let timer = 0;
  const stop = () => { clearInterval(timer); timer = 0; play.textContent = "▶ play"; };
  const go = by => set({ step: Math.max(0, Math.min(steps.length - 1, model.get("step") + by)) });
  back.addEventListener("click", () => { stop(); go(-1); });
  next.addEventListener("click", () => { stop(); go(1); });
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (model.get("step") === steps.length - 1) set({ step: 0 }); else go(1);
    play.textContent = "❚❚ pause";
    timer = setInterval(() => { go(1); if (model.get("step") === steps.length - 1) stop(); }, calm ? 3500 : 2200);
  });
  slider.addEventListener("input", () => set({ heads: +slider.value }));
  model.on("change:step", place);
  model.on("change:heads", build);
  build();
  return stop;
}

export default { render };
