// Switches as controls: tick boxes for parts, a choice of the divisor, a button for every head.
import { button, group, html, radios, tick, unique } from "../controls.js";
import { caption, nats } from "./views.js";

// name: [label, what the part does]
const PART_LABELS = {
  positions: ["positions", "Add the sinusoids"],
  embedScale: ["√d_model", "Multiply embeddings by the root of d_model"],
  causal: ["causal mask", "The decoder may not look ahead"],
  residual: ["residuals", "Add the input of each sub-layer to its output"],
  norm: ["layer norm", "Normalise after each sub-layer"],
  feedForward: ["feed-forward", "Run the position-wise network"],
};
const DIVISOR_LABELS = [["root", "√d_k"], ["d_k", "d_k"], ["one", "1"]];
const KIND_LABELS = { encoder: "Encoder self-attention", decoder: "Decoder self-attention", cross: "Cross-attention" };
export const LAYERS = 3, HEADS = 4; // of the classroom model, each stack
const MOST_COST = 3; // nats from which a head's colour grows no further

// The places of all heads of one kind, or of all kinds: "cross.0.3" is the fourth of the first layer.
export const headPlaces = (kinds = Object.keys(KIND_LABELS)) => kinds.flatMap(kind => Array.from({ length: LAYERS * HEADS }, (_, i) =>
  `${kind}.${Math.floor(i / HEADS)}.${i % HEADS}`));

// As in the text: "cross-attention, layer 1, head 4".
export const placeName = place => {
  const [kind, layer, head] = place.split(".");
  return `${KIND_LABELS[kind]}, layer ${+layer + 1}, head ${+head + 1}`;
};

// "√d_k" with its index below the line.
export const withIndex = text => text.split(/(_\w+)/).map(part => part.startsWith("_") ? html("sub", { textContent: part.slice(1) }) : part);

// One button for each head, pressed while the head is on. `cost(place, change)` writes below it what its loss costs.
function headGrid(kinds, switches, run) {
  const buttons = new Map(headPlaces(kinds).map(place => {
    const number = html("span", { textContent: +place.split(".")[2] + 1 }), below = html("small");
    const made = button("", () => {
      switches.off[switches.off.has(place) ? "delete" : "add"](place);
      show();
      run();
    });
    made.append(html("span", { className: "live-hidden", textContent: placeName(place).slice(0, -1) }), number, " ", below);
    return [place, { made, below }];
  }));
  const show = () => { for (const [place, { made }] of buttons) made.setAttribute("aria-pressed", String(!switches.off.has(place))); };
  const row = (kind, l) => html("div", { className: "live-heads" }, html("span", { textContent: `layer ${l + 1}` }),
    ...Array.from({ length: HEADS }, (_, h) => buttons.get(`${kind}.${l}.${h}`).made));
  const title = "Heads: under each, how the log-probability of the whole model's translation changes when this head alone is off";
  const element = html("div", {}, caption(`${title}, in nats.`), html("div", { className: "live-grid" }, ...kinds.map(kind =>
    group(KIND_LABELS[kind], ...Array.from({ length: LAYERS }, (_, l) => row(kind, l))))));
  const cost = (place, change) => {
    const { made, below } = buttons.get(place), text = change === null ? "" : nats(change);
    below.textContent = text;
    made.style.setProperty("--cost", Math.min(1, Math.abs(change ?? 0) / MOST_COST).toFixed(2));
  };
  return { element, show, cost, places: [...buttons.keys()] };
}

// The controls for some `parts`: names of PART_LABELS, "divisor", "heads" or one kind of them, "heads:cross". `start` holds the
// switches at first. `run` is called after each change of `switches`; `set(values)` changes them from outside.
export function switchboard(parts, start, run) {
  const switches = { ...start, off: new Set(start.off) };
  const ticks = parts.filter(name => name in PART_LABELS).map(name => {
    const [text, title] = PART_LABELS[name], { input } = tick("", on => { switches[name] = on; run(); }, { name });
    return { name, input, label: html("label", { title }, input, html("span", {}, ...withIndex(text))) };
  });
  const divisor = parts.includes("divisor") && radios(unique("divisor"), DIVISOR_LABELS, value => { switches.divisor = value; run(); });
  if (divisor) for (const label of divisor.labels) label.lastChild.replaceWith(html("span", {}, ...withIndex(label.lastChild.data)));
  const heads = parts.find(name => name.startsWith("heads"));
  const grid = heads && headGrid(heads.includes(":") ? [heads.split(":")[1]] : Object.keys(KIND_LABELS), switches, run);
  function show() {
    for (const { name, input } of ticks) input.checked = switches[name] ?? true;
    if (divisor) divisor.show(switches.divisor ?? "root");
    grid?.show();
  }
  function set(values) {
    for (const name of Object.keys(switches)) delete switches[name];
    Object.assign(switches, values, { off: new Set(values.off) });
    show();
    run();
  }
  show();
  const elements = [
    ...(ticks.length ? [group("Parts that are on", ...ticks.map(({ label }) => label))] : []),
    ...(divisor ? [group("Scores divided by", ...divisor.labels)] : []),
  ];
  for (const element of elements) element.classList.add("live-switches");
  return { switches, elements, set, grid };
}
