// What the tests ask of JupyterLab's page; `jupyterapp` is JupyterLab itself, which the test's server exposes.

const lab = {
  panel: () => window.jupyterapp.shell.currentWidget,
  command: async (name, options) => { await window.jupyterapp.commands.execute(name, options); },
  idle: () => lab.panel().sessionContext.session?.kernel?.status === "idle",
  isOpen: path => lab.panel()?.context?.path === path && lab.idle(),

  async close() {
    await lab.panel().sessionContext.shutdown();
    lab.panel().dispose();
  },

  // Each cell of the notebook: what it is, what stands in it, and its outputs.
  cells: () => [...lab.panel().content.model.cells].map((cell, number) => ({
    number, type: cell.type, source: cell.sharedModel.getSource(), outputs: cell.outputs?.toJSON() ?? []
  })),

  // Scrolls to a cell, for JupyterLab draws what is in view, and returns the element of its outputs.
  async outputs(number) {
    const notebook = lab.panel().content, cell = notebook.widgets[number];
    await notebook.scrollToItem(number, "center");
    await cell.ready;
    cell.outputArea.node.scrollIntoView({ block: "center" });
    return cell.outputArea.node;
  },

  // Whether the charts of some outputs are drawn, so many as there should be.
  areDrawn(area, count) {
    const charts = [...area.querySelectorAll(".notebook-chart")];
    return charts.length === count && charts.every(chart => chart.dataset.ready);
  },

  measures: area => [...area.querySelectorAll(".notebook-chart")].map(chart => lab.measure(chart)),

  // Of a chart: the width of its views together, that of the cell, and how light its words and its ground are.
  measure(chart) {
    const drawing = chart.querySelector(".chart-stage svg, .chart-stage canvas"), ground = groundOf(chart);
    const isCanvas = drawing.tagName === "CANVAS";
    const views = isCanvas ? [drawing] : [...drawing.querySelectorAll("g.mark-group > g > path.background")];
    const boxes = views.map(view => view.getBoundingClientRect()).filter(box => box.width);
    const plot = Math.max(...boxes.map(box => box.right), 0) - Math.min(...boxes.map(box => box.left), 1e6);
    const word = isCanvas || (drawing.querySelector(".role-axis text") ?? drawing.querySelector("text"));
    const ink = isCanvas ? inkOf(drawing, ground) : lightness(getComputedStyle(word).fill);
    const cell = chart.closest(".jp-OutputArea-output").clientWidth;
    return { plot, cell, ink, ground, words: chart.textContent.slice(0, 60) };
  },
};

function lightness(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g);
  return (0.3 * r + 0.59 * g + 0.11 * b) / 255;
}

function groundOf(element) {
  const { backgroundColor: colour } = getComputedStyle(element);
  return colour === "rgba(0, 0, 0, 0)" ? groundOf(element.parentElement) : lightness(colour);
}

// Of a canvas's left edge, where an axis has its title: of its opaque grey pixels the one that differs most from the ground.
function inkOf(canvas, ground) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, 30, canvas.height);
  let ink = ground;
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b, a] = data.subarray(i, i + 4);
    const isGrey = a > 200 && Math.max(r, g, b) - Math.min(r, g, b) < 12;
    if (isGrey && Math.abs(r / 255 - ground) > Math.abs(ink - ground)) ink = r / 255;
  }
  return ink;
}

window.lab = lab;
