// Draws a chart's specification, fitted to a width and in the colour of the text around it: for pages and notebooks.

// Concatenated views cannot follow their container by themselves: Vega-Lite wants numbers.
export function fit(spec, width) {
  const { columns, fit } = spec.usermeta ?? {};
  if (columns) spec.columns = width >= 600 ? columns : 1;
  if (fit) for (const view of spec.vconcat) view.width = width - 72;
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

// Draws into a new element of `host`, in place of `before`, which is out of the way and not away: it comes back if
// drawing fails. What the reader had set on the controls of an `old` drawing is set again.
export async function drawIn(host, before, text, canvas, old, scale = 1) {
  const stage = Object.assign(document.createElement("div"), { className: "chart-stage" });
  host.append(stage);
  const spec = specOf(host, text, canvas, scale), bound = (spec.params ?? []).filter(p => p.bind);
  const keep = old && bound.map(p => [p.name, old.view.signal(p.name)]);
  try {
    if (before) before.style.display = "none";
    const result = await vegaEmbed(stage, spec, { renderer: canvas ? "canvas" : "svg", actions: false });
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
