// Machine of figure 1 as a widget of a notebook: sentences that the library recorded, and a menu of them.
import { html, onTraits, optionsOf, select, setter, unique } from "../../viz/controls.js";
import { bytesOf } from "../../viz/drawing.js";
import { machine } from "../../viz/figure_one/machine.js";
import { recordedMaps, recordedMatrix } from "../../viz/figure_one/tensors.js";

// The traits of a model as the state of a machine.
export function recordedState(model) {
  const set = setter(model);
  let sentence;
  const read = () => {
    const bytes = bytesOf(model.get("data")), entry = model.get("sentences")[model.get("sentence")];
    sentence = { ...entry, matrix: name => recordedMatrix(bytes, entry.tensors[name]), maps: name => recordedMaps(bytes, entry.maps[name]) };
  };
  read();
  return {
    set, get: name => name === "sentence" ? sentence : model.get(name),
    on(names, hear) {
      onTraits(model, names, () => { if (names.includes("sentence")) read(); hear(); });
      if (names.includes("sentence")) onTraits(model, ["data", "sentences"], () => { read(); hear(); });
    },
  };
}

function render({ model, el }) {
  const state = recordedState(model), id = unique("sentence");
  const menu = select([], value => state.set({ sentence: +value, step: 0 }), { id });
  const list = () => {
    menu.replaceChildren(...optionsOf(model.get("sentences").map((other, i) => [i, other.text])));
    menu.value = model.get("sentence");
  };
  const { element, stop } = machine({ boxes: model.get("boxes"), sizes: model.get("sizes") }, model.get("drawing"), state);
  onTraits(model, ["sentences", "sentence"], list);
  list();
  el.append(html("div", { className: "sentence-menu" }, html("label", { htmlFor: id, textContent: "Sentence" }), menu), element);
  return stop;
}

export default { render };
