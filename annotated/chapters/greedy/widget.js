// A greedy search, one step at a time. Blue is what greedy takes, a green diamond what the best translation takes.
const percent = x => x >= 0.9995 ? "100 %" : x >= 0.0995 ? `${(100 * x).toFixed(0)} %` : `${(100 * x).toFixed(x < 0.001 ? 2 : 1)} %`;
const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const logs = x => x.toFixed(2).replace("-", "−");
const plain = token => token.replace("▁", "") || "␣";
const join = tokens => tokens.filter(t => t !== "</s>").join("").replaceAll("▁", " ").trim();

function render({ model, el }) {
  const walks = model.get("walks"), set = setter(model);
  const walk = () => walks[model.get("sentence")];
  const last = () => walk().steps.length - 1;
  const { stop, toggle, jump, button, show, controls } = player(
    { model, el, trait: "step", last, every: 1200, one: "step", what: "step" });

  const menu = html("select", {}, ...walks.map(({ text }, value) => html("option", { value, textContent: text })));
  menu.addEventListener("change", () => choose(+menu.value));
  const choose = sentence => { stop(); set({ sentence, step: 0 }); };
  const another = html("button", { type: "button", textContent: "next sentence" });
  another.addEventListener("click", () => choose((model.get("sentence") + 1) % walks.length));

  const crossing = button("where it leaves", "where it leaves the most probable translation", () => jump(walk().leaves));

  const source = html("p", { className: "source" }), written = html("p", { className: "written" });
  const bars = html("div", { className: "bars" }), doubt = html("p", { className: "doubt" });
  const verdict = html("output");
  verdict.setAttribute("aria-live", "polite");
  const stage = html("div", { className: "stage", tabIndex: 0 }, html("span", { className: "name", textContent: "reads" }), source,
    html("span", { className: "name", textContent: "has written" }), written, bars, doubt);
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", "A step of the search. Arrow keys left and right step, Home and End jump, the space bar plays.");
  stage.addEventListener("keydown", event => {
    const step = { ArrowLeft: model.get("step") - 1, ArrowRight: model.get("step") + 1, Home: 0, End: last() }[event.key];
    if (event.key === " " && event.target === stage) toggle();
    else if (step !== undefined) jump(step);
    else return;
    event.preventDefault();
  });
  const label = html("label", {}, html("span", { textContent: "sentence" }), menu);
  el.append(html("div", { className: "step-player" }, html("div", { className: "choices" }, label, another), stage,
    html("div", { className: "controls" }, ...controls, crossing), verdict));

  // What the most probable translation takes here, as long as both have written the same.
  const better = t => t <= walk().leaves ? walk().best[t] : null;

  function drawBars(t) {
    const { tokens, p, rest } = walk().steps[t], wanted = better(t);
    const row = (name, value, kind, tag) => {
      const fill = html("span", { className: "fill" });
      fill.style.width = `${100 * value}%`;
      return html("div", { className: `row ${kind}` }, html("span", { className: "token", textContent: name }),
        html("span", { className: "bar" }, fill), html("b", { textContent: percent(value) }),
        html("span", { className: "tag", textContent: tag }));
    };
    bars.replaceChildren(...tokens.map((token, n) => {
      const best = t === walk().leaves && token === wanted;
      return row(plain(token), p[n], n === 0 ? "taken" : best ? "best" : "other",
        n === 0 ? "● greedy" : best ? "◆ best whole" : "");
    }), row("all others", rest, "rest", ""));
  }

  function draw() {
    const { leaves, greedy, greedyLogs, best, bestLogs, steps } = walk(), t = Math.min(model.get("step"), last());
    menu.value = model.get("sentence");
    show(t, `step ${t + 1} of ${steps.length}`);
    crossing.hidden = leaves < 0;
    source.replaceChildren(...walk().source.map((token, s) => {
      const one = html("span", { textContent: plain(token), title: `attention ${percent(steps[t].attention[s])}` });
      one.style.background = `rgb(59 131 214 / ${Math.min(0.6, 0.75 * steps[t].attention[s])})`;
      return one;
    }));
    written.replaceChildren(...greedy.slice(0, t).map((token, n) =>
      html("span", { textContent: plain(token), className: n === leaves ? "left" : "" })),
      html("span", { textContent: "?", className: "open" }));
    drawBars(t);
    const { entropy, equal } = steps[t];
    doubt.textContent = `Step ${t + 1} of ${steps.length}. Entropy ${entropy.toFixed(2)} bits, as unsure as among ${equal.toFixed(1)} `
      + `equally likely tokens. Sum of log-probabilities with this token: ${logs(sum(greedyLogs.slice(0, t + 1)))}.`;
    const whole = `“${join(greedy)}”, ${logs(sum(greedyLogs))}`, other = `“${join(best)}”, ${logs(sum(bestLogs))}`;
    verdict.textContent = t === leaves
      ? `Here greedy leaves. It takes “${plain(greedy[t])}” (log-probability ${logs(greedyLogs[t])}); the most probable `
        + `translation goes on with “${plain(best[t])}” (${logs(bestLogs[t])}) and wins later.`
      : t === last() && leaves >= 0 ? `Greedy has written ${whole}. The most probable translation: ${other}.`
      : t === last() ? `Greedy has written ${whole}. No translation is more probable.`
      : leaves >= 0 && t > leaves ? `On a side road since step ${leaves + 1}: what is missing can no longer be caught up.`
      : "On the way of the most probable translation.";
    verdict.className = leaves >= 0 && t >= leaves ? "lost" : "";
  }

  for (const trait of ["sentence", "step"]) model.on(`change:${trait}`, draw);
  draw();
  return stop;
}

export default { render };
