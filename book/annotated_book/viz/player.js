// Players: a button that plays, and a row of controls for a trait that counts moments, 0 to last().
import { button, setter, slider } from "./controls.js";

// What a button of a player does: `begin`, then `forward` again and again until somebody stops it.
export function playing({ every, begin, forward, show }) {
  let timer = 0;
  const stop = () => { clearInterval(timer); timer = 0; show(false); };
  const toggle = () => {
    if (timer) return stop();
    begin();
    show(true);
    timer = setInterval(forward, every);
  };
  return { stop, toggle };
}

export function player({ model, el, trait, last, every, one, what }) {
  const set = setter(model), now = () => model.get(trait);
  const go = n => set({ [trait]: Math.max(0, Math.min(last(), n)) });
  const { stop, toggle } = playing({
    every, begin: () => { if (now() === last()) go(0); },
    forward: () => { if (now() === last() || !el.isConnected) stop(); else go(now() + 1); },
    show: on => {
      play.textContent = on ? "❚❚ pause" : "▶ play";
      play.setAttribute("aria-label", on ? "pause" : "play");
    },
  });
  const jump = n => { stop(); go(n); };
  const back = button("‹ back", () => jump(now() - 1), { "aria-label": `one ${one} back` });
  const next = button("next ›", () => jump(now() + 1), { "aria-label": `the next ${one}` });
  const play = button("▶ play", toggle, { "aria-label": "play" });
  const knob = slider({ min: 0, step: 1, "aria-label": what }, jump);
  // What the controls show at a moment; `says` is its name for a screen reader.
  const show = (n, says) => {
    Object.assign(knob, { max: last(), value: n });
    knob.setAttribute("aria-valuetext", says);
    back.disabled = n === 0;
    next.disabled = n === last();
  };
  return { stop, toggle, jump, show, controls: [back, play, next, knob] };
}
