// One attention map of the reader's own sentence, as a table: a row for each German token, a column for each token looked at.
import { html } from "../../viz/controls.js";

const bare = token => token.replaceAll("▁", "") || "␣";
const inPercent = weight => `${Math.round(100 * weight)} %`;

// The labels and weights of one head in a trace of the engine: place is "cross.2.0", kind, layer and head from 0.
export function mapOf(trace, place) {
  const [kind, layer, head] = place.split("."), l = +layer + 1;
  const [source, read, next] = [trace.sourceTokens, trace.readTokens, trace.nextTokens].map(tokens => tokens.map(bare)), { maps } = trace;
  if (kind === "encoder") return { queries: source, keys: source, weights: maps[`encoder.${l}.self_attention`][head] };
  if (kind === "decoder") return { queries: read, keys: read, weights: maps[`decoder.${l}.self_attention`][head] };
  return { queries: next, keys: source, weights: maps[`decoder.${l}.cross_attention`][head] };
}

export function mapView() {
  const element = html("div", { className: "head-map", tabIndex: 0, role: "region", "aria-label": "Attention map of the chosen head" });
  element.style.cssText = "overflow-x:auto;margin-top:0.4rem";
  function show(map, name) {
    const { queries, keys, weights } = map, row = (query, i) => html("tr", {}, html("th", { scope: "row", textContent: query }),
      ...keys.map((key, j) => {
        const weight = weights[i * keys.length + j], text = weight >= 0.095 ? `${Math.round(100 * weight)}` : "";
        const cell = html("td", { textContent: text, title: `${query} looks at ${key}: ${inPercent(weight)}` });
        cell.style.cssText = `background:rgba(59,131,214,${(0.85 * weight).toFixed(3)});text-align:center;min-width:1.6rem;padding:0.1rem 0.2rem`;
        return cell;
      }));
    const head = html("tr", {}, html("td"), ...keys.map(key => {
      const made = html("th", { scope: "col" }, html("span", { textContent: key }));
      made.style.cssText = "vertical-align:bottom;padding:0.2rem 0;font-weight:400";
      made.firstChild.style.cssText = "writing-mode:vertical-rl;transform:rotate(180deg);max-height:8rem";
      return made;
    }));
    const table = html("table", {}, html("caption", { textContent: `${name}: weights in per cent, from each row to the columns` }),
      html("thead", {}, head), html("tbody", {}, ...queries.map(row)));
    table.style.cssText = "border-collapse:collapse;font-size:0.8rem;width:auto;margin:0";
    table.caption.style.cssText = "caption-side:top;text-align:left;font-weight:600";
    for (const th of table.querySelectorAll("tbody th")) th.style.cssText = "text-align:right;font-weight:400;padding:0 0.4rem;white-space:nowrap";
    element.replaceChildren(table);
  }
  return { element, show };
}
