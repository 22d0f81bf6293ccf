// The shape tracer: the reader's numbers, and the shape of every tensor on the way through the model that follows from them.
import { button, html, labelled, numberField, readout, select, unique } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { LETTERS, WIDTHS, bytes, completed, counted, entries, hasLetter, largest, rounded, shapeOf, totals, worked } from "./shapes.js";

const MEANS = { B: "sentences", S: "source length", T: "target length", D: "width", H: "heads", K: "width of a head", F: "inner width",
  V: "vocabulary", L: "layers" };
const WHOLE = "the whole way", OWN = "numbers of my own";

const withCode = text => text.split("`").map((part, i) => i % 2 ? html("code", { textContent: part }) : part);

// "[B, H, S, S]" with a letter lit.
function letters(shape, lit) {
  const axes = shape.flatMap((axis, i) => [...(i ? [", "] : []), ...axis.split("·").flatMap((letter, j) =>
    [...(j ? ["·"] : []), letter === lit ? html("mark", { textContent: letter }) : letter])]);
  return html("code", {}, "[", ...axes, "]");
}

// How often a letter stands in the shapes, in a sentence.
export function placesOf(stages, letter) {
  const steps = stages.flatMap(stage => stage.steps), n = steps.filter(step => hasLetter(step.shape, letter)).length;
  if (letter === "L") return "L stands in no shape: each layer makes tensors of the same shapes.";
  return `${letter}, ${MEANS[letter]}, stands in ${n} of ${steps.length} shapes.`;
}

export function headline(stages, sizes) {
  const most = largest(stages, sizes), [{ step, stage, entries: n }] = most, sum = totals(stages, sizes);
  const name = step.name.replaceAll("`", ""), more = most.length > 1 ? ` (and ${most.length - 1} of the same size)` : "";
  return { title: `Largest: ${name}, ${shapeOf(step.shape, sizes).map(counted).join(" × ")}${more}`,
    text: `${stage.title}: ${rounded(n)} numbers, ${bytes(WIDTHS[step.kind] * n)} in ${step.kind}. The model has ${rounded(sum.parameters)} parameters; `
      + `one pass takes ${rounded(sum.products)} multiply-adds.` };
}

// What stands below a chosen tensor: its line of code, and its costs with the reader's numbers put in.
function detail(step, stage, sizes) {
  const times = stage.repeated ? `, in each of ${sizes.L} layers` : "", n = entries(step.shape, sizes);
  const line = (name, content) => html("p", {}, html("b", { textContent: `${name} ` }), content);
  return html("td", { colSpan: 3 }, ...(step.line ? [html("p", { className: "tracer-code" }, html("code", { textContent: step.line }),
    html("small", { textContent: ` ${step.where}` }))] : []),
  line("Numbers", `${worked(step.shape.join("·"), sizes)}, ${bytes(WIDTHS[step.kind] * n)} in ${step.kind}`),
  ...(step.parameters ? [line("Parameters", worked(step.parameters, sizes) + times)] : []),
  ...(step.products ? [line("Multiply-adds", worked(step.products, sizes) + times)] : []));
}

function controlsOf(data, change, light, choose, part) {
  const preset = select([...data.presets.map(([name]) => [name, name]), [OWN, OWN]], choose);
  const parts = select([...data.stages.map(({ title }) => [title, title]), [WHOLE, WHOLE]], part);
  const fields = Object.fromEntries(LETTERS.map(letter => {
    const field = numberField(() => change(), { min: 1, max: 1e6, step: 1, name: letter, readOnly: letter === "K" });
    field.addEventListener("focus", () => light(letter));
    return [letter, field];
  }));
  const labels = LETTERS.map(letter => html("label", {}, html("span", {}, html("code", { textContent: letter }), ` ${MEANS[letter]}`), fields[letter]));
  const element = html("div", { className: "tracer-controls" }, labelled("model", preset, { className: "tracer-menu" }),
    labelled("part of the way", parts, { className: "tracer-menu" }), ...labels);
  return { element, preset, parts, fields };
}

// The three lines above the table.
function saidOf(stages, { problem, sizes, lit }) {
  if (problem) return ["These numbers make no model", problem, "The grey table below still has the last numbers that made a model."];
  const { title, text } = headline(stages, sizes);
  return [title, text, `${placesOf(stages, lit)} The bars compare the numbers in the tensors below.`];
}

