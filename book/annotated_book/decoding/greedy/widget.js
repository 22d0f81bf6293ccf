// A greedy search, one step at a time. Blue is what greedy takes, a green diamond what the best translation takes.
import { button, html, labelled, onTraits, readout, select, setter } from "../../viz/controls.js";
import { player } from "../../viz/player.js";

const percent = x => x >= 0.9995 ? "100 %" : x >= 0.0995 ? `${(100 * x).toFixed(0)} %` : `${(100 * x).toFixed(x < 0.001 ? 2 : 1)} %`;
const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const logs = x => x.toFixed(2).replace("-", "−");
const plain = token => token.replace("▁", "") || "␣";
const join = tokens => tokens.filter(t => t !== "</s>").join("").replaceAll("▁", " ").trim();

// What is said of the way at step t: before it leaves the most probable translation, where it does, and after.
export function verdictOn({ leaves, greedy, greedyLogs, best, bestLogs, steps }, t) {
  const last = steps.length - 1, whole = `“${join(greedy)}”, ${logs(sum(greedyLogs))}`, other = `“${join(best)}”, ${logs(sum(bestLogs))}`;
  if (t === leaves) return `Greedy search leaves the most probable translation here. It takes “${plain(greedy[t])}” (log-probability ${logs(greedyLogs[t])}); that `
    + `translation continues with “${plain(best[t])}” (${logs(bestLogs[t])}) and is more probable as a whole.`;
  if (t === last && leaves >= 0) return `Greedy search has written ${whole}. The most probable translation: ${other}.`;
  if (t === last) return `Greedy search has written ${whole}. No translation is more probable.`;
  if (leaves >= 0 && t > leaves) return `Greedy search left it at step ${leaves + 1}: no translation that begins like this is more probable than the best one.`;
  return "The most probable translation begins the same way.";
}

function stageOf(model, last, { toggle, jump }, ...parts) {
  const stage = html("div", { className: "stage", tabIndex: 0, role: "group",
    "aria-label": "A step of the search. Arrow keys left and right step, Home and End jump, the space bar plays." }, ...parts);
  stage.addEventListener("keydown", event => {
    const step = { ArrowLeft: model.get("step") - 1, ArrowRight: model.get("step") + 1, Home: 0, End: last() }[event.key];
    if (event.key === " " && event.target === stage) toggle();
    else if (step !== undefined) jump(step);
    else return;
    event.preventDefault();
  });
  return stage;
}

// Everything that the reader sees, once; returns the parts that change.
function build(model, el, walks, last, playback, choose) {
  const menu = select(walks.map(({ text }, i) => [i, text]), value => choose(+value));
  const another = button("next sentence", () => choose((model.get("sentence") + 1) % walks.length));
  const crossing = button("to the fork", () => playback.jump(walks[model.get("sentence")].leaves),
    { "aria-label": "to the fork, where it leaves the most probable translation" });
  const source = html("p", { className: "source" }), written = html("p", { className: "written" });
  const bars = html("div", { className: "bars" }), doubt = html("p", { className: "doubt" }), verdict = readout();
  const name = textContent => html("span", { className: "name", textContent });
  const stage = stageOf(model, last, playback, name("reads"), source, name("has written"), written, bars, doubt);
  el.append(html("div", { className: "step-player" }, html("div", { className: "choices" }, labelled("sentence", menu), another), stage,
    html("div", { className: "controls" }, ...playback.controls, crossing), verdict));
  return { menu, crossing, source, written, bars, doubt, verdict };
}

function barOf(name, value, kind, tag) {
  const fill = html("span", { className: "fill" });
  fill.style.width = `${100 * value}%`;
  return html("div", { className: `row ${kind}` }, html("span", { className: "token", textContent: name }),
    html("span", { className: "bar" }, fill), html("b", { textContent: percent(value) }),
    html("span", { className: "tag", textContent: tag }));
}

// The candidates of a step; where greedy leaves, the one that the most probable translation takes is marked.
function barsOf({ steps, leaves, best }, t) {
  const { tokens, p, rest } = steps[t];
  return [...tokens.map((token, n) => {
    const isBest = t === leaves && token === best[t];
    return barOf(plain(token), p[n], n === 0 ? "taken" : isBest ? "best" : "other", n === 0 ? "● greedy" : isBest ? "◆ best whole" : "");
  }), barOf("all others", rest, "rest", "")];
}

function sourceToken(token, weight) {
  const made = html("span", { textContent: plain(token), title: `attention ${percent(weight)}` });
  made.style.background = `rgb(59 131 214 / ${Math.min(0.6, 0.75 * weight)})`;
  return made;
}

function render({ model, el }) {
  const walks = model.get("walks"), set = setter(model), walk = () => walks[model.get("sentence")], last = () => walk().steps.length - 1;
  const playback = player({ model, el, trait: "step", last, every: 1200, one: "step", what: "step" });
  const parts = build(model, el, walks, last, playback, sentence => { playback.stop(); set({ sentence, step: 0 }); });

  function draw() {
    const one = walk(), { leaves, greedy, greedyLogs, steps } = one, t = Math.min(model.get("step"), last());
    const { entropy, equal, attention } = steps[t];
    parts.menu.value = model.get("sentence");
    playback.show(t, `step ${t + 1} of ${steps.length}`);
    parts.crossing.hidden = leaves < 0;
    parts.source.replaceChildren(...one.source.map((token, s) => sourceToken(token, attention[s])));
    parts.written.replaceChildren(...greedy.slice(0, t).map((token, n) =>
      html("span", { textContent: plain(token), className: n === leaves ? "left" : "" })),
    html("span", { textContent: "?", className: "open" }));
    parts.bars.replaceChildren(...barsOf(one, t));
    parts.doubt.textContent = `Step ${t + 1} of ${steps.length}. Entropy ${entropy.toFixed(2)} bits, as much as among ${equal.toFixed(1)} `
      + `equally likely tokens. Sum of log-probabilities with this token: ${logs(sum(greedyLogs.slice(0, t + 1)))}.`;
    parts.verdict.textContent = verdictOn(one, t);
    parts.verdict.className = leaves >= 0 && t >= leaves ? "lost" : "";
  }

  onTraits(model, ["sentence", "step"], draw);
  draw();
  return playback.stop;
}

export default { render };
