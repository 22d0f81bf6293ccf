// The ledger's panel: BLEU of its newest entry and of a thousand drawn test sets, computed in the page. No model is loaded.
import { button, html, labelled, onWidth, scale } from "../../viz/controls.js";
import { BLUE, GREEN, ORANGE, RED } from "../../viz/drawing.js";
import { livePanels } from "../../viz/engine/panel.js";
import { randomFrom } from "../../viz/random_numbers.js";
import { histogram, signed } from "./histogram.js";
import { draw, interval, scores, unpack } from "./scores.js";

const DRAWS = 1000, BIN = 0.25, NAMES = ["average", "last alone", "difference"], SIZES = [150, 300, 600, 1200, 2400];
const HEAD = ["system", "BLEU, computed here", "in the report", "interval, computed here", "in the report"];
const COLOURS = [BLUE, ORANGE], SIGNS = [GREEN, RED], WIDEST = 600;
const range = ends => ends.map(x => signed(x)).join(" to "), number = x => x.toLocaleString("en-GB");

export function computed({ sentences, counts }, seed, size = sentences) {
  const systems = unpack(counts, 2), random = randomFrom(seed), whole = scores(systems, new Uint8Array(sentences).fill(1));
  const drawn = Array.from({ length: DRAWS }, () => scores(systems, draw(sentences, random, size)));
  const [average, last] = [0, 1].map(s => drawn.map(one => one[s])), between = drawn.map(([a, b]) => a - b);
  return { drawn: [average, last], between, score: [...whole, whole[0] - whole[1]], ranges: [average, last, between].map(interval),
    better: between.filter(d => d > 0).length / DRAWS };
}

const key = (names, colours) => names.map((textContent, i) => html("span", { className: "ledger-key", style: `--key:${colours[i]}`, textContent }));
const labelOf = (what, names, ranges) => `${what} of ${number(DRAWS)} drawn test sets, 95 % intervals: ${names.map((name, i) => `${name} ${range(ranges[i])}`).join(", ")}`;

function pictures({ drawn, between, ranges }, width) {
  const both = histogram({ series: drawn, bin: BIN, axis: "BLEU", colour: s => COLOURS[s], width, label: labelOf("BLEU", NAMES.slice(0, 2), ranges) });
  const one = histogram({ series: [between], bin: BIN / 2, axis: "difference in BLEU", zero: true, colour: (_, v) => SIGNS[+(v < 0)], width,
    label: labelOf("Difference in BLEU", ["average minus last alone"], ranges.slice(2)) });
  return [html("p", { className: "live-caption" }, "BLEU of both systems: ", ...key(NAMES.slice(0, 2), COLOURS)), both,
    html("p", { className: "live-caption" }, "Their difference on the same test set: ", ...key(["average better", "last alone better"], SIGNS)), one];
}

function ledger(box) {
  const data = JSON.parse(box.querySelector(".ledger-data").textContent), body = html("tbody");
  const status = html("p", { className: "live-status", role: "status" }), picture = html("div", { className: "ledger-drawn" });
  const width = () => Math.min(WIDEST, Math.floor(picture.getBoundingClientRect().width) || WIDEST);
  let seed = 1, size = data.sentences, found;
  const again = button("Draw other test sets", () => { seed++; compute(); });
  const sizes = scale("sentences", [...new Set([...SIZES, data.sentences])].sort((a, b) => a - b), value => { size = value; compute(); }, value => `${number(value)} sentences`);
  function compute() {
    found = computed(data, seed, size);
    sizes.show(size);
    body.replaceChildren(...NAMES.map((name, i) => html("tr", {}, html("th", { scope: "row", textContent: name }),
      ...[found.score[i].toFixed(2), data.reported[i][0].toFixed(2), range(found.ranges[i]), range(data.reported[i].slice(1))]
        .map(textContent => html("td", { textContent })))));
    picture.replaceChildren(...pictures(found, width()));
    status.textContent = `The average is better on ${(100 * found.better).toFixed(1)} % of ${number(DRAWS)} drawn test sets of ${number(size)} sentences each (draws number ${seed}).`;
  }
  const table = html("table", { className: "ledger-again" }, html("caption", { textContent: `${data.name}: average of the last checkpoints, and the last one alone (sacreBLEU; intervals of 95 %; the report's are of ${number(data.sentences)} sentences)` }),
    html("thead", {}, html("tr", {}, ...HEAD.map(textContent => html("th", { scope: "col", textContent })))), body);
  box.replaceChildren(html("div", { className: "ledger-scroll" }, table), html("div", { className: "ledger-controls" }, labelled("sentences in each test set", sizes.input), sizes.number, again), status, picture);
  compute();
  onWidth(picture, () => picture.replaceChildren(...pictures(found, width())));
  box.dataset.state = "done";
}

livePanels({ ledger });
