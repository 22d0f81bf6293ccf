// Live panel of the page: residual connections and layer normalisation taken out, and how alike the words become.
import { html } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { caption } from "../../viz/engine/views.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";
import { meanCosine, STATES } from "./likeness.js";

// Two bars for each state of the stream: the whole model's, and the changed one's.
function likenessView() {
  const list = html("ol", { className: "live-bars", "aria-label": "Mean cosine between the words' vectors, after each sub-layer of the encoder" });
  const bar = (value, colour) => html("span", { className: "live-bar",
    style: `--p:${Math.max(0, value).toFixed(3)};background:${colour};height:0.45rem;display:block` });
  const number = value => value.toFixed(2).replace("-", "−");
  function show(engine, text, target, switches) {
    const [whole, changed] = [{}, switches].map(set => engine.trace(text, target, set).boxes);
    list.replaceChildren(...STATES.map(([label, name]) => {
      const values = [meanCosine(whole[name]), meanCosine(changed[name])];
      return html("li", { style: "grid-template-columns:9rem 1fr 3.5rem" }, html("span", { textContent: label }),
        html("span", {}, bar(values[0], "var(--live-soft)"), bar(values[1], "var(--live-change)")),
        html("span", { textContent: number(values[1]), title: `${number(values[0])} in the whole model` }));
    }));
  }
  return { list, show };
}

function residualNorm(box) {
  const likeness = likenessView();
  const made = switchPanel(box, {
    parts: ["residual", "norm"], start: { residual: false }, label: "Changed model",
    extra: ({ engine, text, switches, whole }) => likeness.show(engine, text, whole.tokens, switches),
  });
  box.append(caption("How alike the words are after each sub-layer of the encoder: mean cosine between their vectors, 1 for the same "
    + "direction. Grey: whole model. Orange, with its number: changed model."), likeness.list);
  return made;
}

livePanels({ residual_norm: residualNorm });
