// Byte-pair encoding of the reader's own text (section 5.1), merge by merge.
import { button, field, html, isCalm, readout, setter, slider } from "../../viz/controls.js";
import { svg } from "../../viz/drawing.js";
import { playing } from "../../viz/player.js";
import { learned, piecesOf, readable, replay } from "./replay.js";

const lineOf = piece => readable(piece).replaceAll("\n", "⏎").replaceAll("\t", "⇥"); // readable, and on one line

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, most, { type, jump, step, toggle }) {
  const own = field(type, { rows: 2, maxLength: model.get("longest"), autocomplete: "off" });
  const knob = slider({ min: 0, max: most, step: 1, "aria-label": "merges carried out" }, jump), many = html("output");
  const back = button("◀ back", () => step(-1)), play = button("▶ play", toggle), next = button("next ▶", () => step(1));
  const from = button("from the bytes", () => jump(0)), all = button("all merges", () => jump(most));
  const says = readout("p", { className: "says" }), counts = html("p", { className: "counts" });
  const stage = html("div", { className: "stage" }), curve = html("div", { className: "curve" }), numbers = html("p", { className: "ids" });
  el.append(html("div", { className: "merge-replay" },
    html("label", { className: "own" }, "your text", own),
    html("div", { className: "bar" }, html("label", {}, "merges ", knob, many)),
    html("div", { className: "buttons" }, from, back, play, next, all),
    says, stage, counts, curve, html("details", {}, html("summary", { textContent: "the numbers that the model gets" }), numbers)));
  return { own, knob, many, back, play, next, from, all, says, counts, stage, curve, numbers };
}

function newsOf({ words }, done, last, isUsed, fresh) {
  if (!words.length) return "Type something.";
  if (!last) return "No merge yet: every byte of the text is a piece of its own.";
  const [a, b] = last, times = fresh ? `now ${fresh} time${fresh > 1 ? "s" : ""} in this text.` : ".";
  return `Merge ${done}: “${lineOf(a)}” + “${lineOf(b)}” → “${lineOf(a + b)}”`
    + (isUsed ? `, ${times}` : ". This text has no such pair.");
}

function chipOf(piece, newest) {
  const chip = html("span", { className: "piece", textContent: lineOf(piece) });
  chip.dataset.piece = readable(piece);
  if (piece === newest) chip.classList.add("fresh");
  return chip;
}

// How many pieces the text has after each merge; the axis of merges is logarithmic, for the early ones do most.
function drawCurve(lengths, done, pieces, count) {
  const W = 340, H = 96, L = 34, B = 20, most = Math.max(1, lengths[0][1]);
  const x = m => L + (W - L - 8) * Math.log(1 + m) / Math.log(1 + count), y = n => 8 + (H - B - 8) * (1 - n / most);
  const path = `M${x(0)} ${y(most)}${lengths.slice(1).map(([m, n]) => `H${x(m)}V${y(n)}`).join("")}H${x(count)}`;
  const word = (content, at, up, anchor) => svg("text", { x: at, y: up, "text-anchor": anchor }, content);
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img",
    "aria-label": `Pieces of this text: ${most} before the first merge, ${lengths.at(-1)[1]} after all; ${pieces} now.` },
    svg("path", { d: `M${L} 8V${H - B}H${W - 8}`, class: "axis" }), svg("path", { d: path, class: "line" }),
    svg("line", { x1: x(done), x2: x(done), y1: 8, y2: H - B, class: "now" }), svg("circle", { cx: x(done), cy: y(pieces), r: 4, class: "dot" }),
    word(most, L - 4, 14, "end"), word("0", L - 4, H - B + 3, "end"), word("pieces", L + 5, H - B - 5, "start"),
    ...[0, 10, 100, 1000, 10000].filter(m => x(m) < W - 100).map(m => word(m, x(m), H - 6, "middle")), word(`${count} merges`, W - 8, H - 6, "end"));
}

// The pieces after the merges that were done, and everything that is said of them.
function show(parts, text, read, merges, done) {
  const { stage, says, counts, numbers, curve } = parts, { words, bytes, steps, lengths } = read;
  const pieces = piecesOf(words, merges, done), flat = pieces.flat(), last = merges.pairs[done - 1];
  const isUsed = Boolean(last) && steps.includes(done - 1), newest = isUsed ? last.join("") : null;
  stage.replaceChildren(...pieces.map(word => html("span", { className: "word" }, ...word.map(piece => chipOf(piece, newest)))));
  stage.setAttribute("aria-label", `${flat.length} pieces`);
  says.textContent = newsOf(read, done, last, isUsed, flat.filter(piece => piece === newest).length);
  counts.textContent = `${[...text].length} characters, ${bytes} bytes, ${words.length} words → ${flat.length} pieces`;
  numbers.textContent = flat.map(piece => merges.idOf.get(piece)).join(" ");
  parts.knob.value = done;
  parts.many.textContent = ` ${done} of ${merges.pairs.length}`;
  parts.back.disabled = parts.from.disabled = done === 0;
  parts.next.disabled = !steps.some(at => at + 1 > done);
  parts.all.disabled = done === merges.pairs.length;
  curve.replaceChildren(drawCurve(lengths, done, flat.length, merges.pairs.length));
}

function render({ model, el }) {
  const merges = learned(model.get("merges"), model.get("first")), set = setter(model), done = () => model.get("merged");
  let read;
  const later = () => read.steps.find(at => at + 1 > done()), earlier = () => read.steps.findLast(at => at + 1 < done()) ?? -1;
  const forward = () => { const at = later(); if (at === undefined) stop(); else set({ merged: at + 1 }); };
  const { stop, toggle } = playing({ every: isCalm() ? 1800 : 700, forward,
    begin: () => { if (later() === undefined) set({ merged: 0 }); else forward(); },
    show: on => { parts.play.textContent = on ? "❚❚ pause" : "▶ play"; } });
  const parts = build(model, el, merges.pairs.length, { type: text => set({ text }), toggle,
    jump: merged => { stop(); set({ merged }); },
    step: by => { stop(); if (by < 0) set({ merged: earlier() + 1 }); else forward(); } });

  const draw = () => show(parts, model.get("text"), read, merges, done());
  function type() {
    const text = model.get("text");
    read = replay(text, merges);
    if (parts.own.value !== text) parts.own.value = text;
    draw();
  }
  model.on("change:text", type);
  model.on("change:merged", draw);
  type();
  return stop;
}

export default { render };
