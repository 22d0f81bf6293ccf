// A training that is stopped: where it goes on, what is made again, and what more GPUs change. No model is loaded.
import { group, html, labelled, onWidth, radios, select, slider, unique } from "../../viz/controls.js";
import { svg } from "../../viz/drawing.js";
import { secondsOf } from "./cost.js";
import { partAround, rateAt, stopped } from "./stop.js";

const STOP_EDGE = 14, STOP_WHOLE = 34, STOP_LARGE = 96; // pixels: at the sides, and the heights of both lines
const withCommas = x => x.toLocaleString("en-GB");

// Two lines: the whole training with its checkpoints, and a few of them around the stop. Those still on the disk are filled.
function stopLines(data, choice, found, width) {
  const inner = width - 2 * STOP_EDGE, zoom = partAround(data, choice.update);
  const far = u => STOP_EDGE + inner * u / data.updates, near = u => STOP_EDGE + inner * (u - zoom.low) / (zoom.high - zoom.low);
  const text = (words, x, y, anchor = "middle", className = "") => svg("text", { x, y, "text-anchor": anchor, class: className }, words);
  const disk = u => found.kept.includes(u) || (found.interim && u === found.saved);
  const all = Array.from({ length: Math.floor(data.updates / data.every) }, (_, i) => (i + 1) * data.every);
  const tick = (u, x, y, half) => svg("line", { x1: x, x2: x, y1: y - half, y2: y + half, class: disk(u) ? "stop-kept" : u <= choice.update ? "stop-gone" : "stop-later" });
  const mark = (u, x, y) => svg("circle", { cx: x, cy: y, r: 6, class: disk(u) ? "stop-disk" : "stop-empty" });
  const edge = x => x < 60 ? "start" : x > width - 60 ? "end" : "middle";
  const parts = [
    svg("line", { x1: far(0), x2: far(data.updates), y1: STOP_WHOLE, y2: STOP_WHOLE, class: "stop-line" }), svg("line", { x1: far(0), x2: far(choice.update), y1: STOP_WHOLE, y2: STOP_WHOLE, class: "stop-done" }),
    ...all.map(u => tick(u, far(u), STOP_WHOLE, 6)), text("0", far(0), STOP_WHOLE + 21, "start"), text(`${withCommas(data.updates)} updates`, far(data.updates), STOP_WHOLE + 21, "end"),
    text("stopped here", Math.max(STOP_EDGE, Math.min(width - STOP_EDGE, far(choice.update))), STOP_WHOLE - 16, edge(far(choice.update)), "stop-name"),
    svg("path", { d: `M${far(zoom.low)} ${STOP_WHOLE + 7} L${near(zoom.low)} ${STOP_LARGE - 12} H${near(zoom.high)} L${Math.min(far(zoom.high), width - STOP_EDGE)} ${STOP_WHOLE + 7} Z`, class: "stop-zoom" }),
    svg("line", { x1: near(zoom.low), x2: near(zoom.high), y1: STOP_LARGE, y2: STOP_LARGE, class: "stop-line" }), svg("line", { x1: near(zoom.low), x2: near(choice.update), y1: STOP_LARGE, y2: STOP_LARGE, class: "stop-done" }),
    ...(found.again ? [svg("line", { x1: near(Math.max(found.saved, zoom.low)), x2: near(choice.update), y1: STOP_LARGE, y2: STOP_LARGE, class: "stop-again" })] : []),
    ...zoom.ticks.filter(u => u > 0).map(u => mark(u, near(u), STOP_LARGE)), ...(found.interim ? [mark(found.saved, near(found.saved), STOP_LARGE)] : []),
    ...zoom.ticks.map(u => text(withCommas(u), near(u), STOP_LARGE + 24, edge(near(u)))),
    ...[far, near].map((x, i) => svg("line", { x1: x(choice.update), x2: x(choice.update), y1: (i ? STOP_LARGE : STOP_WHOLE) - 12, y2: (i ? STOP_LARGE : STOP_WHOLE) + 12, class: "stop-cut" })),
  ];
  const label = `The training with a checkpoint after every ${withCommas(data.every)} updates, stopped after update ${withCommas(choice.update)}. On the disk: ${found.kept.length ? found.kept.map(withCommas).join(", ") : "none yet"}.`;
  return svg("svg", { width, height: STOP_LARGE + 34, viewBox: `0 0 ${width} ${STOP_LARGE + 34}`, role: "img", "aria-label": label }, ...parts);
}

