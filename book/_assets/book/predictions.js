// Makes the options of each prediction a choice, which opens the explanation and is remembered on this device.
document.querySelectorAll(".prediction").forEach((box, number) => {
  const list = box.querySelector("ul"), details = box.querySelector("details"), store = window.annotatedBook;
  if (!list || !details) return;
  const key = `${store.page.page ?? location.pathname}#${number}`, answer = +details.dataset.answer;
  const group = document.createElement("fieldset");
  const legend = Object.assign(document.createElement("legend"), { className: "visually-hidden", textContent: "Your prediction" });
  const verdict = Object.assign(document.createElement("p"), { className: "prediction-verdict" });
  verdict.setAttribute("role", "status");
  group.append(legend);
  const radios = [...list.children].map((item, i) => {
    const label = document.createElement("label"), radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: `prediction-${number}`, value: i + 1 });
    const text = document.createElement("span");
    text.append(...(item.querySelector(":scope > p") ?? item).childNodes);
    label.append(radio, text);
    group.append(label);
    return radio;
  });
  function show(choice) {
    group.querySelectorAll("label").forEach((label, i) => label.classList.toggle("right", Boolean(choice) && i + 1 === answer));
    verdict.textContent = !choice ? "" : choice === answer ? "✓ As you predicted." : "✗ Not what happens. Read why, then check it below.";
    details.open = Boolean(choice);
  }
  store.onPurpose(group, radios, choice => {
    store.set("predictions", key, choice);
    show(choice);
  });
  list.replaceWith(group);
  group.after(verdict);
  const old = store.get("predictions", key);
  radios.forEach((radio, i) => { radio.checked = i + 1 === old; });
  show(radios[old - 1] ? old : 0);
});
