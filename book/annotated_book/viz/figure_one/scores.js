// Scores and probabilities of one step of writing: bars, and a histogram of all scores.
import { html } from "../controls.js";
import { svg } from "../drawing.js";
import { share } from "./pictures.js";

const remark = textContent => html("p", { className: "note", textContent });

// The largest scores of a step, or the most probable tokens.
export function barsOf({ top, counts }, [low, high], vocabulary, softmax) {
  const parts = [remark(softmax ? "The most probable tokens of this step:" : "The largest scores of this step:")];
  for (const [token, p, logit] of top) {
    const width = Math.max(0, 100 * (softmax ? p : logit / high));
    parts.push(html("div", { className: "bar" }, html("b", { textContent: token }),
      html("span", { className: "track" }, html("span", { style: `width:${width}%` })),
      html("span", { textContent: softmax ? share(p) : logit.toFixed(1) })));
  }
  if (softmax) return html("div", {}, ...parts);
  return html("div", {}, ...parts, remark(`All ${vocabulary.toLocaleString("en-GB")} scores; heights grow as the square root of the count:`),
    histogram(counts, [low, high], vocabulary));
}

function histogram(counts, [low, high], vocabulary) {
  const most = Math.max(...counts), picture = svg("svg", { viewBox: "0 0 280 84", role: "img", class: "histogram",
    "aria-label": `Histogram of the ${vocabulary} scores of this step, from ${low.toFixed(0)} to ${high.toFixed(0)}` });
  counts.forEach((count, i) => { // the root makes a bar of one token visible beside one of hundreds
    const height = 64 * Math.sqrt(count / most);
    picture.append(svg("rect", { x: 10 * i + 1, y: 66 - height, width: 8, height }));
  });
  picture.append(svg("text", { x: 0, y: 80 }, low.toFixed(0)), svg("text", { x: 280, y: 80, "text-anchor": "end" }, high.toFixed(0)),
    svg("text", { x: 140, y: 80, "text-anchor": "middle" }, "score"));
  return picture;
}
