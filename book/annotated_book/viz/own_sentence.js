// The reader's own sentence, from a live panel to a widget of the same page; whichever of the two is ready first.
const sent = globalThis.annotatedSent ??= {};

export function tellWidget(name, found) {
  sent[name] = found;
  document.dispatchEvent(new CustomEvent(`annotated-${name}`));
}

// Calls `take` with what the panel `name` has found, now and whenever it finds something new; what it returns stops that.
export function onOwnSentence(name, take) {
  const hear = () => { if (sent[name]) take(sent[name]); };
  document.addEventListener(`annotated-${name}`, hear);
  hear();
  return () => document.removeEventListener(`annotated-${name}`, hear);
}
