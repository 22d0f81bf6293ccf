// What the widgets share. `esm` (javascript.py) puts it before a widget's own code, for an anywidget may not import.
const html = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
// Sets several traits of a model at once, and tells the kernel if there is one.
const setter = model => values => {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
};
// Draws anew when an element becomes wider or narrower; what it returns stops that.
const onWidth = (element, draw) => {
  let width = element.clientWidth;
  const watch = new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== width) { width = element.clientWidth; draw(); }
  });
  watch.observe(element);
  return () => watch.disconnect();
};
