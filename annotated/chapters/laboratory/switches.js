// The switches of the laboratory: parts of the model, the divisor of the scores, and every head by itself.
import { button, group, html, select, tick } from "../../viz/controls.js";

const SWITCHES = [
  ["positions", "positions", "Add the sinusoids"], ["embedScale", "√d_model", "Multiply embeddings by the root of d_model"],
  ["causal", "causal mask", "The decoder may not look ahead"], ["residual", "residuals", "Add the input of each sub-layer to its output"],
  ["norm", "layer norm", "Normalise after each sub-layer"], ["feedForward", "feed-forward", "Run the position-wise network"],
];
const DIVISORS = [["root", "√d_k"], ["d_k", "d_k"], ["one", "1"]];
const KINDS = [["encoder", "Encoder self-attention"], ["decoder", "Decoder self-attention"], ["cross", "Cross-attention"]];

// Whether the switches leave the model as the paper has it.
export const isPlain = ({ off, ...others }) => !off.size && Object.values(others).every(value => value === true || value === "root");

function headButton(kind, label, layer, head, switches, run) {
  const place = `${kind}.${layer}.${head}`;
  const made = button(head + 1, () => {
    const on = switches.off.has(place);
    switches.off[on ? "delete" : "add"](place);
    made.setAttribute("aria-pressed", String(on));
    run();
  }, { "aria-pressed": "true", "aria-label": `${label}, layer ${layer + 1}, head ${head + 1}` });
  return made;
}

function headGrid(config, switches, run) {
  const layers = { encoder: config.num_encoder_layers, decoder: config.num_decoder_layers, cross: config.num_decoder_layers };
  const row = (kind, label, layer) => html("div", { className: "laboratory-heads" }, html("span", { textContent: `layer ${layer + 1}` }),
    ...Array.from({ length: config.num_heads }, (_, head) => headButton(kind, label, layer, head, switches, run)));
  return html("div", { className: "laboratory-grid" }, ...KINDS.map(([kind, label]) =>
    group(label, ...Array.from({ length: layers[kind] }, (_, layer) => row(kind, label, layer)))));
}

// The switches as elements, and as the object that the model reads; `run` is called after each change.
export function switchboard(config, run) {
  const switches = { off: new Set() };
  const ticks = SWITCHES.map(([name, label, title]) => {
    const { input } = tick("", on => { switches[name] = on; run(); }, { checked: true, name });
    return { input, label: html("label", { title }, input, ` ${label}`) };
  });
  const divisor = select(DIVISORS, value => { switches.divisor = value; run(); }, { name: "divisor" });
  const grid = headGrid(config, switches, run);
  const reset = button("Put everything back", () => {
    for (const name of Object.keys(switches)) delete switches[name];
    switches.off = new Set();
    for (const { input } of ticks) input.checked = true;
    for (const head of grid.querySelectorAll("button")) head.setAttribute("aria-pressed", "true");
    divisor.value = "root";
    run();
  });
  const parts = group("Parts that are on", ...ticks.map(({ label }) => label), html("label", {}, "scores divided by ", divisor));
  parts.className = "laboratory-switches";
  const heads = html("details", {}, html("summary", { textContent: "Heads: switch off any of them" }), grid);
  return { switches, elements: [parts, heads, reset] };
}
