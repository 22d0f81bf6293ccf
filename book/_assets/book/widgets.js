// A small static host for anywidgets: no kernel, no require.js, no html-manager. Classic script, http and file://.
(async () => {
  const scripts = kind => [...document.querySelectorAll(`script[type="application/vnd.jupyter.widget-${kind}+json"]`)]
    .map(element => [element, JSON.parse(element.textContent)]);
  const state = scripts("state")[0]?.[1].state ?? {}, models = {}, modules = {};
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

  for (const [tag, { model_id: id }] of scripts("view")) {
    const { _esm: code, _css: style } = state[id]?.state ?? {};
    if (!code) continue;
    const notice = tag.parentElement.querySelector(".widget-notice"), el = document.createElement("div");
    el.className = "widget-host";
    tag.after(el);
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
