// Buttons and a slider for a trait of a widget that counts moments, 0 to last(). Any of them stops what plays.
function player({ model, el, trait, last, every, one, what }) {
  const set = setter(model), now = () => model.get(trait);
  let timer = 0;
  const go = n => set({ [trait]: Math.max(0, Math.min(last(), n)) });
  const jump = n => { stop(); go(n); };
  const button = (text, label, act) => {
    const made = html("button", { type: "button", textContent: text });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const back = button("‹ back", `one ${one} back`, () => jump(now() - 1));
  const next = button("next ›", `the next ${one}`, () => jump(now() + 1));
  const play = button("▶ play", "play", () => toggle());
  const slider = html("input", { type: "range", min: 0, step: 1 });
  slider.setAttribute("aria-label", what);
  slider.addEventListener("input", () => jump(+slider.value));

  const plays = on => {
    play.textContent = on ? "❚❚ pause" : "▶ play";
    play.setAttribute("aria-label", on ? "pause" : "play");
  };
  function stop() {
    clearInterval(timer);
    timer = 0;
    plays(false);
  }
  function toggle() {
    if (timer) return stop();
    if (now() === last()) go(0);
    plays(true);
    timer = setInterval(() => {
      if (now() === last() || !el.isConnected) stop(); else go(now() + 1);
    }, every);
  }
  // What the controls show at a moment; `says` is its name for a screen reader.
  const show = (n, says) => {
    Object.assign(slider, { max: last(), value: n });
    slider.setAttribute("aria-valuetext", says);
    back.disabled = n === 0;
    next.disabled = n === last();
  };
  return { stop, toggle, jump, button, show, controls: [back, play, next, slider] };
}
