// Figure 1 with the tensors of a real sentence. The drawing arrives as SVG; here it learns to be chosen from, and every
// box shows in miniature what leaves it. One hue for positive, one for negative, opacity for size: light and dark pages
// need no redrawing.
const BLUE = [59, 131, 214], ORANGE = [217, 115, 26];
const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const last = (text, most) => text.length > most ? "… " + text.slice(1 - most).replace(/^\S* /, "") : text;
const first = (text, most) => text.length > most ? text.slice(0, most).replace(/ \S*$/, "") + " …" : text;
const percent = p => p >= 0.995 ? "> 99 %" : p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`;
const clamp = (x, count) => Math.max(0, Math.min(count - 1, x));
const spaced = tokens => tokens.join("").replaceAll("▁", " ").trim();
let instances = 0;

function render({ model, el }) {
  const id = `architecture-${instances++}`, sizes = model.get("sizes"), boxes = model.get("boxes");
  let bytes, cursor = null;
  const read = () => { const v = model.get("data"); bytes = new Uint8Array(v.buffer, v.byteOffset, v.byteLength); };
  read();
  const sentence = () => model.get("sentences")[model.get("sentence")];
  const steps = () => sentence().next.length;
  const step = () => clamp(model.get("step"), steps());
  const chosen = () => boxes.find(box => box.name === model.get("box")) ?? boxes[0];
  const full = box => box.name.replace("*", model.get("layer"));
  const tokens = box => sentence()[box.side];
  const set = setter(model);

  // Pictures of tensors. Rows after the current step do not exist yet while a sentence is written: they fade.
  const canvas = (width, height, pixel) => {
    const c = html("canvas", { width, height }), context = c.getContext("2d"), image = context.createImageData(width, height);
    for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i += 4) image.data.set(pixel(y, x), i);
    context.putImageData(image, 0, 0);
    return c;
  };
  const fade = (box, row) => box.side === "target" && row > step() ? 0.22 : 1;
  const matrix = box => {
    const [from, rows, columns, scale, low, high, dark] = sentence().tensors[full(box)];
    const value = (row, column) => (bytes[from + row * columns + column] - 128) / 127;
    return { rows, columns, low, high, at: (row, column) => value(row, column) * scale,
      draw: () => canvas(columns, rows, (y, x) => {
        const v = value(y, x);
        return [...(v > 0 ? BLUE : ORANGE), 255 * Math.min(1, Math.abs(v) / dark) ** 0.75 * fade(box, y)];
      }) };
  };
  const heads = box => {
    const [from, count, rows, columns] = sentence().maps[full(box)];
    const weight = (head, row, column) => bytes[from + (head * rows + row) * columns + column] / 255;
    return { count, rows, columns, weight,
      draw: head => canvas(columns, rows, (y, x) => [...BLUE, 255 * weight(head, y, x) ** 0.8 * fade(box, y)]) };
  };

  // Controls.
  const choose = html("select", { id: `${id}-sentence` });
  const layers = html("span", { className: "layers" }, ...Array.from({ length: sizes.L }, (_, i) => {
    const radio = html("input", { type: "radio", name: `${id}-layer`, value: i + 1 });
    radio.addEventListener("change", () => set({ layer: i + 1 }));
    return html("label", {}, radio, ` ${i + 1}`);
  }));
  const range = html("input", { type: "range", min: 0, id: `${id}-step` });
  const now = html("output", { className: "now", htmlFor: range.id });
  choose.addEventListener("change", () => { cursor = null; set({ sentence: +choose.value, step: 0 }); });
  range.addEventListener("input", () => { cursor = null; set({ step: +range.value }); });
  const controls = html("div", { className: "controls" },
    html("label", { htmlFor: choose.id, textContent: "Sentence" }), choose,
    html("span", { className: "stepper" }, html("label", { htmlFor: range.id, textContent: "Written" }), range, now),
    html("fieldset", {}, html("legend", { textContent: "Layer" }), layers));
  const stage = html("div", { className: "stage", innerHTML: model.get("drawing").replaceAll("figure-1-", `${id}-`) }); // ids of its own
  const panel = html("div", { className: "panel" });
  panel.setAttribute("role", "region");
  panel.setAttribute("aria-label", "What leaves the chosen box");
  el.append(html("div", { className: "architecture live" }, controls, html("div", { className: "both" }, stage, panel)));
  for (const twin of document.querySelectorAll(".architecture-twin")) twin.hidden = true;

  // The drawing becomes a group of radio buttons: arrow keys follow the flow, or cross to the other column.
  const figure = stage.querySelector("svg"), groups = new Map();
  figure.setAttribute("role", "radiogroup");
  for (const box of boxes) {
    const group = figure.querySelector(`[data-box="${box.name}"]`);
    group.setAttribute("role", "radio");
    group.addEventListener("click", () => set({ box: box.name }));
    group.addEventListener("keydown", event => {
      const next = neighbour(box, event.key);
      if (!next && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      set({ box: (next ?? box).name });
      groups.get((next ?? box).name).focus();
    });
    groups.set(box.name, group);
  }
  const middle = box => box.place[1] + box.place[3] / 2;
  function neighbour(box, key) {
    const i = boxes.indexOf(box), column = boxes.filter(other => other.side === box.side || other.name === box.name);
    if (key === "ArrowUp") return boxes[i + 1];
    if (key === "ArrowDown") return boxes[i - 1];
    if (key === "Home") return boxes[0];
    if (key === "End") return boxes[boxes.length - 1];
    if (key !== "ArrowLeft" && key !== "ArrowRight") return null;
    const others = boxes.filter(other => !column.includes(other) && (other.side === "source") === (key === "ArrowLeft"));
    return others.sort((a, b) => Math.abs(middle(a) - middle(box)) - Math.abs(middle(b) - middle(box)))[0];
  }

  const thumbnail = box => {
    if (box.name.endsWith("tokens")) {
      return box.side === "source" ? first(sentence().text, 20) : last(`<s> ${spaced(sentence().target.slice(1, step() + 1))}`, 23);
    }
    if (box.name === "linear") {
      const counts = sentence().steps[step()].counts, most = Math.max(...counts);
      return canvas(counts.length, 16, (y, x) => [...BLUE, 16 - y <= 16 * (counts[x] / most) ** 0.4 ? 200 : 0]);
    }
    if (box.name === "softmax") {
      const p = sentence().steps[step()].top.map(piece => piece[1]);
      return canvas(136, 4, (_, x) => {
        let i = 0, sum = 0;
        while (i < p.length && (sum += p[i]) < (x + 0.5) / 136) i++;
        return [...(i ? ORANGE : [47, 158, 110]), i < p.length ? 220 - 60 * (i % 2) : 60];
      });
    }
    if (!box.kind.startsWith("attention")) return matrix(box).draw();
    const maps = heads(box), gap = Math.max(1, Math.round(maps.columns / 6));
    const wide = canvas(maps.count * (maps.columns + gap) - gap, maps.rows, () => [0, 0, 0, 0]);
    for (let h = 0; h < maps.count; h++) wide.getContext("2d").drawImage(maps.draw(h), h * (maps.columns + gap), 0);
    return wide;
  };
  function drawBox(box) {
    const [x, y, w, h] = box.place, slot = groups.get(box.name).querySelector(".slot"), picture = thumbnail(box);
    const place = { x: x + 9, y: y + 18, width: w - 14, height: h - 22 };
    slot.replaceChildren(typeof picture === "string"
      ? svg("text", { class: "words", x: x + 9, y: y + h - 9 }, ` ${picture}`)
      : svg("image", { ...place, preserveAspectRatio: "none", href: picture.toDataURL() }));
    const seen = typeof picture === "string" ? `${box.label} ${picture}` : box.label; // the name begins with what is seen
    const part = box.side === "source" ? "encoder" : "decoder", layer = box.name.includes("*") ? ` layer ${model.get("layer")}` : " side";
    groups.get(box.name).setAttribute("aria-label", `${seen} (${part}${layer}, ${shape(box)[1]})`);
  }
  const shape = box => {
    const size = { ...sizes, S: sentence().source.length, T: sentence().target.length };
    return [box.shape, box.shape.slice(1, -1).split(", ").map(letter => size[letter].toLocaleString("en")).join(" × ")];
  };

  // The panel.
  const code = box => html("details", { open: true }, html("summary", { textContent: "The code" }), ...box.code.map(part =>
    html("div", { className: "code" }, html("span", { textContent: `${part.name} · ${part.file}` }),
      html("pre", { tabIndex: 0 }, html("code", { textContent: part.lines.map(([n, line]) => `${n}  ${line}`).join("\n") })))));
  function drawPanel() {
    const box = chosen(), layered = box.name.includes("*");
    const [letters, numbers] = shape(box);
    const where = layered ? `${box.name.startsWith("e") ? "Encoder" : "Decoder"}, layer ${model.get("layer")}: ` : "";
    const head = [html("p", { className: "title", textContent: where + box.label }), html("p", { textContent: box.what }),
      html("p", { className: "facts" }, html("b", { textContent: letters }), ` = ${numbers} · section ${box.paper}`)];
    const body = box.name.endsWith("tokens") ? [pieces(box)] : box.kind === "output" ? [bars(box)]
      : [...(box.kind === "attention" ? [maps(box)] : []), table(box)];
    panel.replaceChildren(...head, ...body, code(box));
  }
  function pieces(box) {
    const ids = sentence()[`${box.side}Ids`];
    return html("ol", { className: "pieces" }, ...tokens(box).map((token, i) => html("li",
      { className: fade(box, i) < 1 ? "later" : "" }, html("b", { textContent: token }), ` ${ids[i]}`)));
  }
  function bars(box) {
    const here = sentence().steps[step()], softmax = box.name === "softmax", [low, high] = sentence().range;
    const parts = [html("p", { className: "note", textContent: softmax
      ? "The most probable pieces of this step:" : "The largest scores of this step:" })];
    for (const [piece, p, logit] of here.top) {
      const share = softmax ? p : logit / high;
      parts.push(html("div", { className: "bar" }, html("b", { textContent: piece }),
        html("span", { className: "track" }, html("span", { style: `width:${Math.max(0, 100 * share)}%` })),
        html("span", { textContent: softmax ? percent(p) : logit.toFixed(1) })));
    }
    if (softmax) return html("div", {}, ...parts);
    const most = Math.max(...here.counts), picture = svg("svg", { viewBox: "0 0 280 84", role: "img", class: "histogram",
      "aria-label": `Histogram of the ${sizes.V} scores of this step, from ${low} to ${high}` });
    here.counts.forEach((count, i) => { // the root makes a bar of one piece visible beside one of hundreds
      const height = 64 * Math.sqrt(count / most);
      picture.append(svg("rect", { x: 10 * i + 1, y: 66 - height, width: 8, height }));
    });
    picture.append(svg("text", { x: 0, y: 80 }, low.toFixed(0)), svg("text", { x: 280, y: 80, "text-anchor": "end" }, high.toFixed(0)),
      svg("text", { x: 140, y: 80, "text-anchor": "middle" }, "score"));
    return html("div", {}, ...parts, html("p", { className: "note",
      textContent: `All ${sizes.V.toLocaleString("en")} scores; heights grow as the square root of the count:` }), picture);
  }
  const home = box => box.side === "target" ? step() : 0;
  function maps(box) {
    const all = heads(box), row = clamp(cursor?.row ?? home(box), all.rows);
    const keys = sentence()[box.name.includes("cross") ? "source" : box.side], queries = tokens(box);
    return html("div", { className: "maps" }, html("p", { className: "note",
      textContent: `Where “${queries[row]}” looks, in each head (rows ask, columns answer):` }),
      ...Array.from({ length: all.count }, (_, h) => {
        const weights = keys.map((key, i) => [all.weight(h, row, i), key]), [most, key] = weights.sort((a, b) => b[0] - a[0])[0];
        const image = all.draw(h), frame = html("span", { className: "map" }, image);
        const mark = html("span", { className: "row", style: `top:${100 * row / all.rows}%;height:${100 / all.rows}%` });
        image.setAttribute("aria-hidden", "true");
        frame.append(mark);
        return html("span", { className: "head" }, frame, html("b", { textContent: key }), percent(most));
      }));
  }
  function table(box) {
    const all = matrix(box), names = tokens(box), cell = names.length > 10 ? 14 : 16, left = 66;
    const width = Math.max(200, Math.min(360, panel.clientWidth || 330)), w = width - left, h = cell * all.rows;
    const picture = svg("svg", { class: "tensor", width, height: h + 16, role: "application", tabindex: 0,
      "aria-label": `The tensor: ${all.rows} pieces on rows, ${all.columns} numbers on columns. Arrow keys read it out.` });
    names.forEach((name, i) => picture.append(svg("text", { x: left - 4, y: (i + 0.5) * cell, "text-anchor": "end",
      "dominant-baseline": "central", opacity: fade(box, i) < 1 ? 0.55 : 1 }, short(name, 9))));
    picture.append(svg("image", { x: left, y: 0, width: w, height: h, preserveAspectRatio: "none", href: all.draw().toDataURL() }),
      svg("rect", { class: "outline", x: left, y: 0, width: w, height: h }),
      svg("text", { x: left, y: h + 12 }, "0"), svg("text", { x: left + w / 2, y: h + 12, "text-anchor": "middle" }, "dimension"),
      svg("text", { x: left + w, y: h + 12, "text-anchor": "end" }, `${all.columns - 1}`));
    if (box.side === "target") picture.append(svg("rect", { class: "step", x: left, y: step() * cell, width: w, height: cell }));
    const mark = svg("rect", { class: "mark", width: 5, height: cell, visibility: "hidden" }), said = html("output");
    said.setAttribute("aria-live", "polite");
    picture.append(mark);
    const tell = () => {
      said.textContent = `From ${all.low.toFixed(2)} to ${all.high.toFixed(2)}; blue positive, orange negative.`;
      if (!cursor) return;
      const row = cursor.row = clamp(cursor.row, all.rows), column = cursor.column = clamp(cursor.column, all.columns);
      said.textContent = `“${names[row]}”, dimension ${column}: ${all.at(row, column).toFixed(2)}`;
      for (const [name, value] of Object.entries({ x: left + (column + 0.5) * w / all.columns - 2.5, y: row * cell,
        visibility: "visible" })) mark.setAttribute(name, value);
      const shown = panel.querySelector(".maps"); // the maps follow the row
      if (shown && shown.dataset.row !== `${row}`) { const fresh = maps(box); fresh.dataset.row = row; shown.replaceWith(fresh); }
    };
    const point = event => {
      const at = picture.getBoundingClientRect(), scale = width / at.width;
      const x = (event.clientX - at.left) * scale - left, y = (event.clientY - at.top) * scale;
      if (x < 0 || y > h) return;
      cursor = { row: Math.floor(y / cell), column: Math.floor(x / w * all.columns) };
      tell();
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("keydown", event => {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      cursor ??= { row: home(box), column: 0 };
      cursor = { row: cursor.row + move[0], column: cursor.column + move[1] };
      tell();
    });
    queueMicrotask(tell);
    return html("div", {}, picture, said);
  }

  function drawAll() {
    const s = sentence(), [piece, p] = s.steps[step()].top[0];
    choose.replaceChildren(...model.get("sentences").map((other, i) => html("option", { value: i, textContent: other.text })));
    choose.value = model.get("sentence");
    range.max = steps() - 1;
    range.value = step();
    layers.querySelectorAll("input").forEach((radio, i) => { radio.checked = i + 1 === model.get("layer"); });
    const soFar = spaced(s.target.slice(1, step() + 1));
    now.textContent = `${step()} of ${steps() - 1} pieces`;
    range.setAttribute("aria-valuetext", `${now.textContent}; next: ${s.next[step()]}`);
    const text = (selector, value) => { figure.querySelector(selector).textContent = value; };
    for (const label of figure.querySelectorAll(".which")) label.textContent = `layer ${model.get("layer")} of ${sizes.L}`;
    text(".next", piece.replace("▁", " ").trim() || piece);
    text(".chance", percent(p));
    text(".so-far", last(soFar, 29) || "(nothing)");
    boxes.forEach(drawBox);
    select();
  }
  function select() {
    const name = chosen().name;
    for (const [key, group] of groups) {
      group.setAttribute("aria-checked", key === name);
      group.setAttribute("tabindex", key === name ? 0 : -1);
    }
    drawPanel();
  }
  model.on("change:box", select);
  for (const trait of ["sentence", "layer", "step"]) model.on(`change:${trait}`, drawAll);
  model.on("change:data", read);
  model.on("change:sentences", () => { read(); drawAll(); });
  drawAll();
  return onWidth(panel, drawPanel);
}

export default { render };
