// Makes the options of each prediction a choice, which opens the explanation and is remembered on this device.
document.querySelectorAll(".prediction").forEach((box, number) => {
  const list = box.querySelector("ul"), details = box.querySelector("details");
  if (!list || !details) return;
  const key = `prediction:${location.pathname}:${number}`, answer = +details.dataset.answer;
  const group = document.createElement("fieldset");
  const legend = Object.assign(document.createElement("legend"), { className: "visually-hidden", textContent: "Your prediction" });
  const verdict = Object.assign(document.createElement("p"), { className: "prediction-verdict" });
  verdict.setAttribute("role", "status");
  group.append(legend);
  const choose = (index, now) => {
    group.querySelectorAll("label").forEach((label, i) => label.classList.toggle("right", i + 1 === answer));
    verdict.textContent = index === answer ? "As you predicted." : "Not what happens. Read why, then check it below.";
    details.open = true;
    if (now) try { localStorage.setItem(key, index); } catch { /* private mode: not remembered */ }
  };
  [...list.children].forEach((item, i) => {
    const label = document.createElement("label"), radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: key, value: i + 1 });
    radio.addEventListener("change", () => choose(i + 1, true));
    const text = document.createElement("span");
    text.append(...(item.querySelector(":scope > p") ?? item).childNodes);
    label.append(radio, text);
    group.append(label);
  });
  list.replaceWith(group);
  group.after(verdict);
  let old; try { old = localStorage.getItem(key); } catch { /* as above */ }
  if (old) { group.querySelectorAll("input")[old - 1].checked = true; choose(+old, false); }
});
