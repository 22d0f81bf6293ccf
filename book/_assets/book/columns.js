// Tables of many columns. In a cell tagged `compare-columns` the first column of values is compared with one that the
// reader chooses, or with all; a narrow page begins with the one that differs most. In a cell tagged `choose-column` one
// column of words is shown. What differs from the first column, or from the first row, is marked. Without this script all
// columns are there.
(() => {
  const textOf = cell => cell.textContent.trim();
  function control(table, words, names) {
    const line = document.createElement("p"), label = document.createElement("label"), menu = document.createElement("select"), said = document.createElement("span");
    line.className = "column-choice";
    menu.autocomplete = "off";
    for (const [value, name] of names) menu.append(new Option(name, value));
    label.append(`${words} `, menu);
    said.setAttribute("role", "status");
    line.append(label, " ", said);
    table.closest(".result-table").before(line);
    return { menu, said };
  }
  const showColumns = (table, isShown) => { for (const row of table.rows) [...row.cells].forEach((cell, i) => { cell.hidden = !isShown(i); }); };

  function compare(table) {
    const heads = [...table.tHead.rows[0].cells].map(textOf), rows = [...table.tBodies[0].rows], others = heads.slice(2).map((name, i) => [i + 2, name]);
    const isAbsent = text => ["–", "none"].includes(text), differs = (row, i) => textOf(row.cells[i]) !== textOf(row.cells[1]);
    const differing = i => rows.filter(row => differs(row, i) && !isAbsent(textOf(row.cells[i]))).length;
    const absent = i => rows.filter(row => differs(row, i) && isAbsent(textOf(row.cells[i]))).length;
    for (const row of rows) for (const [i] of others) row.cells[i].classList.toggle("differs", textOf(row.cells[i]) !== textOf(row.cells[1]));
    const { menu, said } = control(table, `Compare “${heads[1]}” with`, [["", "all"], ...others]);
    function show() {
      const chosen = Number(menu.value);
      showColumns(table, i => i < 2 || !chosen || i === chosen);
      for (const row of rows) row.classList.toggle("same", Boolean(chosen) && !row.cells[chosen].classList.contains("differs"));
      const left = chosen && absent(chosen) ? ` ${absent(chosen)} are absent or left to the user.` : "";
      said.textContent = chosen ? `${differing(chosen)} of ${rows.length} settings differ.${left}` : "";
    }
    if (matchMedia("(max-width: 600px)").matches) menu.value = others.reduce((best, one) => (differing(one[0]) > differing(best[0]) ? one : best))[0];
    menu.addEventListener("change", show);
    show();
  }

  function choose(table) {
    const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
    const words = heads.map((head, i) => [i, textOf(head)]).filter(([i]) => i && !heads[i].classList.contains("number"));
    for (const row of rows) for (const [i] of words) row.cells[i].classList.toggle("differs", textOf(row.cells[i]) !== textOf(rows[0].cells[i]));
    const { menu, said } = control(table, "Sentence", words);
    function show() {
      const chosen = Number(menu.value), changed = rows.filter(row => row.cells[chosen].classList.contains("differs")).length;
      showColumns(table, i => i === chosen || !words.some(([other]) => other === i));
      for (const row of rows) row.classList.toggle("same", row !== rows[0] && !row.cells[chosen].classList.contains("differs"));
      said.textContent = `${changed} of ${rows.length - 1} translations differ from the first.`;
    }
    menu.addEventListener("change", show);
    show();
  }
  document.querySelectorAll(".tag_compare-columns table.results").forEach(compare);
  document.querySelectorAll(".tag_choose-column table.results").forEach(choose);
})();
