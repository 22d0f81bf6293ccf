// The slots of a decoder in training. Who sees what is worked out here; the probabilities are recorded.
import {
  button, clamp, group, html, labelled, onTraits, onWidth, radios, readout, select, setter, slider, tick, traits, unique
} from "../../viz/controls.js";
import { unmarked } from "../../viz/drawing.js";
import { colour, drawTable } from "./picture.js";
import { countLeaks, leaks, nameOf, probable, reads, sees, verdictOn } from "./slots.js";

const percent = p => p >= 0.995 && p < 1 ? "> 99 %" : p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`;

// Everything that the reader sees, once; returns the parts that change. `step` moves the slot by one.
function build(model, el, set, step) {
  const id = unique("stepper");
  const menu = select(model.get("sentences").map((s, i) => [i, s.source]), value => set({ sentence: +value, slot: 0 }), { id: `${id}-sentence` });
  const shifts = radios(`${id}-shift`, [0, 1, 2].map(value => [value, `${value}`]), shift => set({ shift }));
  const mask = tick("hide the future", on => set({ masked: on }));
  const range = slider({ min: 1, id: `${id}-slot` }, value => set({ slot: value - 1 }));
  const says = html("p", { className: "says" }), verdict = html("p", { className: "verdict" }), bars = html("div", { className: "bars" });
  const stage = html("div", { className: "stage" }), alone = html("p", { className: "alone" });
  const live = readout("div", { className: "answer" });
  live.append(says, bars, verdict);
  el.append(html("div", { className: "tf-stepper" }, labelled("sentence", menu, { className: "pick", htmlFor: menu.id }),
    group("input shifted by", ...shifts.labels, mask.label),
    html("div", { className: "steps" }, html("label", { htmlFor: range.id, textContent: "slot" }),
      button("◀", () => step(-1), { "aria-label": "slot before" }), range, button("▶", () => step(1), { "aria-label": "next slot" })),
    stage, live, alone));
  return { menu, shifts, mask, range, stage, says, bars, verdict, alone };
}

function showControls({ menu, shifts, mask, range }, state, now, n) {
  menu.value = state.sentence;
  shifts.show(state.shift);
  mask.input.checked = state.masked;
  range.value = now + 1;
  range.setAttribute("aria-valuetext", `slot ${now + 1} of ${n}`);
}

// What one slot reads, sees and has to write, and what it finds probable.
function showSlot({ says, bars, verdict }, target, state, now, slot) {
  const own = target.map((_, k) => k).filter(k => sees(state, now, k)), word = k => unmarked(reads(target, state.shift, k));
  says.replaceChildren("Slot ", html("b", { textContent: now + 1 }), ` reads “${word(now)}”. It may look at `
    + `${own.map(word).join(" ")}. It must write `, html("b", { textContent: unmarked(target[now]) }), ".");
  bars.replaceChildren(...probable(slot, target[now]).map(([token, q]) => html("div", { className: token === target[now] ? "right" : "" },
    html("span", { textContent: unmarked(token) + (token === target[now] ? " ✓" : "") }),
    html("span", { className: "track" }, html("span", { style: `width:${100 * q}%` })),
    html("b", { textContent: percent(q) }))));
  verdict.textContent = verdictOn(state, target, now);
  verdict.classList.toggle("leak", leaks(state, now, target.length));
}

function render({ model, el }) {
  const set = setter(model), losses = model.get("losses");
  const one = () => model.get("sentences")[model.get("sentence")], slot = () => Math.min(model.get("slot"), one().target.length - 1);
  const parts = build(model, el, set, by => set({ slot: clamp(slot() + by, one().target.length) }));
  let table;

  function draw() { // the frame: it changes with the sentence and the width
    const { target } = one();
    table = drawTable(target, el.clientWidth || 600, i => set({ slot: i }));
    parts.stage.replaceChildren(table.picture);
    for (const row of table.rows) table.fit(row.written);
    parts.range.max = target.length;
    update();
  }
  function update() {
    const state = traits(model, "sentence", "shift", "masked"), { target, cells } = one(), n = target.length, now = slot();
    const name = nameOf(state), recorded = cells[name], cheats = countLeaks(state, n), loss = losses[name];
    showControls(parts, state, now, n);
    colour(table, target, state, now, recorded);
    table.picture.setAttribute("aria-label", `${n} slots, ${name}. ${cheats} of them see the answer. `
      + `Slot ${now + 1} reads ${unmarked(reads(target, state.shift, now))} and must write ${unmarked(target[now])}.`);
    showSlot(parts, target, state, now, recorded.slots[now]);
    const writes = recorded.writes.length > 60 ? `${recorded.writes.slice(0, 60)} …` : recorded.writes || "(nothing: it ends at once)";
    parts.alone.replaceChildren(`With ${name}: loss ${loss === undefined ? "unknown" : loss.toFixed(2)}, the answer visible in `
      + `${cheats} of ${n} slots. Writing on its own, this decoder gives: `, html("i", { textContent: writes }));
  }

  model.on("change:sentence", draw);
  onTraits(model, ["slot", "masked", "shift"], update);
  draw();
  return onWidth(el, draw);
}

export default { render };
