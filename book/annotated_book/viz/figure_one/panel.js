// Panel of a box of figure 1: what it does, the tensor that leaves it, and the lines of the library that make it.
import { html } from "../controls.js";
import { barsOf } from "./scores.js";
import { headsOf, tableOf } from "./tensor_table.js";

function codeOf(box) {
  const place = part => part.url ? html("a", { href: part.url, textContent: part.file }) : part.file;
  return html("details", { open: true }, html("summary", { textContent: "The code" }), ...box.code.map(part =>
    html("div", { className: "code" }, html("span", {}, `${part.name} · `, place(part)),
      html("pre", { tabIndex: 0 }, html("code", { textContent: part.lines.map(([n, line]) => `${n}  ${line}`).join("\n") })))));
}

export function titleOf(now, box) {
  const stack = box.name.startsWith("e") ? "Encoder" : "Decoder";
  return (box.name.includes("*") ? `${stack}, layer ${now.layer()}: ` : "") + box.label;
}

function factsOf(now, box) {
  const [letters, numbers] = now.shape(box), section = `section ${box.paper}`;
  const paper = box.paperUrl ? html("a", { href: box.paperUrl, textContent: section }) : section;
  const chapter = box.page ? [" · ", html("a", { href: box.page.url, textContent: box.page.title })] : [];
  return html("p", { className: "facts" }, html("b", { textContent: letters }), ` = ${numbers} · the paper, `, paper, ...chapter);
}

function tokensOf(now, box) {
  const ids = now.sentence()[`${box.side}Ids`];
  const items = now.tokens(box).map((token, i) => html("li", {}, html("b", { textContent: token }), ` ${ids[i]}`));
  const follow = () => items.forEach((item, i) => { item.className = now.isLater(box)(i) ? "not-yet" : ""; });
  return { elements: [html("ol", { className: "pieces" }, ...items)], follow };
}

function distributionOf(now, box) {
  const place = html("div");
  const follow = () => place.replaceChildren(
    barsOf(now.sentence().steps[now.step()], now.sentence().range, now.sizes.V, box.name === "softmax"));
  return { elements: [place], follow };
}

function tensorOf(now, box, held, width) {
  const heads = box.kind === "attention" ? [headsOf(now, box, held)] : [];
  const table = tableOf(now, box, held, width, () => heads.forEach(part => part.follow())), parts = [...heads, table];
  return { elements: parts.map(part => part.element), follow: () => parts.forEach(part => part.follow()) };
}

// The elements of the panel, and `follow`, which goes along with the step. `held.cursor` is the cell that is read out.
export function panelOf(now, box, held, width) {
  const make = box.name.endsWith("tokens") ? tokensOf : box.kind === "output" ? distributionOf : tensorOf;
  const { elements, follow } = make(now, box, held, Math.max(200, Math.min(520, width)));
  follow();
  return { elements: [html("p", { className: "title", textContent: titleOf(now, box) }), html("p", { textContent: box.what }),
    factsOf(now, box), ...elements, codeOf(box)], follow };
}
