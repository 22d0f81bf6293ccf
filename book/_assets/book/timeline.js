// A slider of years over the timeline of parts: marks that came later are hollow, and each row names the newest form of
// its part in that year; at the end, what is usual today, as it does without this script.
(() => {
  const FIRST = 2017, LAST = 2026;
  for (const figure of document.querySelectorAll(".component-timeline")) {
    const choice = document.createElement("div");
    choice.className = "year-choice";
    const input = Object.assign(document.createElement("input"), { type: "range", ariaLabel: "Year", min: FIRST, max: LAST, step: 1, value: LAST, autocomplete: "off" });
    const output = document.createElement("output");
    choice.append(input, output);
    figure.prepend(choice);
    const tracks = [...figure.querySelectorAll("summary .track")].map((track) => {
      const line = Object.assign(document.createElement("span"), { className: "year-line" });
      track.append(line);
      const form = track.parentElement.querySelector(".form");
      return { form, today: form.textContent, marks: [...track.querySelectorAll("i")] };
    });
    const show = () => {
      const year = Number(input.value);
      output.textContent = year === LAST ? "Shown: the form that is usual today" : `Shown: the newest form at the end of ${year}`;
      input.setAttribute("aria-valuetext", year === LAST ? "today" : String(year));
      figure.style.setProperty("--year", `${(100 * (year + 1 - FIRST)) / (LAST + 1 - FIRST)}%`);
      for (const { form, today, marks } of tracks) {
        const past = marks.filter((mark) => Number(mark.dataset.date.slice(0, 4)) <= year);
        for (const mark of marks) mark.classList.toggle("ahead", !past.includes(mark));
        form.textContent = year === LAST ? today : past.at(-1).dataset.name;
      }
    };
    input.addEventListener("input", show);
    show();
  }
})();