function stopAnswers(data, { gpus }, { saved, again, interim, each }) {
  const time = Object.entries(data.seconds).map(([who, one]) => `${again ? secondsOf(again * one) : "0 s"} (${who})`).join(", ");
  return [
    ["goes on from", saved ? `update ${withCommas(saved)}${interim ? ", saved because of the signal; deleted when the next checkpoint is written, and never averaged" : ""}` : "the beginning: there is no checkpoint yet"],
    ["made again", again ? `${withCommas(again)} of ${withCommas(data.updates)} updates, with the same sentences; at speeds that are known: ${time}` : "nothing"],
    ["next update", `number ${withCommas(saved + 1)}, at the learning rate ${rateAt(saved + 1, data).toExponential(2)} of equation 3`],
    ["each update", gpus === 1 ? `${withCommas(data.tokens)} tokens on each side, as before` : `${withCommas(data.tokens)} tokens on each side, as before; each of the ${gpus} GPUs computes about ${withCommas(each)}`],
    ["dropout", gpus === 1 ? "goes on with the saved random numbers" : "the first GPU goes on with the saved random numbers, the others draw masks of their own"],
  ];
}

export function stopPanel(box) {
  const data = JSON.parse(box.querySelector(".stop-data").textContent), choice = { update: 51234, signal: false, gpus: 2 };
  const drawn = html("div", { className: "stop-drawn" }), status = html("p", { className: "live-status", role: "status" }), list = html("dl", { className: "stop-answers" });
  const at = slider({ name: "update", min: 1, max: data.updates - 1, step: 1, value: choice.update }, value => update({ update: value })), number = html("b");
  const how = radios(unique("stop"), [["cut", "power cut or SIGKILL"], ["signal", "SIGTERM, which asks it to stop"]], value => update({ signal: value === "signal" }));
  const count = select([1, 2, 4, 8].map(n => [n, n === 1 ? "1 GPU" : `${n} GPUs`]), value => update({ gpus: +value }));
  const controls = html("div", { className: "stop-controls" }, html("span", {}, labelled("stopped after update", at), number), group("by", ...how.labels), labelled("begun on 1 GPU, goes on with", count));
  const key = html("p", { className: "live-caption" }, html("span", { className: "stop-key disk", textContent: "checkpoint on the disk" }), html("span", { className: "stop-key empty", textContent: "deleted, or not written yet" }), html("span", { className: "stop-key again", textContent: "made again" }));
  const draw = () => drawn.replaceChildren(stopLines(data, choice, stopped(data, choice), Math.max(280, Math.floor(drawn.getBoundingClientRect().width) || 640)));
  function update(change) {
    Object.assign(choice, change);
    const found = stopped(data, choice);
    [at.value, number.textContent, count.value] = [choice.update, withCommas(choice.update), choice.gpus];
    how.show(choice.signal ? "signal" : "cut");
    status.textContent = found.again ? `The time for ${withCommas(found.again)} ${found.again === 1 ? "update" : "updates"} is lost, and nothing else.` : "Nothing is lost.";
    list.replaceChildren(...stopAnswers(data, choice, found).flatMap(([term, words]) => [html("dt", { textContent: term }), html("dd", { textContent: words })]));
    draw();
  }
  box.replaceChildren(html("p", { className: "stop-title", textContent: "Stop the training of the base model anywhere, and type the same command again" }), controls, drawn, key, status, list);
  update({});
  onWidth(drawn, draw);
  box.dataset.state = "done";
}
