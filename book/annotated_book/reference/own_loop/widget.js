// A training played back: the loss with a marker, and all held-out numbers as the model writes them at that moment.
import { arrowOf, html, labelled, onPointer, onTraits, onWidth, readout, select, setter, traits } from "../../viz/controls.js";
import { BLUE, GREEN, GREY, svg } from "../../viz/drawing.js";
import { player } from "../../viz/player.js";
import { count, history, rightAt, saying } from "./replay.js";

const HEIGHT = 190, LEFT = 44, RIGHT = 44, TOP = 14, BOTTOM = 36, COLUMNS = 10;

const text = (x, y, content, anchor = "middle", fill = "currentcolor") => svg("text", { x, y, "text-anchor": anchor, fill }, content);
const path = (points, color, width) => svg("path", { d: `M${points.map(point => point.map(n => n.toFixed(1)).join(" ")).join("L")}`, fill: "none", stroke: color, "stroke-width": width });

// The loss of every update (left axis), the share that is right (right axis), and where the reader stands.
function curve({ losses, floor, updates, written, numbers }, moment, width) {
  const last = updates.at(-1), top = Math.ceil(Math.max(...losses)), x = update => LEFT + (width - LEFT - RIGHT) * update / last;
  const down = share => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), share = updates.map((_, i) => count(rightAt(written, numbers, i)) / numbers.length);
  const picture = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
    "aria-label": `Loss of ${last} updates, from ${losses[0].toFixed(2)} to ${losses.at(-1).toFixed(2)} nats per token; numbers that are right, from ${Math.round(100 * share[0])} to ${Math.round(100 * share.at(-1))} %.` });
  for (let n = 0; n <= top; n++) picture.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: down(n / top), y2: down(n / top), class: "grid" }), text(LEFT - 6, down(n / top) + 4, String(n), "end"));
  for (const n of [0, 50, 100]) picture.append(text(width - RIGHT + 6, down(n / 100) + 4, `${n} %`, "start"));
  for (let n = 0; n <= last; n += 100) picture.append(text(x(n), HEIGHT - BOTTOM + 16, String(n)));
  picture.append(text(x(last / 2), HEIGHT - 3, "update"),
    svg("line", { x1: LEFT, x2: width - RIGHT, y1: down(floor / top), y2: down(floor / top), stroke: GREY, "stroke-dasharray": "5 4" }),
    path(losses.map((loss, i) => [x(i + 1), down(loss / top)]), BLUE, 1.6), path(share.map((s, i) => [x(updates[i]), down(s)]), GREEN, 2),
    svg("line", { x1: x(updates[moment]), x2: x(updates[moment]), y1: TOP, y2: HEIGHT - BOTTOM, stroke: "currentcolor", "stroke-width": 1.5 }),
    svg("circle", { cx: x(updates[moment]), cy: down(share[moment]), r: 4.5, fill: GREEN }));
  return { picture, updateAt: place => (place - LEFT) / (width - LEFT - RIGHT) * last };
}

// The held-out numbers in ten columns; the arrow keys move from one to the next.
function gridOf(numbers, choose) {
  const cells = numbers.map(([words], i) => {
    const cell = html("button", { type: "button", title: words });
    cell.addEventListener("click", () => choose(i));
    return cell;
  });
  const grid = html("div", { className: "numbers", role: "group", "aria-label": "The held-out numbers as the model writes them" }, ...cells);
  grid.addEventListener("keydown", event => {
    const [down, right] = arrowOf(event) ?? [0, 0], to = cells.indexOf(document.activeElement) + COLUMNS * down + right;
    if (!down && !right || !cells[to]) return;
    event.preventDefault();
    choose(to);
    cells[to].focus();
  });
  return { grid, cells };
}

function showNumbers(cells, { written, numbers }, moment, chosen) {
  const right = rightAt(written, numbers, moment);
  cells.forEach((cell, i) => {
    cell.textContent = written[moment][i] || "–";
    cell.className = right[i] ? "right" : "wrong";
    cell.setAttribute("aria-pressed", String(i === chosen));
    cell.setAttribute("aria-label", `${numbers[i][0]}: ${written[moment][i] || "nothing"}, ${right[i] ? "right" : "wrong"}`);
    cell.tabIndex = i === chosen ? 0 : -1;
  });
}

function told({ written, updates, numbers }, number, moment) {
  const [words, digits] = numbers[number], all = history(written, updates, number);
  const current = all.filter(([update]) => update <= updates[moment]).at(-1);
  return [html("b", { textContent: words }), ` is ${digits}. The model writes, from update to update: `,
    ...all.map(one => html("span", { className: `${one[1] === digits ? "right" : "wrong"}${one === current ? " now" : ""}` }, html("small", { textContent: `${one[0]} ` }), one[1] || "nothing"))];
}

function render({ model, el }) {
  const data = traits(model, "losses", "floor", "numbers", "updates", "written"), set = setter(model), last = () => data.updates.length - 1;
  const playback = player({ model, el, trait: "moment", last, every: 700, one: "moment", what: "moment of the training" });
  const title = html("p", { className: "title" }), stage = html("div", { className: "curve" }), said = readout("p");
  const { grid, cells } = gridOf(data.numbers, number => set({ number })), own = html("p", { className: "history" });
  const menu = select(data.numbers.map(([words], i) => [i, words]), value => set({ number: +value }));
  const key = (name, color) => html("span", { className: "key", style: `--key:${color}`, textContent: name });
  el.append(html("div", { className: "loop-replay" }, title,
    html("p", { className: "keys" }, key("loss of each batch, nats per token", BLUE), key("held-out numbers that are right", GREEN), key("floor of the loss", GREY)),
    stage, html("div", { className: "controls" }, ...playback.controls), said, grid, labelled("number", menu), own));

  function drawCurve() {
    const { picture, updateAt } = curve(data, model.get("moment"), Math.max(280, Math.floor(stage.clientWidth) || 600));
    onPointer(picture, ({ x }, event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const wanted = updateAt(x), near = data.updates.reduce((best, update, i) => Math.abs(update - wanted) < Math.abs(data.updates[best] - wanted) ? i : best, 0);
      if (near !== model.get("moment")) playback.jump(near);
    });
    stage.replaceChildren(picture);
  }
  function draw() {
    const { moment, number } = traits(model, "moment", "number"), { head, rest } = saying(data, moment);
    title.textContent = head;
    said.textContent = rest;
    playback.show(moment, `after update ${data.updates[moment]}`);
    menu.value = number;
    showNumbers(cells, data, moment, number);
    own.replaceChildren(...told(data, number, moment));
    drawCurve();
  }
  onTraits(model, ["moment", "number"], draw);
  const unwatch = onWidth(stage, drawCurve);
  draw();
  return () => { playback.stop(); unwatch(); };
}

export default { render };
