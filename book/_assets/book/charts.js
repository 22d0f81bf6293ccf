// Draws the charts of a page when they come into view. A classic script: works over http and from file://.
// The picture that came with the page stays, for print, and for charts that cannot be drawn.
/* global drawIn */
(() => {
  const base = document.currentScript.src.replace(/book\/[^/]*$/, "");
  const REST = 200; // milliseconds
  const views = new Map(); // figure -> { result, width }
  let library;
  const load = () => library ??= new Promise((resolve, reject) => document.head.append(
    Object.assign(document.createElement("script"), { src: base + "vendor/vega.js", onload: resolve, onerror: reject })));
  // The drawing is laid out by the width of its words, so their font comes first; without it, another one is measured.
  const letters = () => Promise.allSettled(["12px", "600 14px"].map(size => document.fonts.load(`${size} "Book Sans"`)));

  // Puts the picture that came with the page aside: it is seen in print only.
  function keepStill(before) {
    const still = document.createElement("div");
    still.className = "chart-still";
    still.setAttribute("aria-hidden", "true");
    before.replaceWith(still);
    still.append(before);
  }

  async function draw(figure) {
    await Promise.all([load(), letters()]);
    const host = figure.querySelector(".chart-host"), canvas = figure.dataset.renderer === "canvas", old = views.get(figure);
    const width = figure.clientWidth, before = old ? host.querySelector(".chart-stage") : host.firstElementChild;
    const { result } = await drawIn(host, before, figure.querySelector("script").textContent, canvas, old?.result);
    if (old) { old.result.finalize(); before.remove(); } else { keepStill(before); sizes.observe(figure); }
    host.removeAttribute("role"); // Vega gives the drawing a role and a label of its own
    host.removeAttribute("aria-label");
    host.style.minHeight = "";
    host.querySelectorAll('[class*="_brush"]').forEach(e => e.setAttribute("aria-hidden", "true"));
    if (figure.scrollWidth > figure.clientWidth) figure.tabIndex = 0;
    figure.chart = result.view;
    views.set(figure, { result, width });
    figure.dataset.ready = "yes";
  }

  // One chart at a time may fail; the reader learns that the picture stands still, and the others are drawn.
  const attempt = figure => draw(figure).catch(error => {
    console.warn("a chart stays still:", error);
    if (figure.querySelector(".chart-notice")) return;
    const note = Object.assign(document.createElement("p"), { className: "chart-notice",
      textContent: "The interactive version did not load. This picture stands still." });
    note.setAttribute("role", "note");
    figure.append(note);
    figure.dataset.failed = "yes";
  });

  const seen = new IntersectionObserver(entries => entries.forEach(entry => {
    if (entry.isIntersecting) { seen.unobserve(entry.target); attempt(entry.target); }
  }), { rootMargin: "200px" });
  document.querySelectorAll("figure.chart").forEach(figure => seen.observe(figure));

  // SVG follows the theme through currentColor; a canvas must be drawn again, and so must what was fitted to a width.
  new MutationObserver(() => views.forEach((_, figure) => figure.dataset.renderer === "canvas" && attempt(figure)))
    .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  // A chart that follows its width is drawn anew when its figure has kept another width for a while: a window that grows,
  // or a sidebar that slides away, passes through many. One that is out of sight waits until it comes into view.
  const follows = figure => /"usermeta"|"container"/.test(figure.querySelector("script").textContent);
  const pauses = new WeakMap();
  const sizes = new ResizeObserver(entries => entries.forEach(({ target: figure }) => {
    clearTimeout(pauses.get(figure));
    pauses.set(figure, setTimeout(() => {
      const drawn = views.get(figure), width = figure.clientWidth;
      if (drawn && width && width !== drawn.width && follows(figure)) seen.observe(figure);
    }, REST));
  }));
})();
