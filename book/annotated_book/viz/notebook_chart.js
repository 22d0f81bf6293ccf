// A chart in a live notebook: as wide as its cell, drawn anew when the cell gets another width, light or dark with it.
// What draws is large: it comes once into a page, for all the charts there. And it comes when a chart is drawn, not with
// this module, for a widget that needs more than two seconds to begin is given up.
const libraries = globalThis.annotatedLibraries ??= new Map();

async function load(model) {
  const name = model.get("library"); // IPY_MODEL_ and the number of the widget that has it for all charts
  const code = (await model.widget_manager.get_model(name.replace("IPY_MODEL_", ""))).get("code");
  if (!libraries.has(code)) libraries.set(code, import(URL.createObjectURL(new Blob([code], { type: "text/javascript" }))));
  return libraries.get(code);
}

const LEAST_CHANGE = 20; // pixels: a scroll bar that comes or goes is no other width
const LEAST_SHARE = 0.75; // of the cell's width; the columns of a book, which sizes in numbers are made for, are narrower

function render({ model, el }) {
  el.classList.add("notebook-chart");
  const text = model.get("specification"), { renderer, caption } = JSON.parse(text).usermeta ?? {}, canvas = renderer === "canvas";
  let drawn, note, width = 0, colour, waiting, queue = Promise.resolve();

  const drawOnce = async scale => {
    const { drawIn } = await load(model);
    const { stage, result } = await drawIn(el, drawn?.stage, text, canvas, drawn?.result, scale);
    drawn?.result.finalize();
    drawn?.stage.remove();
    drawn = { stage, result };
    return LEAST_SHARE * width / stage.querySelector("svg, canvas").getBoundingClientRect().width;
  };
  const draw = async () => {
    if (!el.clientWidth) return; // not in the page, or in a part of it that is hidden: the observers will tell
    width = el.clientWidth;
    colour = getComputedStyle(el).color;
    try {
      const scale = await drawOnce(1);
      if (scale > 1) await drawOnce(scale);
      if (caption && !note) el.append(note = Object.assign(document.createElement("p"), { innerHTML: caption }));
      else if (note) el.append(note); // below the new drawing
      el.dataset.ready = "yes";
    } catch (error) {
      if (!drawn) el.textContent = `This chart could not be drawn: ${error.message}`;
    }
  };
  const look = () => {
    const isOld = canvas && getComputedStyle(el).color !== colour; // an SVG follows the colour of the text by itself
    if (!isOld && Math.abs(el.clientWidth - width) < LEAST_CHANGE) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => { queue = queue.then(draw); }, drawn && !isOld ? 200 : 0);
  };

  const observers = [new ResizeObserver(look), new IntersectionObserver(look)];
  for (const observer of observers) observer.observe(el);
  // The style has a transition of the colour: so a chart in view hears of each change, whichever way a notebook has of
  // changing its theme, and one that is out of view looks when it comes into view.
  el.addEventListener("transitionend", look);
  return () => {
    for (const observer of observers) observer.disconnect();
    drawn?.result.finalize();
  };
}

export default { render };
