// Live panel of the page: any head silenced, on the reader's own sentence, and its map; the cards above silence heads here, too.
import { labelled, select } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";
import { headPlaces, placeName } from "../../viz/engine/switchboard.js";
import { mapOf, mapView } from "./map.js";

const FIRST = "cross.2.0";

function atlas(box) {
  const map = mapView();
  let found = null, known = new Set([FIRST]);
  const chosen = select(headPlaces().map(place => [place, placeName(place)]), () => draw());
  chosen.value = FIRST;
  chosen.style.maxWidth = "100%";
  const draw = () => {
    if (found) map.show(mapOf(found.engine.trace(found.text, found.whole.tokens, found.switches), chosen.value), placeName(chosen.value));
  };
  const made = switchPanel(box, {
    parts: ["heads"], wide: () => "The heads that this page names are the classroom model’s.", start: { off: [FIRST] }, label: "Without the heads that are off",
    examples: ["The baker buys the book.", "The baker will open the window.", "The king does not sleep.", "The grandmother opened the green school bag."],
    extra: result => {
      found = result;
      const fresh = [...result.switches.off].filter(place => !known.has(place));
      if (fresh.length) chosen.value = fresh.at(-1); // the head that was silenced last is shown
      known = result.switches.off;
      draw();
    },
  });
  const choice = labelled("Map of", chosen);
  choice.style.cssText = "display:flex;flex-wrap:wrap;min-width:0;gap:0.5rem;align-items:center;margin-top:0.8rem;font-weight:600";
  box.append(choice, map.element);
  document.addEventListener("annotated-head", ({ detail: { place, text } }) => {
    made.sentence.input.value = text;
    made.board.set({ off: [place] });
    chosen.value = place;
  });
  return made;
}

livePanels({ atlas });
