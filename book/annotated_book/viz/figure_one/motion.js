// Motion of one step of writing: a dot goes up the decoder of figure 1, box by box, and takes the token back to the input.
import { isCalm } from "../controls.js";
import { svg } from "../drawing.js";

const PACE = 170; // milliseconds from box to box
const LOOP = [[372, 27], [372, 540]]; // the corners of the arrow back

// The stations of the dot: the boxes that are at work, and where it stands meanwhile.
export function route(boxes) {
  const middle = box => [box.place[0] + box.place[2] / 2, box.place[1] + box.place[3] / 2];
  const own = boxes.filter(box => box.side === "target"), stations = [];
  for (const box of own) {
    if (box.name === "target.positions") continue; // at work together with the embedding
    const at = box.name === "target.embedding" ? [box.name, "target.positions"] : box.name.includes("cross") ? [box.name, "memory"] : [box.name];
    stations.push({ at, place: middle(box) });
  }
  return [...stations, ...LOOP.map(place => ({ at: ["next"], place })), { at: ["target.tokens"], place: middle(own[0]) }];
}

// `play(done)` shows one step and calls `done` when the token has been written; at once for readers who want no motion.
export function motion(figure, groups, boxes) {
  const stations = route(boxes), dot = svg("circle", { class: "dot", r: 6, cx: 0, cy: 0, visibility: "hidden" });
  let timer = 0;
  figure.append(dot);
  const light = names => groups.forEach((part, name) => part.classList.toggle("active", names.includes(name)));
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
    light([]);
    dot.setAttribute("visibility", "hidden");
  };
  function visit(i, done) {
    if (i === stations.length) { stop(); done(); return; }
    const { at, place: [x, y] } = stations[i];
    light(at);
    figure.querySelector(".next").classList.toggle("active", at[0] === "next");
    dot.style.transition = i ? `transform ${PACE}ms linear` : "none";
    dot.style.transform = `translate(${x}px, ${y}px)`;
    dot.setAttribute("visibility", "visible");
    timer = setTimeout(() => visit(i + 1, done), PACE);
  }
  const play = done => {
    stop();
    if (isCalm()) done(); else visit(0, done);
  };
  return { play, stop, isMoving: () => timer !== 0 };
}
