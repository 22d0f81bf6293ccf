// Live panels of the chapter on parsing: a sentence of the reader's, parsed in the page; and an inspector of bracket strings.
import { button, field, group, html, labelled, radios, select, tick, unique } from "../../viz/controls.js";
import { livePanels, nextTask, panel, stream } from "../../viz/engine/panel.js";
import { caption, nats } from "../../viz/engine/views.js";
import { loaderOf } from "../../viz/engine/loader.js";
import { EDITS, differencesOf, verdictOn } from "./inspector.js";
import { pennWords, readLinear, tokensOf } from "./linear.js";
import { EXAMPLES, TREES } from "./examples.js";
import { LinkedView } from "./picture.js";
import { Parser, sayParse } from "./parser.js";

export const loadParser = loaderOf("parser.js", "annotatedParser", model => new Parser(model));
const SEARCHING = "Searching …";
const SEARCHES = [["1", "greedy"], ["4", "beam of 4"], ["21", "beam of 21, as in the paper"]];

function parsePanel(box) {
  const view = new LinkedView("the parse"), state = { size: 1, rule: false };
  const search = radios(unique("search"), SEARCHES, value => { state.size = Number(value); made.rerun(); });
  search.show("1");
  const rule = tick("only well-formed brackets", on => { state.rule = on; made.rerun(); });
  const controls = html("div", { className: "live-switches" }, group("Search", ...search.labels), rule.label, button("parse", () => made.rerun()));
  const made = panel(box, {
    examples: EXAMPLES, load: "asked", loader: () => { made.say("The parser is being loaded …"); return loadParser(); }, controls: [controls],
    output: [caption("The bracket string as the parser writes it, and its tree. Point at a bracket or at a constituent."), view.element],
    async run({ engine: parser, text, isCurrent, say }) {
      const { words, unknown } = parser.read(text);
      say(SEARCHING); // the verdict on the tree before must not stand beside the new one
      await nextTask();
      if (!isCurrent()) return;
      const found = await stream(parser.parse(text, state), ({ tokens }) => view.show(readLinear(tokens), tokens, words, { growing: true }), isCurrent);
      if (!found) return;
      view.show(found.tree, found.tokens, words);
      const known = TREES.find(({ sentence }) => sentence === text.trim());
      say(sayParse(found, unknown, nats, known ? tokensOf(known.form) : null));
    },
  });
  const [first] = TREES, tokens = tokensOf(first.form), words = pennWords(first.sentence);
  view.show(readLinear(tokens, words), tokens, words);
  made.say(`The tree of “${first.sentence}” as the parser writes it. For a sentence of your own the page loads the parser.`);
}

function inspectorPanel(box) {
  let tree = TREES[0], words = pennWords(tree.sentence);
  const view = new LinkedView("the edited tree"), verdict = html("p", { className: "parse-verdict", role: "status" }), lack = html("p", { className: "parse-lack" });
  const input = field(() => judge(), { rows: 4, maxLength: 1200, autocomplete: "off" });
  const write = tokens => { input.value = tokens.join(" "); judge(); };
  const menu = select(TREES.map(({ sentence }, i) => [String(i), sentence]), value => { tree = TREES[value]; words = pennWords(tree.sentence); back(); });
  const faults = select([["", "a fault …"], ...EDITS.map(([fault, what], i) => [String(i), `${fault}: ${what}`])],
    value => { if (value) write(EDITS[value][2](tokensOf(tree.form))); faults.value = ""; }, { "aria-label": "A fault to make" });
  const back = () => write(tokensOf(tree.form));
  function judge() {
    const tokens = tokensOf(input.value), gold = tokensOf(tree.form), { read, kind, text } = verdictOn(tokens, words, gold);
    const { wrong, lacks } = differencesOf(read, words, gold);
    view.show(read, tokens, words, { wrong });
    verdict.textContent = text;
    verdict.dataset.kind = kind;
    lack.textContent = wrong.size ? `${lacks} Constituents that the treebank's tree does not have are marked.` : lacks;
  }
  const fallback = box.querySelectorAll(":scope > .live-fallback");
  const made = html("div", {}, html("div", { className: "live-sentence" }, labelled("Sentence", menu)),
    labelled("Bracket string", input, { className: "parse-field" }), html("div", { className: "parse-edits" }, faults, button("the treebank's tree", back)), verdict, lack);
  box.replaceChildren(html("div", { className: "parse-inspector" }, made, view.element), ...fallback);
  box.dataset.state = "done";
  back();
}

livePanels({ parse: parsePanel, inspector: inspectorPanel });
