// The four tests as controls: a target token to change, three buttons, and below each target token how far its logits moved.
import { button, html } from "../../viz/controls.js";
import { caption } from "../../viz/engine/views.js";
import { MOVED, cacheTest, leakTest, orderTest, paddingTest } from "./examination.js";

const OTHERS = ["Auto", "Hund"]; // what stands in place of a token: the first that it is not
const EXCHANGED = [1, 3]; // source tokens that change places

export const share = x => x < MOVED ? "0" : x < 0.01 ? `${(100 * x).toFixed(2)} %` : `${Math.round(100 * x)} %`;

// What each test asks: what must hold, and what was found of the positions that it is about.
export const TRIALS = {
  leak: {
    holds: "The logits before the changed token stay as they were.",
    run: ({ patient, source, ids, other }, at) => leakTest(patient, source, ids, at, other(ids[at - 1])),
    about: (moved, at) => moved.slice(0, at), must: "stay",
  },
  padding: {
    name: "Test 2. Add padding", holds: "Padding behind the source changes nothing.", must: "stay",
    run: ({ patient, source, ids }) => paddingTest(patient, source, ids), about: moved => moved,
  },
  cache: {
    name: "Test 3. Write step by step", holds: "Writing step by step with a cache gives the logits of reading all at once.", must: "stay",
    run: ({ patient, source, ids }) => cacheTest(patient, source, ids), about: moved => moved,
  },
  order: {
    name: "Test 4. Swap two source tokens", holds: "Another order of the source gives other logits.", must: "move",
    run: ({ patient, source, ids }) => orderTest(patient, source, ids, ...EXCHANGED), about: moved => moved,
  },
};

// The outcome of one test in the doctor's words; `at` is the changed position of the leak test.
export function outcome(name, subject, at) {
  const { run, about, must, holds } = TRIALS[name], moved = run(subject, at), most = Math.max(...about(moved, at));
  const found = most < MOVED ? "They do not move." : `They move by up to ${share(most)} of their size.`.replace(" %", "\u00a0%");
  return { moved, holds, found, passed: (most < MOVED) === (must === "stay") };
}

export const otherToken = engine => id => OTHERS.map(word => engine.ids(word)[0]).find(other => other !== id);

export function trialsView() {
  const tokens = html("div", { className: "doctor-tokens", role: "group", "aria-label": "Target tokens: choose one to change it" });
  const said = html("p", { role: "status", className: "doctor-found" });
  let subject, made = 0;
  const show = (name, at) => {
    made++;
    const { moved, holds, found, passed } = outcome(name, subject, at), concerned = TRIALS[name].about([...moved.keys()], at);
    [...tokens.children].forEach((token, t) => {
      token.setAttribute("aria-pressed", String(name === "leak" && t === at));
      token.style.setProperty("--p", Math.min(1, concerned.includes(t) ? moved[t] : 0).toFixed(3));
      token.querySelector("small").textContent = share(moved[t]);
    });
    const done = name === "order" ? `“${subject.swapped.join("” and “")}” change places. ` : "";
    said.replaceChildren(done, html("b", { textContent: "Must hold: " }), `${holds} `, html("b", { textContent: "Found: " }), `${found} ${passed ? "✓ It holds." : "✗ It fails."}`);
  };
  const buttons = Object.entries(TRIALS).filter(([, { name }]) => name).map(([id, { name }]) => button(name, () => show(id)));
  const element = html("div", {}, caption("The model reads the right translation. Below each token stands how far the logits at its position move."),
    html("p", { className: "doctor-test" }, html("b", { textContent: "Test 1. Change a token" }), " Press one of the target tokens to put another in its place."), tokens, html("div", { className: "doctor-row" }, ...buttons), said);
  function start(engine, patient, text, ids) {
    const written = tokens => { const spell = engine.tokenizer.speller(); return tokens.map(id => spell(id).text); };
    const source = engine.read(text), words = written(ids), read = written(source);
    subject = { patient, source, ids, other: otherToken(engine), swapped: EXCHANGED.map(at => read[at].trim()) };
    tokens.replaceChildren(...["<s>", ...words].map((word, t) => {
      const made = button("", () => show("leak", t), { disabled: t === 0 });
      made.append(html("span", { textContent: word }), " ", html("small"));
      return made;
    }));
    said.replaceChildren("Nothing tested yet.");
  }
  return { element, start, subject: () => subject, made: () => made, forget: () => { made = 0; } };
}
