// The panel beside Figure 1: pieces, scores, attention maps or the table of the tensor that leaves the chosen box.
import { arrowOf, clamp, html, onPointer, readout } from "../../viz/controls.js";
import { setAttributes, shorten, svg } from "../../viz/drawing.js";
import { matrixPicture, percent } from "./pictures.js";

const note = textContent => html("p", { className: "note", textContent });

export const codeOf = box => html("details", { open: true }, html("summary", { textContent: "The code" }), ...box.code.map(part =>
  html("div", { className: "code" }, html("span", { textContent: `${part.name} · ${part.file}` }),
    html("pre", { tabIndex: 0 }, html("code", { textContent: part.lines.map(([n, line]) => `${n}  ${line}`).join("\n") })))));

export const piecesOf = (tokens, ids, isLater) => html("ol", { className: "pieces" }, ...tokens.map((token, i) =>
  html("li", { className: isLater(i) ? "later" : "" }, html("b", { textContent: token }), ` ${ids[i]}`)));

// The largest scores of a step, or the most probable pieces.
export function barsOf({ top, counts }, [low, high], vocabulary, softmax) {
  const parts = [note(softmax ? "The most probable pieces of this step:" : "The largest scores of this step:")];
  for (const [piece, p, logit] of top) {
    const share = softmax ? p : logit / high;
    parts.push(html("div", { className: "bar" }, html("b", { textContent: piece }),
      html("span", { className: "track" }, html("span", { style: `width:${Math.max(0, 100 * share)}%` })),
      html("span", { textContent: softmax ? percent(p) : logit.toFixed(1) })));
  }
  if (softmax) return html("div", {}, ...parts);
  return html("div", {}, ...parts, note(`All ${vocabulary.toLocaleString("en")} scores; heights grow as the square root of the count:`),
    histogram(counts, [low, high], vocabulary));
}

function histogram(counts, [low, high], vocabulary) {
  const most = Math.max(...counts), picture = svg("svg", { viewBox: "0 0 280 84", role: "img", class: "histogram",
    "aria-label": `Histogram of the ${vocabulary} scores of this step, from ${low} to ${high}` });
  counts.forEach((count, i) => { // the root makes a bar of one piece visible beside one of hundreds
    const height = 64 * Math.sqrt(count / most);
    picture.append(svg("rect", { x: 10 * i + 1, y: 66 - height, width: 8, height }));
  });
  picture.append(svg("text", { x: 0, y: 80 }, low.toFixed(0)), svg("text", { x: 280, y: 80, "text-anchor": "end" }, high.toFixed(0)),
    svg("text", { x: 140, y: 80, "text-anchor": "middle" }, "score"));
  return picture;
}

// Where one query looks, in each head.
export function headsOf(maps, { queries, keys, row, draw }) {
  return html("div", { className: "maps" }, note(`Where “${queries[row]}” looks, in each head (rows ask, columns answer):`),
    ...Array.from({ length: maps.count }, (_, h) => {
      const [most, key] = keys.map((name, i) => [maps.weight(h, row, i), name]).sort((a, b) => b[0] - a[0])[0];
      const mark = html("span", { className: "row", style: `top:${100 * row / maps.rows}%;height:${100 / maps.rows}%` });
      const image = draw(h);
      image.setAttribute("aria-hidden", "true");
      return html("span", { className: "head" }, html("span", { className: "map" }, image, mark), html("b", { textContent: key }), percent(most));
    }));
}

const LEFT = 66; // room for the names of the pieces

function tableDrawing(tensor, { names, fade, step, width }) {
  const cell = names.length > 10 ? 14 : 16, w = width - LEFT, h = cell * tensor.rows;
  const picture = svg("svg", { class: "tensor", width, height: h + 16, role: "application", tabindex: 0,
    "aria-label": `The tensor: ${tensor.rows} pieces on rows, ${tensor.columns} numbers on columns. Arrow keys read it out.` });
  const image = matrixPicture(tensor, fade);
  names.forEach((name, i) => picture.append(svg("text", { x: LEFT - 4, y: (i + 0.5) * cell, "text-anchor": "end",
    "dominant-baseline": "central", opacity: fade(i) < 1 ? 0.55 : 1 }, shorten(name, 9))));
  picture.append(svg("image", { x: LEFT, y: 0, width: w, height: h, preserveAspectRatio: "none", href: image.toDataURL() }),
    svg("rect", { class: "outline", x: LEFT, y: 0, width: w, height: h }),
    svg("text", { x: LEFT, y: h + 12 }, "0"), svg("text", { x: LEFT + w / 2, y: h + 12, "text-anchor": "middle" }, "dimension"),
    svg("text", { x: LEFT + w, y: h + 12, "text-anchor": "end" }, `${tensor.columns - 1}`));
  if (step !== null) picture.append(svg("rect", { class: "step", x: LEFT, y: step * cell, width: w, height: cell }));
  return { picture, cell, w, h };
}

// The tensor as a table of colours. `cursor()` is the cell that is read out, `choose` moves it, `home` is its first row.
export function tableOf(tensor, view) {
  const { picture, cell, w, h } = tableDrawing(tensor, view), { names, cursor, choose, home } = view;
  const mark = svg("rect", { class: "mark", width: 5, height: cell, visibility: "hidden" }), said = readout();
  picture.append(mark);
  const tell = () => {
    said.textContent = `From ${tensor.low.toFixed(2)} to ${tensor.high.toFixed(2)}; blue positive, orange negative.`;
    if (!cursor()) return;
    const row = clamp(cursor().row, tensor.rows), column = clamp(cursor().column, tensor.columns);
    said.textContent = `“${names[row]}”, dimension ${column}: ${tensor.at(row, column).toFixed(2)}`;
    setAttributes(mark, { x: LEFT + (column + 0.5) * w / tensor.columns - 2.5, y: row * cell, visibility: "visible" });
    choose(row, column);
  };
  const go = (row, column) => { choose(clamp(row, tensor.rows), clamp(column, tensor.columns)); tell(); };
  onPointer(picture, ({ x, y }) => {
    if (x >= LEFT && y <= h) go(Math.floor(y / cell), Math.floor((x - LEFT) / w * tensor.columns));
  });
  picture.addEventListener("keydown", event => {
    const move = arrowOf(event), { row, column } = cursor() ?? { row: home, column: 0 };
    if (!move) return;
    event.preventDefault();
    go(row + move[0], column + move[1]);
  });
  queueMicrotask(tell);
  return html("div", {}, picture, said);
}
