// The reader's own marks: chapters read, in the sidebar and on the progress map; saved, loaded and erased as one file.
(() => {
  const store = window.annotatedBook, { page } = store.page;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
  const today = () => new Date().toISOString().slice(0, 10);
  const answered = name => {
    const { predictions, quizzes, tries = {} } = store.all(); // tries came later
    const quiz = quizzes[name.quiz];
    const onPage = [...Object.keys(predictions), ...Object.keys(tries)].filter(key => key.startsWith(name.page + "#"));
    return onPage.length + Object.keys(quiz?.answers ?? {}).length;
  };

  // The button at the end of a chapter.
  const holder = document.querySelector(".mark-read"), button = holder?.querySelector("button");
  if (button) {
    holder.hidden = false;
    button.addEventListener("click", () => store.set("read", page, store.get("read", page) ? undefined : today()));
  }

  // Sidebar: a tick after each chapter that was read.
  const links = [...document.querySelectorAll(".bd-docs-nav a.internal")];
  const nameOf = link => link.href.startsWith(root) ? link.href.slice(root.length).replace(/\.html.*$/, "") : "";

  const map = document.querySelector(".progress-map");
  const show = () => {
    const { read } = store.all();
    if (button) {
      const done = Boolean(read[page]);
      button.setAttribute("aria-pressed", done);
      button.textContent = done ? "✓ Read" : "Mark as read";
    }
    for (const link of links) {
      const name = nameOf(link), old = link.querySelector(".read-mark");
      if (read[name] && !old) {
        const mark = Object.assign(document.createElement("span"), { className: "read-mark", textContent: " ✓" });
        mark.append(Object.assign(document.createElement("span"), { className: "visually-hidden", textContent: " read" }));
        link.append(mark);
      } else if (!read[name]) old?.remove();
    }
    if (map) showMap(read);
  };

  function showMap(read) {
    const rows = [...map.querySelectorAll("tr[data-page]")];
    for (const row of rows) {
      const name = row.dataset.page, total = +row.dataset.questions;
      row.querySelector(".mark-of-reading").textContent = read[name] ? `✓ ${read[name]}` : "not yet";
      const done = Math.min(total, answered({ page: name, quiz: row.dataset.quiz }));
      row.querySelector(".mark-of-questions").textContent = total ? `${done} of ${total}` : "none";
    }
    const done = rows.filter(row => read[row.dataset.page]).length;
    const kept = store.kept() ? "" : " This browser refuses to remember (private mode?): save a file before you close the page.";
    map.querySelector(".progress-summary").textContent = `${done} of ${rows.length} chapters read.${kept}`;
  }

  if (map) {
    const tools = map.querySelector(".progress-tools"), note = map.querySelector(".progress-summary");
    tools.hidden = false;
    tools.querySelector("[data-do=save]").addEventListener("click", () => {
      const blob = new Blob([JSON.stringify(store.all(), null, 1)], { type: "application/json" });
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "annotated-progress.json" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    tools.querySelector("input").addEventListener("change", async event => {
      const [file] = event.target.files;
      if (!file) return;
      try { store.replace(JSON.parse(await file.text())); } catch {
        note.textContent = `${file.name} is not a progress file of this book; nothing was changed.`;
      }
      event.target.value = "";
    });
    let sure = 0;
    tools.querySelector("[data-do=erase]").addEventListener("click", event => {
      clearTimeout(sure);
      if (event.target.dataset.sure) {
        delete event.target.dataset.sure;
        event.target.textContent = "Erase everything";
        return store.erase();
      }
      event.target.dataset.sure = "yes";
      event.target.textContent = "Really erase? Press again";
      sure = setTimeout(() => { delete event.target.dataset.sure; event.target.textContent = "Erase everything"; }, 5000);
    });
  }

  // A formula that is wider than its place becomes smaller, down to three quarters; what is still too wide scrolls.
  function fit() {
    const boxes = [...document.querySelectorAll(".bd-article div.math")];
    boxes.forEach(box => { box.style.removeProperty("--fit"); box.classList.remove("too-wide"); });
    const ratios = boxes.map(box => box.clientWidth / box.scrollWidth); // read all, then write: one layout
    boxes.forEach((box, i) => { if (ratios[i] < 1) box.style.setProperty("--fit", Math.max(0.75, ratios[i] * 0.99).toFixed(3)); });
    boxes.forEach((box, i) => { if (ratios[i] < 0.75) box.classList.add("too-wide"); });
  }

  // A note stands beside the paragraph after it, and what uses the margin begins below it. So that no hole is left in the text,
  // such a note begins higher, beside the lines above, as far as the margin is free.
  const USES_MARGIN = ".wide, .cell.tag_wide, .cell.tag_full-width, div.library-source";
  const above = element => { // the last thing in the column before it
    for (let e = element; !e.matches(".bd-article"); e = e.parentElement) {
      for (let one = e.previousElementSibling; one; one = one.previousElementSibling) if (!one.matches("aside") && one.offsetHeight) return one;
    }
    return null;
  };
  function raiseNotes() {
    const notes = [...document.querySelectorAll(".bd-article aside.margin-note")];
    notes.forEach(note => note.style.removeProperty("margin-top"));
    if (!notes.length || !matchMedia("(min-width: 1200px)").matches) return;
    let last, free = 0;
    const box = e => e.getBoundingClientRect();
    for (const one of document.querySelectorAll(`.bd-article :is(aside.margin-note, ${USES_MARGIN})`)) {
      if (!one.offsetHeight) continue;
      if (one.matches("aside")) { if (last) free = Math.max(free, box(last).bottom); last = one; continue; }
      const before = last && above(one), hole = before ? box(one).top - box(before).bottom - parseFloat(getComputedStyle(one).marginTop) : 0;
      const lift = last ? Math.min(hole, box(last).top - free - 16) : 0;
      if (hole > 30 && lift > 8) last.style.marginTop = `calc(0.2rem - ${Math.round(lift)}px)`;
      free = box(one).bottom;
      last = undefined;
    }
  }

  // Boxes that scroll sideways can be reached with the keyboard.
  const SCROLLING = "pre, table, div.math, .pst-scrollable-table-container, .cell_output .output, figure.chart, div.equation-code-formula";
  const reach = () => document.querySelectorAll(`.bd-article :is(${SCROLLING})`).forEach(box => {
    if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) box.tabIndex = 0;
  });
  // Above a table that is wider than its place stands that it scrolls.
  const WIDE = ".pst-scrollable-table-container";
  function tell() {
    for (const box of document.querySelectorAll(`.bd-article ${WIDE}`)) {
      const told = box.previousElementSibling?.matches(".scrolls-sideways"), wide = () => box.scrollWidth > box.clientWidth + 1;
      box.removeAttribute("data-scrolls"); // each time from the same beginning: the narrower first column may make it fit
      box.toggleAttribute("data-scrolls", wide() && /auto|scroll/.test(getComputedStyle(box).overflowX));
      const scrolls = box.hasAttribute("data-scrolls") && wide();
      if (scrolls && !told) box.before(Object.assign(document.createElement("p"), { className: "scrolls-sideways", textContent: "more columns: scroll sideways" }));
      else if (!scrolls && told) box.previousElementSibling.remove();
    }
  }
  const settle = () => { fit(); reach(); raiseNotes(); };
  const shown = new ResizeObserver(tell); // also when a part that waits is opened
  for (const box of document.querySelectorAll(`.bd-article ${WIDE}`)) { shown.observe(box); for (const inner of box.children) shown.observe(inner); } // a menu may hide columns
  raiseNotes();
  addEventListener("load", settle);
  addEventListener("resize", settle);
  document.fonts?.ready.then(() => dispatchEvent(new Event("resize"))); // what was measured in another font

  // The sidebar says which section is on the screen.
  const sections = new Map([...document.querySelectorAll(".page-sections a")].map(link => [link.hash.slice(1), link]));
  if (sections.size) {
    const seen = new Set();
    const spy = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) seen.add(target.id); else seen.delete(target.id);
      const first = [...sections.keys()].find(id => seen.has(id));
      sections.forEach((link, id) => id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
    }, { rootMargin: "-60px 0px -60% 0px" });
    for (const id of sections.keys()) {
      const section = document.getElementById(decodeURIComponent(id));
      if (section) spy.observe(section);
    }
  }

  store.changed(show);
  show();
})();
