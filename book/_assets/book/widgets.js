// A small static host for anywidgets: no kernel, no require.js, no html-manager. Classic script, http and file://.
(async () => {
  const scripts = kind => [...document.querySelectorAll(`script[type="application/vnd.jupyter.widget-${kind}+json"]`)];
  // Heavy data are in a file of their own, which waits for the text.
  const [tag] = scripts("state");
  if (!tag) return;
  const later = () => new Promise((resolve, reject) => document.head.append(
    Object.assign(document.createElement("script"), { src: tag.dataset.file, onload: resolve, onerror: reject })));
  if (tag.dataset.file) {
    if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done, { once: true }));
    await later().catch(() => console.warn("the data of this page's widgets did not load"));
  }
  const state = (tag.dataset.file ? window.annotatedWidgets : JSON.parse(tag.textContent))?.state ?? {}, models = {}, modules = {};
  const decode = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);

  // What anywidget's front end offers to a widget, without the two-way link to Python.
  const model = id => models[id] ??= (() => {
    const { state: saved, buffers = [] } = state[id], values = { ...saved }, listeners = {};
    for (const buffer of buffers) values[buffer.path[0]] = decode(buffer.data); // top-level bytes only
    return {
      get: key => values[key],
      set(key, value) {
        if (values[key] === value) return;
        values[key] = value;
        for (const f of new Set(listeners[`change:${key}`])) f(); // a copy: a listener may add another
      },
      on(event, f) { (listeners[event] ??= new Set()).add(f); },
      off(event, f) { listeners[event]?.delete(f); },
      save_changes() {}, send() {},
    };
  })();

  for (const view of scripts("view")) {
    const { model_id: id } = JSON.parse(view.textContent);
    const { _esm: code, _css: style } = state[id]?.state ?? {};
    if (!code) continue;
    const notice = view.parentElement.querySelector(".widget-notice"), el = document.createElement("div");
    el.className = "widget-host";
    view.after(el);
    try { // one widget may fail without the others
      if (style) el.before(Object.assign(document.createElement("style"), { textContent: style }));
      modules[code] ??= import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
      let module = (await modules[code]).default;
      if (typeof module === "function") module = await module();
      await module.initialize?.({ model: model(id) });
      await module.render({ model: model(id), el });
      el.dataset.ready = "yes";
      if (notice) notice.hidden = true; // comes back in print
    } catch (error) {
      console.warn("a widget did not start:", error);
      el.remove();
      if (notice) notice.textContent += " It did not start in this browser; the text and the cells around it stand without it.";
    }
  }
})();
