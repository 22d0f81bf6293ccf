// The ledger's panel: BLEU of its newest entry and of a thousand drawn test sets, computed in the page. No model is loaded.
import { button, html, onWidth } from "../../viz/controls.js";
import { BLUE, ORANGE, svg } from "../../viz/drawing.js";
import { livePanels } from "../../viz/engine/panel.js";
import { randomFrom } from "../../viz/random_numbers.js";
import { draw, interval, scores, unpack } from "./scores.js";

const DRAWS = 1000, BIN = 0.25, NAMES = ["average", "last alone", "difference"];
const HEAD = ["", "BLEU, computed here", "in the report", "interval, computed here", "in the report"];
const COLOURS = [BLUE, ORANGE], HEIGHT = 130, WIDEST = 600;
const range = ([low, high]) => `${low.toFixed(2)} to ${high.toFixed(2)}`, shortRange = ends => range(ends).replace(" to ", "–");

// How many of the drawn test sets have which score, for both systems on one axis.
function histogram(drawn, width) {
  const all = drawn.flat(), first = Math.floor(Math.min(...all) / BIN), last = Math.floor(Math.max(...all) / BIN) + 1;
  const counts = drawn.map(values => values.reduce((found, v) => { found[Math.floor(v / BIN) - first]++; return found; }, Array(last - first).fill(0)));
  const wide = width / (last - first), most = Math.max(...counts.flat()), bars = [], marks = [];
  counts.forEach((one, s) => one.forEach((n, i) => bars.push(svg("rect", { x: i * wide, y: HEIGHT - 20 - (HEIGHT - 24) * n / most,
    width: wide, height: (HEIGHT - 24) * n / most, fill: COLOURS[s], "fill-opacity": 0.55 }))));
  for (let v = Math.ceil(first * BIN); v < last * BIN; v++) marks.push(svg("text", { x: (v / BIN - first) * wide, y: HEIGHT - 4, "text-anchor": "middle" }, String(v)));
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `BLEU of ${DRAWS} drawn test sets: `
    + drawn.map((values, s) => `${NAMES[s]} ${range(interval(values))}`).join(", ") }, ...bars, ...marks);
}

export function computed({ sentences, counts }, seed) {
  const systems = unpack(counts, 2), random = randomFrom(seed), whole = scores(systems, new Uint8Array(sentences).fill(1));
  const drawn = Array.from({ length: DRAWS }, () => scores(systems, draw(sentences, random)));
  const [average, last] = [0, 1].map(s => drawn.map(one => one[s])), between = drawn.map(([a, b]) => a - b);
  return { drawn: [average, last], score: [...whole, whole[0] - whole[1]], ranges: [average, last, between].map(interval),
    better: between.filter(d => d > 0).length / DRAWS };
}

function ledger(box) {
  const data = JSON.parse(box.querySelector(".ledger-data").textContent), body = html("tbody");
  const status = html("p", { className: "live-status", role: "status" }), picture = html("div", { className: "ledger-drawn" });
  const width = () => Math.min(WIDEST, Math.floor(picture.getBoundingClientRect().width) || WIDEST);
  let seed = 0, drawn = [];
  const again = button("Draw other test sets", compute);
  function compute() {
    const found = computed(data, ++seed);
    drawn = found.drawn;
    body.replaceChildren(...NAMES.map((name, i) => html("tr", {}, html("th", { scope: "row", textContent: name }),
      ...[found.score[i].toFixed(2), data.reported[i][0].toFixed(2), shortRange(found.ranges[i]), shortRange(data.reported[i].slice(1))]
        .map(textContent => html("td", { textContent })))));
    picture.replaceChildren(html("p", { className: "live-caption" }, `BLEU of ${DRAWS} test sets drawn from this one: `,
      ...COLOURS.map((color, s) => html("span", { className: "ledger-key", style: `--key:${color}`, textContent: NAMES[s] }))), histogram(drawn, width()));
    status.textContent = `The average is better on ${(100 * found.better).toFixed(1)} % of ${DRAWS} drawn test sets of ${data.sentences} sentences each (draws number ${seed}).`;
  }
  const table = html("table", { className: "ledger-again" }, html("caption", { textContent: `${data.name}: average of the last checkpoints, and the last one alone (sacreBLEU; intervals of 95 %)` }),
    html("thead", {}, html("tr", {}, ...HEAD.map(textContent => html(textContent ? "th" : "td", textContent ? { scope: "col", textContent } : {})))), body);
  box.replaceChildren(html("div", { className: "ledger-scroll" }, table), picture, status, again);
  compute();
  onWidth(picture, () => picture.querySelector("svg").replaceWith(histogram(drawn, width())));
  box.dataset.state = "done";
}

livePanels({ ledger });