// Fields whose numbers make no model, and the results that are then not theirs.
function mark(fields, wrong, results) {
  for (const [letter, field] of Object.entries(fields)) field.setAttribute("aria-invalid", String(wrong.includes(letter)));
  results.classList.toggle("stale", wrong.length > 0);
  results.inert = wrong.length > 0;
}

function tracer(box) {
  const data = JSON.parse(box.querySelector(".tracer-data").textContent), all = data.stages.flatMap(({ steps }) => steps);
  const state = { lit: "K", chosen: "self.front", part: data.stages[1].title, sizes: null, problem: "" }, group = unique("tensor");
  const table = html("table", { className: "tracer-table" }), title = html("p", { className: "tracer-title" }), answer = readout("p", { className: "live-status" });
  const controls = controlsOf(data, change, light, choose, part => { state.part = part; rows(); }), places = readout("p", { className: "live-caption" });
  const more = button("next tensor", () => {
    const at = (all.findIndex(({ key }) => key === state.chosen) + 1) % all.length, stage = data.stages.find(({ steps }) => steps.includes(all[at]));
    state.chosen = all[at].key;
    if (state.part !== WHOLE) state.part = controls.parts.value = stage.title;
    rows();
  });
  const results = html("div", {}, table, more);

  function change() {
    const read = Object.fromEntries(LETTERS.filter(letter => letter !== "K").map(letter => [letter, +controls.fields[letter].value]));
    const { sizes, problem, letters: wrong = [] } = completed(read);
    const fits = data.presets.find(([, preset]) => Object.entries(preset).every(([letter, n]) => read[letter] === n));
    controls.preset.value = fits ? fits[0] : OWN;
    controls.fields.K.value = sizes ? sizes.K : "";
    state.problem = problem;
    state.sizes = sizes ?? state.sizes;
    mark(controls.fields, wrong, results);
    rows();
  }
  function choose(name) {
    const preset = data.presets.find(one => one[0] === name);
    if (!preset) { controls.fields.D.focus(); return; }
    for (const [letter, n] of Object.entries(preset[1])) controls.fields[letter].value = n;
    change();
  }
  function light(letter) { state.lit = letter; rows(); }

  function row(step, stage, most) {
    const radio = html("input", { type: "radio", name: group, value: step.key, checked: step.key === state.chosen });
    radio.addEventListener("change", () => { state.chosen = step.key; rows(); });
    const n = entries(step.shape, state.sizes), bar = html("i", { className: "tracer-bar" });
    bar.style.width = `${Math.max(100 * n / most, 0.5)}%`;
    const line = html("tr", { className: step.key === state.chosen ? "chosen" : "" },
      html("td", {}, html("label", {}, radio, html("span", {}, ...withCode(step.name)))), html("td", {}, letters(step.shape, state.lit)),
      html("td", {}, shapeOf(step.shape, state.sizes).map(counted).join(", "), bar));
    return step.key === state.chosen ? [line, html("tr", { className: "tracer-detail" }, detail(step, stage, state.sizes))] : [line];
  }
  function rows() {
    const { sizes } = state, focused = table.contains(document.activeElement);
    const shown = data.stages.filter(stage => state.part === WHOLE || stage.title === state.part), most = largest(shown, sizes)[0].entries;
    table.replaceChildren(html("caption", { className: "live-hidden", textContent: "Tensors with their shapes" }),
      html("thead", {}, html("tr", {}, ...["tensor", "shape", "your numbers"].map(textContent => html("th", { textContent, scope: "col" })))),
      ...shown.map(stage => html("tbody", {}, html("tr", {}, html("th", { colSpan: 3, scope: "rowgroup",
        textContent: stage.repeated ? `${stage.title}, in each of ${sizes.L} layers` : stage.title })), ...stage.steps.flatMap(step => row(step, stage, most)))));
    if (focused) table.querySelector("input:checked")?.focus();
    [title.textContent, answer.textContent, places.textContent] = saidOf(data.stages, state);
  }

  for (const [letter, n] of Object.entries({ ...data.start, ...data.presets[0][1] })) controls.fields[letter].value = n;
  controls.parts.value = state.part;
  box.replaceChildren(controls.element, title, answer, places, results);
  change();
  box.dataset.state = "done";
}

livePanels({ shapes: tracer });
