// Live panel of the page: each of the six feed-forward networks can be switched off, and stands with what its loss costs.
import { button, group, html } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel, verdict } from "../../viz/engine/switch_panel.js";
import { caption, nats } from "../../viz/engine/views.js";

// The networks by stack: [name of the switch, label].
export const NETWORKS = ["encoder", "decoder"].map(stack => [stack,
  [0, 1, 2].map(layer => [`${stack}.layers.${layer}.feed_forward`, `${layer + 1}`])]);
// The first three break without the encoder's networks; the last keeps its words.
const SENTENCES = ["The queen laughs at old stories.", "Who does not look for a parcel?",
  "Our bananas were riper than the cherries.", "The grandmother opened the green school bag."];
const GREATEST = 20; // nats from which a button's colour grows no further

// A button for each network, pressed while it is on, and one for all of a stack.
function networkButtons(off, run) {
  const made = new Map();
  const toggle = names => {
    const all = names.every(name => off.has(name));
    for (const name of names) off[all ? "delete" : "add"](name);
    show();
    run();
  };
  const rows = NETWORKS.map(([stack, networks]) => {
    const buttons = networks.map(([name, label]) => {
      const hidden = textContent => html("span", { className: "live-hidden", textContent });
      const below = html("small"), one = button("", () => toggle([name]));
      one.append(hidden(`${stack}, layer `), html("span", { textContent: label }), below, hidden(" nats without it"));
      made.set(name, { one, below });
      return one;
    });
    const both = button("all three", () => toggle(networks.map(([name]) => name)), { "aria-label": `all three of the ${stack}` });
    return group(`Feed-forward networks of the ${stack}, by layer`, html("div", { className: "live-heads" }, ...buttons, both));
  });
  const show = () => { for (const [name, { one }] of made) one.setAttribute("aria-pressed", String(!off.has(name))); };
  const cost = (name, change) => {
    const { one, below } = made.get(name);
    below.textContent = nats(change);
    one.style.setProperty("--cost", Math.min(1, Math.abs(change) / GREATEST).toFixed(2));
  };
  show();
  return { rows, show, cost, names: [...made.keys()] };
}

// What became of the translation, in a sentence.
export function networksVerdict(whole, found, loss, { off }) {
  if (!off.size) return `All networks are on. Log-probability of the translation: ${nats(loss.before)} nats.`;
  return `${off.size} of 6 networks off. ${verdict(whole, found, loss)}`;
}

// The networks as the board of a panel of switches.
function networkBoard(run) {
  const off = new Set(NETWORKS[0][1].map(([name]) => name)), networks = networkButtons(off, run);
  const key = caption("Under each network: how the log-probability of the whole model's translation changes, in nats, when this one alone is off.");
  function set(values) {
    off.clear();
    for (const name of values.off ?? []) off.add(name);
    networks.show();
    run();
  }
  return { switches: { off }, elements: [...networks.rows, key], set, networks };
}

function feedForward(box) {
  const made = switchPanel(box, {
    board: networkBoard, examples: SENTENCES, label: "Without the networks that are off", tell: networksVerdict,
    extra({ engine, text }) {
      const { names, cost } = made.board.networks;
      for (const name of names) cost(name, engine.loss(text, { off: new Set([name]) }).change);
    },
  });
}

livePanels({ feed_forward: feedForward });
