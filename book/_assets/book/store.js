// What the reader did, kept in this browser only: window.annotatedBook. In private mode it lasts as long as the page.
(() => {
  const KEY = "annotated-book", KINDS = ["read", "predictions", "quizzes"];
  const empty = () => ({ version: 1, read: {}, predictions: {}, quizzes: {} });
  const listeners = new Set();
  const ours = value => value?.version === 1 && KINDS.every(kind => value[kind] && typeof value[kind] === "object");
  let memory = empty(), kept = true;
  const load = () => {
    try {
      const found = JSON.parse(localStorage.getItem(KEY));
      if (ours(found)) memory = found; else if (found === null && kept) memory = empty();
    } catch { kept = false; /* private mode, or not ours: go on without */ }
    return memory;
  };
  const write = () => { try { localStorage.setItem(KEY, JSON.stringify(memory)); kept = true; } catch { kept = false; } };
  const save = () => { write(); listeners.forEach(f => f()); };
  let page = {};
  try { page = JSON.parse(document.getElementById("book-page").textContent); } catch { /* a page without a chapter */ }
  window.annotatedBook = {
    page,
    get: (kind, key) => load()[kind]?.[key], // a kind that came later, "live", is missing from what was kept before
    all: load,
    set(kind, key, value) {
      load();
      const values = memory[kind] ??= {};
      if (value === undefined) delete values[key]; else values[key] = value;
      save();
    },
    replace(value) { if (!ours(value)) throw new Error("not a file of this book"); memory = value; save(); },
    erase() { memory = empty(); save(); },
    kept: () => (load(), write(), kept),
    changed: f => listeners.add(f),
  };
  addEventListener("storage", event => event.key === KEY && listeners.forEach(f => f())); // another tab
})();
