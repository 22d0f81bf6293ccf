// Draws a chart's specification, fitted to a width and in the colour of the text around it: for pages and notebooks.

const BESIDE = 72, LETTER = 6.8; // pixels: the axes of a view; a letter of a title, on average

function linesOf(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1), longer = line ? `${line} ${word}` : word;
    if (line && longer.length > most) lines.push(word); else lines[lines.length - 1] = longer;
  }
  return lines;
}

// A title becomes lines where it would be cut; of those that a menu chooses (`title_of` of titles.py) all become as many.
function wrapTitle(spec, width) {
  const text = spec.title?.text ?? spec.title, most = Math.max(20, Math.floor((width - BESIDE) / LETTER));
  const set = found => { if (spec.title.text) spec.title.text = found; else spec.title = found; };
  const chosen = /^(\{"(?:[^"\\]|\\.)*": ".*"\})\[([^[\]]+)\]$/s.exec(text?.expr);
  if (typeof text === "string" && text.length > most) set(linesOf(text, most));
  if (!chosen) return;
  const lines = Object.entries(JSON.parse(chosen[1])).map(([option, one]) => [option, linesOf(one, most)]), longest = Math.max(...lines.map(([, some]) => some.length));
  const padded = Object.fromEntries(lines.map(([option, some]) => [option, [...some, ...Array(longest - some.length).fill("")]]));
  set({ ...text, expr: `${JSON.stringify(padded)}[${chosen[2]}]` });
}

// Concatenated views cannot follow their container by themselves: Vega-Lite wants numbers. Nor can a picture that keeps its
// shape: `aspect` is its height over its width, `widest` where it stops, `beside` the room of its axis.
// `static_fallback.py` does the same.
export function fit(spec, width) {
  wrapTitle(spec, width);
  const { columns, fit, aspect, widest, beside = 10 } = spec.usermeta ?? {};
  if (aspect) {
    spec.width = Math.min(widest, width - beside);
    spec.height = Math.round(spec.width * aspect);
  }
  if (columns) spec.columns = width >= 600 ? columns : 1;
  if (fit) for (const view of spec.vconcat) view.width = width - BESIDE;
  return spec;
}

// A picture whose size is given in numbers, `scale` times as large: its views and the squares that fill them, not its words.
export function grow(spec, scale) {
  if (Array.isArray(spec)) for (const part of spec) grow(part, scale);
  else {
    for (const size of ["width", "height"]) {
      if (typeof spec[size] === "number") spec[size] = Math.round(spec[size] * scale);
      else if (spec[size]?.step) spec[size].step *= scale;
    }
    if (spec.mark?.type === "square" && spec.mark.size) spec.mark.size *= scale ** 2; // an area
    for (const parts of ["layer", "concat", "hconcat", "vconcat", "spec"]) if (spec[parts]) grow(spec[parts], scale);
  }
  return spec;
}

// A canvas does not know the colour of the text around it.
function specOf(host, text, canvas, scale) {
  const coloured = canvas ? text.replaceAll('"currentColor"', JSON.stringify(getComputedStyle(host).color)) : text;
  const spec = fit(JSON.parse(coloured), host.clientWidth);
  return scale === 1 ? spec : grow(spec, scale);
}

// A slider over a list has the values in its label, as `steps` of parameters.py writes them: "length n [20 | 32 | 512]".
// Returns the label without them, and the values; none for other sliders.
export function valuesOf(label) {
  const found = /^(.*?)\s*\[([^[\]]*\|[^[\]]*)\]\s*$/.exec(label);
  return found ? { label: found[1], values: found[2].split("|").map(value => value.trim()) } : { label, values: [] };
}

// Lets the sliders over lists show their values in place of the index.
function showValues(stage, view) {
  for (const input of stage.querySelectorAll('.vega-bind input[type="range"]')) {
    const name = input.closest(".vega-bind").querySelector(".vega-bind-name"), { label, values } = valuesOf(name.textContent);
    if (!values.length) continue;
    name.textContent = label;
    input.nextElementSibling.hidden = true; // Vega writes the index there
    const shown = Object.assign(document.createElement("output"), { className: "vega-bind-value" });
    const show = index => {
      shown.textContent = values[index];
      input.setAttribute("aria-valuetext", values[index]);
    };
    input.after(shown);
    show(view.signal(input.name));
    view.addSignalListener(input.name, (_, index) => show(index));
  }
}

// The signals behind a parameter's controls: its own, or one for each field of a selection that menus and clicks set.
const signalsOf = ({ name, bind }) => !bind ? [] : bind.input || typeof bind === "string" ? [name] : Object.keys(bind).map(field => `${name}_${field}`);

// Draws into a new element of `host`, in place of `before`, which is out of the way and not away: it comes back if
// drawing fails. What the reader had set on the controls of an `old` drawing is set again.
export async function drawIn(host, before, text, canvas, old, scale = 1) {
  const stage = Object.assign(document.createElement("div"), { className: "chart-stage" });
  host.append(stage);
  const spec = specOf(host, text, canvas, scale), bound = (spec.params ?? []).flatMap(signalsOf);
  const keep = old && bound.map(name => [name, old.view.signal(name)]);
  try {
    if (before) before.style.display = "none";
    const result = await vegaEmbed(stage, spec, { renderer: canvas ? "canvas" : "svg", actions: false });
    showValues(stage, result.view);
    for (const [name, value] of keep ?? []) result.view.signal(name, value);
    if (keep) await result.view.runAsync();
    return { stage, result };
  } catch (error) {
    stage.remove();
    throw error;
  } finally {
    if (before) before.style.display = "";
  }
}
