// Live panels of the page: the factor that embeddings are multiplied by, and the shared matrix in its three uses.
import { button, group, html, radios, unique } from "../../viz/controls.js";
import { pixels } from "../../viz/drawing.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";
import { percent } from "../../viz/engine/views.js";
import { cosine, lengthOf, listed, outputs, wayIn, wayOut } from "./uses.js";

const USES = [["source", "a source token goes in"], ["target", "a target token goes in"], ["logits", "the next token comes out"]];
const POSITIVE = [59, 131, 214], NEGATIVE = [217, 115, 26];
const number = x => x.toFixed(1).replace("-", "−");

// A vector as a strip: a cell for each number, the fuller the larger; `most` is the number of a full cell.
function strip(vector, most) {
  const drawn = pixels(vector.length, 1, (_, j) => [...(vector[j] > 0 ? POSITIVE : NEGATIVE), 255 * Math.min(1, Math.abs(vector[j]) / most)]);
  drawn.className = "strip";
  return drawn;
}

const greatest = vectors => Math.max(...vectors.flatMap(vector => Array.from(vector, Math.abs)));

function line(name, vector, most, right = "", className = "") {
  return html("div", { className: `line ${className}` }, html("span", { textContent: name }), strip(vector, most), html("span", { className: "right" }, ...[right].flat()));
}

// The rows of E for the tokens of the sentence, and what becomes of the chosen one.
function drawIn(engine, ids, at) {
  const { transformer, tokenizer } = engine, { row, scaled, place, sum, share } = wayIn(transformer, ids[at], at);
  const rows = listed(ids, ids[at]).map(id => [id, wayIn(transformer, id, 0).row]), most = greatest(rows.map(([, vector]) => vector));
  const all = greatest([scaled, place]), names = tokenizer.readable(ids[at]), root = Math.sqrt(row.length);
  return {
    above: rows.map(([id, vector]) => id === ids[at]
      ? line(tokenizer.readable(id), vector, most, `row ${id}`, "chosen")
      : line(tokenizer.readable(id), vector, most, `cosine ${cosine(vector, row).toFixed(2).replace("-", "−")}`)),
    below: [line("the row", row, all, `length ${number(lengthOf(row))}`), line(`× √${row.length}`, scaled, all, `length ${number(lengthOf(scaled))}`),
      line("position", place, all, `length ${number(lengthOf(place))}`), line("their sum", sum, all, `word: ${percent(share)}`)],
    heads: ["Rows of E, each with its cosine to the chosen row", "On the way in, all four with one scale of colours"],
    said: `“${names}” selects row ${ids[at]}. The row times ${number(root)} has length ${number(lengthOf(scaled))}, and is ${percent(share)} of the sum, by squared length.`,
  };
}

// The decoder output after one token, and its dot products with all rows.
function drawOut(engine, found, at) {
  const { transformer, tokenizer, config } = engine, z = outputs(found, config.num_decoder_layers)(at), { top, rest } = wayOut(transformer, z);
  const rows = top.map(([id]) => wayIn(transformer, id, 0).row), most = greatest(rows), high = top[0][1];
  const bar = logit => html("span", { className: "bar", style: `width:${Math.max(0, 46 * logit / high).toFixed(1)}%` });
  return {
    above: [line("output z", z, greatest([z]), `length ${number(lengthOf(z))}`)],
    below: top.map(([id, logit, p], i) => line(tokenizer.readable(id), rows[i], most, [bar(logit), `${number(logit)}, ${percent(p)}`], i ? "" : "chosen")),
    heads: ["What the decoder returns", "The eight rows of E with the largest dot products with z: logit and probability"],
    said: `After “${tokenizer.readable(found.read[at])}” the largest logit is that of “${tokenizer.readable(top[0][0])}”. The other ${rest.count.toLocaleString("en-GB")} rows have logits ` +
      `from ${number(rest.low)} to ${number(rest.high)}, and share ${percent(rest.share)} of the probability.`,
  };
}

function sharedMatrix(box) {
  const tokens = html("div", { className: "live-tokens" }), picture = html("div", { className: "matrix" });
  let use = "source", place = 1, shown;
  const choice = radios(unique("use"), USES, value => { use = value; place = 1; draw(); });
  const uses = group("Use", ...choice.labels);
  uses.classList.add("live-switches");
  choice.show(use);
  function draw() {
    if (!shown) return;
    const { engine, found, say } = shown, ids = use === "source" ? found.source : found.read;
    place = Math.min(place, ids.length - 1);
    tokens.replaceChildren(...ids.map((id, i) => button(engine.tokenizer.readable(id), () => { place = i; draw(); }, { "aria-pressed": String(i === place) })));
    const { above, below, heads, said } = use === "logits" ? drawOut(engine, found, place) : drawIn(engine, ids, place);
    const caption = textContent => html("p", { className: "live-caption", textContent });
    picture.replaceChildren(caption(heads[0]), ...above, caption(heads[1]), ...below);
    say(said);
  }
  panel(box, {
    examples: ["The old king hears a bird.", "The grandmother opened the green school bag.", "The small dog sees the cat."],
    controls: [uses, tokens], output: [picture],
    run({ engine, text, say }) {
      shown = { engine, found: engine.trace(text), say };
      draw();
    },
  });
}

livePanels({
  root_d: box => switchPanel(box, { parts: ["embedScale"], start: { embedScale: false }, label: "Without the factor √d_model" }),
  shared_matrix: sharedMatrix,
});
