// The ledger's panel: BLEU of its newest entry and of thousands of drawn test sets, computed in the page. No model is loaded.
import { button, html, labelled, onWidth, scale } from "../../viz/controls.js";
import { BLUE, GREEN, ORANGE, RED } from "../../viz/drawing.js";
import { livePanels } from "../../viz/engine/panel.js";
import { randomFrom } from "../../viz/random_numbers.js";
import { histogram, signed } from "./histogram.js";
import { draw, interval, scores, unpack } from "./scores.js";

const DRAWS = 1000, BIN = 0.25, NAMES = ["average", "last alone", "difference"], SIZES = [150, 300, 600, 1200, 2400];
const COLOURS = [BLUE, ORANGE], SIGNS = [GREEN, RED], WIDEST = 1000;
const range = ends => ends.map(x => signed(x)).join(" to "), number = x => x.toLocaleString("en-GB");

// BLEU of both systems on a thousand test sets of a size: [average, last alone].
export function drawnScores({ sentences, counts }, seed, size = sentences) {
  const systems = unpack(counts, 2), random = randomFrom(seed);
  const drawn = Array.from({ length: DRAWS }, () => scores(systems, draw(sentences, random, size)));
  return [0, 1].map(s => drawn.map(one => one[s]));
}

// What the test sets that were drawn so far say of the systems and of their difference.
export function computed({ sentences, counts }, drawn) {
  const [average, last] = drawn, between = average.map((score, i) => score - last[i]), whole = scores(unpack(counts, 2), new Uint8Array(sentences).fill(1));
  return { drawn, between, score: [...whole, whole[0] - whole[1]], ranges: [average, last, between].map(interval),
    better: between.filter(d => d > 0).length / between.length };
}

const key = (names, colours) => names.map((textContent, i) => html("span", { className: "ledger-key", style: `--key:${colours[i]}`, textContent }));
const labelOf = (what, names, ranges, count) => `${what} of ${number(count)} drawn test sets, 95 % intervals: ${names.map((name, i) => `${name} ${range(ranges[i])}`).join(", ")}`;

function pictures({ drawn, between, ranges }, width) {
  const names = NAMES.slice(0, 2), of = between.length;
  const both = histogram({ series: drawn, names, ranges: ranges.slice(0, 2), bin: BIN, axis: "BLEU", colour: s => COLOURS[s], width, label: labelOf("BLEU", names, ranges, of) });
  const one = histogram({ series: [between], names: ["average minus last alone"], ranges: ranges.slice(2), bin: BIN / 2, axis: "difference in BLEU", zero: true,
    colour: (_, v) => SIGNS[+(v < 0)], width, label: labelOf("Difference in BLEU", ["average minus last alone"], ranges.slice(2), of) });
  const what = "Drawn test sets by their score; lines: the middle 95 %";
  return [html("p", { className: "live-caption", textContent: `${what}, for each system:` }), both,
    html("p", { className: "live-caption" }, `${what}, for the difference on the same test set: `, ...key(["average better", "last alone better"], SIGNS)), one];
}

const HEAD = ["system", "BLEU, computed here", "BLEU, in the report", "95 % interval, drawn here", "95 % interval, in the report"];
const rowsOf = (found, reported) => NAMES.map((name, i) => html("tr", {}, html("th", { scope: "row", textContent: name }),
  ...[signed(found.score[i]), signed(reported[i][0]), range(found.ranges[i]), range(reported[i].slice(1))].map(textContent => html("td", { textContent }))));

function ledger(box) {
  const data = JSON.parse(box.querySelector(".ledger-data").textContent), body = html("tbody");
  const status = html("p", { className: "live-status", role: "status" }), picture = html("div", { className: "ledger-drawn" });
  const width = () => Math.min(WIDEST, Math.floor(picture.getBoundingClientRect().width) || WIDEST);
  let seed = 0, size = data.sentences, drawn = [[], []], found;
  const more = button(`Draw ${number(DRAWS)} more`, () => compute());
  const sizes = scale("sentences", [...new Set([...SIZES, data.sentences])].sort((a, b) => a - b), value => { [size, seed, drawn] = [value, 0, [[], []]]; compute(); }, value => `${number(value)} sentences`);
  function compute() {
    const fresh = drawnScores(data, ++seed, size);
    drawn = drawn.map((scores, s) => [...scores, ...fresh[s]]);
    found = computed(data, drawn);
    sizes.show(size);
    body.replaceChildren(...rowsOf(found, data.reported));
    picture.replaceChildren(...pictures(found, width()));
    status.textContent = `The average is better on ${(100 * found.better).toFixed(1)} % of ${number(found.between.length)} drawn test sets of ${number(size)} sentences each.`;
  }
  const about = `${data.name}: average of the last checkpoints, and the last one alone (sacreBLEU; the report draws ${number(DRAWS)} test sets of ${number(data.sentences)} sentences)`;
  const table = html("table", { className: "ledger-again" }, html("caption", { textContent: about }),
    html("thead", {}, html("tr", {}, ...HEAD.map(textContent => html("th", { scope: "col", textContent })))), body);
  box.replaceChildren(html("div", { className: "ledger-scroll" }, table), html("div", { className: "ledger-controls" }, labelled("sentences in each test set", sizes.input), sizes.number, more), status, picture);
  compute();
  onWidth(picture, () => picture.replaceChildren(...pictures(found, width())));
  box.dataset.state = "done";
}

livePanels({ ledger });
