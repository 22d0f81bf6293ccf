// Tables that the reader sorts: the heads of `table.sortable` become buttons. A cell sorts by its `data-value`, or by its
// text. The `.table-total` below adds up what has a `data-sum` in the rows that a filter leaves, and the command in `.again`
// names them. Without scripts the table has its own order, and the total counts all.
(() => {
  const digits = sum => sum.toLocaleString("en-GB", { minimumFractionDigits: Number.isInteger(sum) ? 0 : 1, maximumFractionDigits: 1 });

  function keyOf(cell) {
    const value = cell.querySelector("[data-value]")?.dataset.value;
    return value === undefined ? cell.textContent.trim() : Number(value);
  }
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  // The first press puts the largest number or the first text on top, the second turns that round, the third restores.
  function sortable(table) {
    const body = table.tBodies[0], own = [...body.rows], heads = [...table.tHead.rows[0].cells];
    let column = -1, turns = 0;
    function sort(i) {
      turns = i === column ? (turns + 1) % 3 : 1;
      column = i;
      const isNumber = typeof keyOf(own[0].cells[i]) === "number", sign = (turns === 1) === isNumber ? -1 : 1;
      const rows = turns ? [...own].sort((a, b) => sign * compare(keyOf(a.cells[i]), keyOf(b.cells[i]))) : own;
      body.append(...rows);
      heads.forEach((head, j) => head.setAttribute("aria-sort", j !== i || !turns ? "none" : sign < 0 ? "descending" : "ascending"));
    }
    heads.forEach((head, i) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.firstElementChild?.nodeName === "P" ? head.firstElementChild.childNodes : head.childNodes);
      button.addEventListener("click", () => sort(i));
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
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

  for (const table of document.querySelectorAll("table.sortable")) sortable(table);
  for (const box of document.querySelectorAll(".again")) again(box, document.querySelector(".records-table"));
  for (const line of document.querySelectorAll(".table-total")) {
    const place = line.previousElementSibling, table = place?.matches("table") ? place : place?.querySelector("table");
    if (table) total(line, table);
  }
})();
