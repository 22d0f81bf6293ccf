// Tables that the reader sorts: the heads of `table.sortable` become buttons, and a menu where rows are cards. A cell sorts
// by its `data-value`, or by its text; the address keeps the order (?sort=-seconds). The `.table-total` above or below adds
// up what has a `data-sum` in the rows that a filter leaves, and the command in `.again` names them. Without scripts the
// table has its own order, and the total counts all.
(() => {
  const digits = sum => sum.toLocaleString("en-GB", { minimumFractionDigits: Number.isInteger(sum) ? 0 : 1, maximumFractionDigits: 1 });

  function keyOf(cell) {
    const value = cell.querySelector("[data-value]")?.dataset.value;
    return value === undefined ? cell.textContent.trim() : Number(value);
  }
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  // The first press puts the largest number or the first text on top, the second turns that round, the third restores.
  function sortable(table, at) {
    const key = `sort${at ? at + 1 : ""}`, names = [...table.tHead.rows[0].cells].map(head => head.textContent.trim().toLowerCase());
    const body = table.tBodies[0], own = [...body.rows], heads = [...table.tHead.rows[0].cells];
    let column = -1, turns = 0;
    const isNumber = i => typeof keyOf(own[0].cells[i]) === "number";
    function sort(i, turn) {
      turns = turn ?? (i === column ? (turns + 1) % 3 : 1);
      column = i;
      const sign = (turns === 1) === isNumber(i) ? -1 : 1;
      const rows = turns ? [...own].sort((a, b) => sign * compare(keyOf(a.cells[i]), keyOf(b.cells[i]))) : own;
      body.append(...rows);
      heads.forEach((head, j) => head.setAttribute("aria-sort", j !== i || !turns ? "none" : sign < 0 ? "descending" : "ascending"));
      menu.value = turns ? `${turns > 1 ? "-" : ""}${names[i]}` : "";
      globalThis.annotatedAddress?.set({ [key]: menu.value });
    }
    const menu = orders(table, names, isNumber);
    // A name sorts as the first press of its head does, and one with a minus as the second.
    const choose = text => { const i = names.indexOf(text.replace(/^-/, "")); if (i >= 0) sort(i, text.startsWith("-") ? 2 : 1); else if (turns) sort(column, 0); };
    menu.addEventListener("change", () => choose(menu.value));
    addEventListener("pageshow", () => choose(globalThis.annotatedAddress?.get(key) ?? ""));
    heads.forEach((head, i) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.firstElementChild?.nodeName === "P" ? head.firstElementChild.childNodes : head.childNodes);
      button.addEventListener("click", () => sort(i));
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
  }

  // Where rows are cards (600 pixels and less) the order is chosen in a menu above them.
  function orders(table, names, isNumber) {
    const label = document.createElement("label"), menu = document.createElement("select");
    label.className = "sort-menu";
    label.append("Order the rows by ", menu);
    menu.append(new Option("as listed", ""));
    names.forEach((name, i) => {
      const [first, second] = isNumber(i) ? ["largest first", "smallest first"] : ["A to Z", "Z to A"];
      menu.append(new Option(`${name}, ${first}`, name), new Option(`${name}, ${second}`, `-${name}`));
    });
    if (table.matches(".stacked-table table, .records-table")) table.before(label);
    return menu;
  }

  function total(line, table) {
    const whole = line.textContent, rows = [...table.tBodies[0].rows], sums = new Map();
    line.setAttribute("role", "status");
    const show = () => {
      const left = rows.filter(row => !row.hidden);
      sums.clear();
      for (const one of left.flatMap(row => [...row.querySelectorAll("[data-sum]")])) sums.set(one.dataset.sum, (sums.get(one.dataset.sum) ?? 0) + Number(one.dataset.value));
      line.textContent = left.length === rows.length ? whole
        : [`Shown: ${left.length} of ${rows.length} ${line.dataset.what}`, [...sums].map(([name, sum]) => `${digits(sum)} ${name}`).join(", ")].filter(Boolean).join(": ");
    };
    // After the filter's own listeners, which are nearer to its field.
    for (const event of ["input", "change"]) document.addEventListener(event, show);
    for (const event of ["pageshow", "hashchange"]) addEventListener(event, () => setTimeout(show));
  }

  // The command below a table makes what a filter leaves of it: the first cell of a row has the name.
  function again(box, table) {
    const head = box.querySelector("p"), command = box.querySelector("pre"), button = box.querySelector("button"), rows = [...table.tBodies[0].rows];
    const own = [head.innerHTML, command.textContent], [start] = own[1].split(/ \S+$/);
    const show = () => {
      const names = rows.filter(row => !row.hidden).map(row => row.cells[0].textContent.trim()), few = names.length && names.length < rows.length;
      command.textContent = button.dataset.copy = few ? [start, ...names].join(" ") : own[1];
      box.classList.toggle("nothing", !names.length);
      if (!names.length) head.textContent = "No record is shown.";
      else if (few) head.textContent = names.length === 1 ? "The command for the record that is shown:" : `The command for the ${names.length} records that are shown:`;
      else head.innerHTML = own[0];
    };
    for (const event of ["input", "change", "click"]) document.addEventListener(event, show);
    for (const event of ["pageshow", "hashchange"]) addEventListener(event, () => setTimeout(show));
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  for (const box of document.querySelectorAll(".again")) again(box, document.querySelector(".records-table"));
  for (const line of document.querySelectorAll(".table-total")) {
    const places = [line.previousElementSibling, line.nextElementSibling].filter(Boolean);
    const table = places.map(place => (place.matches("table") ? place : place.querySelector("table"))).find(Boolean);
    if (table) total(line, table);
  }
})();
