// Small exercises: a field in each box, an answer to what is typed, and the solution after it; remembered on this device.
(() => {
  const store = window.annotatedBook;
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  // A number as readers write it: 1,024 and 1 024; 0.75, 0,75, 3/4 and 75 %; with its unit or without. NaN for anything else.
  function numberOf(text, unit) {
    let plain = text.trim();
    if (unit && plain.toLowerCase().endsWith(unit.toLowerCase())) plain = plain.slice(0, -unit.length);
    const hundredths = /\s*(%|per ?cent)$/i.test(plain) ? 100 : 1;
    plain = plain.replace(/\s*(%|per ?cent)$/i, "").replace(/[\s_]/g, "").replace(/[−–]/g, "-");
    plain = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
    const [above, below, ...more] = plain.split("/");
    const read = part => /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(part) ? Number(part) : NaN;
    return more.length ? NaN : (below === undefined ? read(above) : read(above) / read(below)) / hundredths;
  }

  // [2, 8, 5, 64], with brackets or without, joined by commas, crosses or spaces; null for anything else.
  function shapeOf(text) {
    const plain = text.trim().replace(/^(torch\.Size)?[([{]+|[)\]}]+$/g, "").trim();
    return /^\d+(\s*[,;x×*·\s]\s*\d+)*,?$/i.test(plain) ? plain.match(/\d+/g).map(Number) : null;
  }

  const wordOf = text => text.toLowerCase().replace(/["'“”‘’„`.+\s]/g, "");

  // How each kind is read (`null`: not readable), compared, and what is said of a wrong answer that has no reason of its own.
  const KINDS = {
    number: {
      read: (text, { unit }) => { const x = numberOf(text, unit); return Number.isFinite(x) ? x : null; },
      equals: (x, y, { tolerance }) => Math.abs(x - y) <= tolerance,
      tell: (x, { answer }) => x > answer ? "It is less than that." : "It is more than that.",
      unreadable: "Type a number, such as 12 or 0.75.",
    },
    shape: {
      read: shapeOf,
      equals: same,
      tell(shape, { answer }) {
        if (shape.length !== answer.length) return `It has ${answer.length} axes, and yours has ${shape.length}.`;
        const sorted = sizes => [...sizes].sort((a, b) => a - b);
        return same(sorted(shape), sorted(answer)) ? "These are the sizes, in another order." : "The number of axes is right; a size is not.";
      },
      unreadable: "Type the sizes of all axes, such as [3, 5].",
    },
    word: {
      read: text => wordOf(text) || null,
      equals: (given, wanted) => given === wordOf(wanted),
      tell: () => "Read the question again, or open the hint.",
      unreadable: "Type a word.",
    },
  };

  // What is said to a typed text: { right, readable, text } or, if the error is known, its `reason`.
  function judge(text, about, misses) {
    const kind = KINDS[about.kind], given = kind.read(text, about);
    if (given === null) return { right: false, readable: false, text: kind.unreadable };
    if (kind.equals(given, about.answer, about)) return { right: true, readable: true, text: "✓ Right." };
    const known = misses.find(({ dataset }) => kind.equals(given, JSON.parse(dataset.value), about));
    return { right: false, readable: true, text: `✗ Not this one.${known ? "" : ` ${kind.tell(given, about)}`}`, reason: known?.lastElementChild };
  }

  function field(about, title, number) {
    const input = make("input", { type: "text", id: `try-${number}`, autocomplete: "off", spellcheck: false, maxLength: 40 });
    const label = make("label", { htmlFor: input.id }, `Your answer (${about.asked})`);
    const row = make("div", { className: "try-row" }, input, ...about.unit ? [make("span", { textContent: about.unit })] : [],
      make("button", { className: "commit", textContent: "Check" }));
    const form = make("form", { noValidate: true }, label, row);
    title.id ||= `try-title-${number}`;
    form.setAttribute("aria-labelledby", title.id);
    return { form, input };
  }

  function mount(box, number) {
    const place = box.querySelector(".try-field"), about = JSON.parse(place.dataset.try);
    const key = `${store.page.page ?? location.pathname}#${number}`;
    const { form, input } = field(about, box.querySelector(".prediction-title"), number);
    const status = make("div", { className: "quiz-status" }), misses = [...box.querySelectorAll(".try-miss")];
    const [solution, others] = ["solution", "misses"].map(name => box.querySelector(`.try-${name}`));
    status.setAttribute("role", "status");

    function show(text) {
      const found = judge(text, about, misses);
      const said = make("p", { className: "quiz-verdict" }, make("strong", { textContent: found.text }));
      status.replaceChildren(make("div", { className: "quiz-feedback" }, said, ...found.reason?.cloneNode(true).childNodes ?? []));
      input.setAttribute("aria-invalid", String(!found.readable));
      if (!found.readable) return found;
      solution.hidden = false;
      if (found.right) { solution.open = true; others.hidden = false; }
      return found;
    }
    form.addEventListener("submit", event => {
      event.preventDefault();
      const { readable, right } = show(input.value);
      if (readable) store.set("tries", key, { answer: input.value.trim(), right });
    });
    place.append(form, status);
    solution.hidden = others.hidden = true; // until there is an answer; in print they unfold
    const old = store.get("tries", key);
    if (old) { input.value = old.answer; show(old.answer); }
  }

  document.querySelectorAll(".try").forEach(mount);
})();
