// The search answers while one types: its page stands in the dialog, also where the book is a folder on a disk.
(() => {
  const root = document.documentElement;
  if (window !== window.top) { // the page of the search, in a dialog
    root.dataset.inside = "yes";
    document.head.append(Object.assign(document.createElement("base"), { target: "_top" }));
    const close = () => parent.postMessage({ annotatedSearchEnds: true }, "*");
    addEventListener("keydown", event => { if (event.key === "Escape") close(); });
    addEventListener("click", event => { if (event.target.closest?.("a[href]")) close(); });
    addEventListener("message", ({ data }) => { if (typeof data?.annotatedSearch === "string") globalThis.annotatedSearchFor?.(data.annotatedSearch); });
    return;
  }
  const dialog = document.getElementById("pst-search-dialog"), input = dialog?.querySelector("input[type=search]"), REST = 200, FEWEST = 2;
  if (!input) return;
  const KEPT = "annotated-search"; // the query stays while the tab does: a reader goes from hit to hit
  let frame, waiting;
  function keep(text) { try { sessionStorage.setItem(KEPT, text); } catch { /* private */ } }
  try { input.value ||= sessionStorage.getItem(KEPT) ?? ""; } catch { /* private */ }
  // Escape would empty the field first.
  input.addEventListener("keydown", event => { if (event.key === "Escape") { event.preventDefault(); dialog.close(); } });
  function ask() {
    const text = input.value.trim(), page = new URL(`${root.dataset.content_root || "./"}search.html`, location.href);
    page.search = new URLSearchParams({ q: text });
    keep(text);
    if (frame) frame.hidden = text.length < FEWEST;
    if (text.length < FEWEST) return;
    if (frame) { frame.contentWindow.postMessage({ annotatedSearch: text }, "*"); return; }
    frame = Object.assign(document.createElement("iframe"), { className: "search-answers", title: "What was found", src: page.href });
    frame.addEventListener("load", () => { if (input.value.trim() !== text) ask(); }, { once: true });
    dialog.append(frame);
  }
  addEventListener("message", ({ data }) => { if (data?.annotatedSearchEnds) dialog.close(); });
  input.addEventListener("focus", () => { if (!frame && input.value) { input.select(); ask(); } });
  input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, REST); });
})();
