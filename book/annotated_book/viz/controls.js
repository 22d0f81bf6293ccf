// Controls of the widgets: selects, fields, sliders, tick boxes, radio buttons, buttons, readouts, and their link to a model.
// A property with a hyphen, or `role`, becomes an attribute; every other one a property of the element.
export function html(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role" || name.includes("-")) element.setAttribute(name, value); else element[name] = value;
  }
  element.append(...children);
  return element;
}

// A name for radio buttons or ids that no other widget of the page has.
export const unique = kind => `${kind}-${Math.random().toString(36).slice(2)}`;

// Whether the reader wants no motion.
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const clamp = (x, count) => Math.max(0, Math.min(count - 1, x));

// Sets several traits of a model at once, and tells the kernel if there is one.
export const setter = model => values => {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
};

// The values of some traits, by name.
export const traits = (model, ...names) => Object.fromEntries(names.map(name => [name, model.get(name)]));

export const onTraits = (model, names, draw) => { for (const name of names) model.on(`change:${name}`, draw); };

// Draws anew when an element becomes wider or narrower; what it returns stops that.
export function onWidth(element, draw) {
  let width = element.clientWidth;
  const watch = new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== width) { width = element.clientWidth; draw(); }
  });
  watch.observe(element);
  return () => watch.disconnect();
}

// Of [value, text], or of groups: [label, [[value, text], ...]].
export const optionsOf = choices => choices.map(([value, content]) => Array.isArray(content)
  ? html("optgroup", { label: value }, ...optionsOf(content)) : html("option", { value, textContent: content }));

// A menu of such choices; `choose` gets the value, as text.
export function select(choices, choose, properties = {}) {
  const menu = html("select", properties, ...optionsOf(choices));
  menu.addEventListener("change", () => choose(menu.value));
  return menu;
}

// One of several [value, text]: the radio buttons, a label around each, and `show` to tick the one in force.
export function radios(name, choices, choose, properties = {}) {
  const inputs = choices.map(([value]) => {
    const input = html("input", { type: "radio", name, value, ...properties });
    input.addEventListener("change", () => choose(value));
    return input;
  });
  const labels = choices.map(([, text], i) => html("label", {}, inputs[i], text));
  const show = value => inputs.forEach((input, i) => { input.checked = choices[i][0] === value; });
  return { inputs, labels, show };
}

export const group = (legend, ...children) => html("fieldset", {}, html("legend", { textContent: legend }), ...children);

// A field for the reader's own text, of several lines if it has `rows`; `change` gets the text.
export function field(change, properties = {}) {
  const input = html("rows" in properties ? "textarea" : "input", { spellcheck: false, ...properties });
  input.addEventListener("input", () => change(input.value));
  return input;
}

// A field for a number; `change` gets it, 0 for what is none.
export function numberField(change, properties = {}) {
  const input = html("input", { type: "number", ...properties });
  input.addEventListener("input", () => change(+input.value || 0));
  return input;
}

export function slider(properties, move) {
  const input = html("input", { type: "range", ...properties });
  input.addEventListener("input", () => move(+input.value));
  return input;
}

// A slider between its name and its value; `show` sets both. `range` holds min, max, step, perhaps value, and `digits` of the value.
export function knob(text, { digits = 0, ...range }, move) {
  const id = unique("knob"), value = html("output", { htmlFor: id });
  const input = slider({ id, ...range }, x => { show(x); move(x); });
  function show(x) {
    input.value = x;
    value.textContent = x.toFixed(digits);
  }
  show(range.value ?? range.min);
  return { input, show, label: html("label", { htmlFor: id }, html("span", { textContent: text }), input, value) };
}

// A slider over a list of values; `number` shows the one that `show` was given, and the knob stands at the nearest.
export function scale(name, values, move, say = value => value.toLocaleString("en-GB")) {
  const input = slider({ name, min: 0, max: values.length - 1, step: 1 }, i => move(values[i])), number = html("b");
  const show = value => {
    input.value = values.reduce((best, x, i) => Math.abs(x - value) < Math.abs(values[best] - value) ? i : best, 0);
    number.textContent = value.toLocaleString("en-GB");
    input.setAttribute("aria-valuetext", say(value));
  };
  return { input, number, show };
}

export function tick(text, toggle, properties = {}) {
  const input = html("input", { type: "checkbox", ...properties });
  input.addEventListener("change", () => toggle(input.checked));
  return { input, label: html("label", { className: "tick" }, input, text) };
}

export function button(text, act, properties = {}) {
  const made = html("button", { type: "button", textContent: text, ...properties });
  made.addEventListener("click", act);
  return made;
}

// Buttons that walk through numbered steps; `show` disables the one that leads nowhere.
export function backAndNext(go) {
  const back = button("‹ back", () => go(-1)), next = button("next ›", () => go(1));
  const show = (at, count) => { back.disabled = at === 0; next.disabled = at === count - 1; };
  return { element: html("span", { className: "buttons" }, back, next), show };
}

// Text that changes and is read out when it does.
export const readout = (tag = "output", properties = {}) => html(tag, { "aria-live": "polite", ...properties });

export const labelled = (text, control, properties = {}) =>
  html("label", properties, html("span", { textContent: text }), control);

// [rows, columns] that an arrow key moves by; nothing for other keys.
export const arrowOf = event =>
  ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];

// Sends the mouse's and the finger's place over a picture to `point`, in the picture's own units.
export function onPointer(picture, point, events = ["pointermove", "pointerdown"]) {
  for (const event of events) picture.addEventListener(event, happened => point(placeIn(picture, happened), happened));
}

export function placeIn(picture, event) {
  const frame = picture.getBoundingClientRect(), scaled = picture.width.baseVal.value / frame.width;
  return { x: (event.clientX - frame.left) * scaled, y: (event.clientY - frame.top) * scaled, share: (event.clientX - frame.left) / frame.width };
}
