// Live panels of chapter 6: the reader's own sentence in the page's two pictures, the head and the desk.
import { livePanels, panel } from "../../viz/engine/panel.js";
import { tellWidget } from "../../viz/own_sentence.js";

const EXAMPLES = ["The grandmother opened the green school bag.", "The small dog sees the cat.", "The children do not eat the cold soup.",
  "Because the teacher sleeps, the children sing."];

// A panel that has no picture of its own: `name` is that of the widget below it.
const feeds = (name, options, told) => box => panel(box, {
  examples: EXAMPLES, ...options,
  run({ engine, text, target, say }) {
    const found = engine.trace(text, target || null);
    tellWidget(name, { ...found, tensors: engine.transformer.tensors });
    say(told(engine, found, target));
  },
});

const german = (engine, { next }) => engine.tokenizer.decode(next.slice(0, -1));

livePanels({
  head: feeds("head", {}, (engine, { source }) => `The picture below shows this sentence: ${source.length} tokens, the end token included.`),
  desk: feeds("desk", { target: "" }, (engine, found, target) => target
    ? `The decoder reads your German sentence: ${found.read.length} tokens, the start token included.`
    : `With no German sentence given, the decoder reads the model’s own translation: ${german(engine, found)}`),
});
