// State of a machine, and what it means: the sentence, the layer, the step of writing, the tensors of a box.
import { clamp } from "../controls.js";

// A state without a kernel: `get` and `set` values by name, `on` hears of changes. Functions are called once for each `set`.
export function localState(values) {
  const listeners = [];
  return {
    get: name => values[name],
    set(changes) {
      const changed = Object.keys(changes).filter(name => values[name] !== changes[name]);
      Object.assign(values, changes);
      for (const [names, hear] of listeners) if (changed.some(name => names.includes(name))) hear();
    },
    on: (names, hear) => { listeners.push([names, hear]); },
  };
}

// `sentence` in the state holds tokens (`source`, `target`, `next`), their ids, `steps` and `range` of the distributions,
// and two functions, `matrix` and `maps`, that find a tensor by the name of its box with the number of the layer.
export function readingOf({ boxes, sizes }, state) {
  const sentence = () => state.get("sentence"), layer = () => state.get("layer");
  const steps = () => sentence().next.length, step = () => clamp(state.get("step"), steps());
  const full = box => box.name.replace("*", layer());
  const now = {
    boxes, sentence, steps, step, layer,
    get sizes() { return { ...sizes, ...sentence()?.sizes }; }, // those of the model that the sentence went through
    chosen: () => boxes.find(box => box.name === state.get("box")) ?? boxes[0],
    tokens: box => sentence()[box.side],
    matrix: box => sentence().matrix(full(box)),
    maps: box => sentence().maps(full(box)),
    keys: box => sentence()[box.name.includes("cross") ? "source" : box.side],
    // Rows after the current step do not exist yet while a sentence is written.
    isLater: box => row => box.side === "target" && row > step(),
    shape: box => {
      const size = { ...now.sizes, S: sentence().source.length, T: sentence().target.length };
      return [box.shape, box.shape.slice(1, -1).split(", ").map(letter => size[letter].toLocaleString("en-GB")).join(" × ")];
    },
  };
  return now;
}

// A row of the decoder has two names: the token that was read, and the one that is about to be written.
export const rowName = (now, box, row) => box.side === "source" ? `“${now.sentence().source[row]}”`
  : `Having read “${now.sentence().target[row]}”, about to write “${now.sentence().next[row]}”`;
