// Cards of questions: marks what was guessed, opens the answer after a guess and the card that is addressed, counts.
// The choices themselves are those of a quiz (`quiz.js`). Without this script every card and answer unfolds by hand.
(() => {
  const store = window.annotatedBook, cards = [...document.querySelectorAll("details.question-card")];
  if (!cards.length) return;
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const right = card => +card.querySelector("fieldset").dataset.answer;
  const kept = card => store.get("quizzes", card.id);
  const guess = card => kept(card)?.answers?.[1];
  const first = card => kept(card)?.first?.[1];

  // The mark of the last guess; an answer opens when its guess comes, and closes when it is taken back.
  function show(card) {
    const last = guess(card), state = !last ? "none yet" : last === right(card) ? "right" : "wrong";
    if (card.dataset.guess === state && card.dataset.last === `${last}`) return;
    Object.assign(card.dataset, { guess: state, last: `${last}` });
    card.querySelector(".card-answer").open = Boolean(last);
    const mark = card.querySelector(".card-mark");
    mark.replaceChildren();
    if (last) mark.append(last === right(card) ? "✓" : "✗", make("span", { className: "visually-hidden", textContent: ` your guess was ${state}` }));
  }

  const box = make("div", { className: "cards-score" }), words = make("span"), next = make("button", { type: "button" });
  const again = make("button", { type: "button", textContent: "Start again" });
  words.setAttribute("role", "status");
  function count() {
    cards.forEach(show);
    const done = cards.filter(guess), hits = done.filter(card => first(card) === right(card)).length;
    words.textContent = done.length ? `${done.length} of ${cards.length} guessed, ${hits} right at the first guess.` : "";
    next.textContent = done.length ? "Next without a guess" : "Open the first";
    next.hidden = done.length === cards.length;
    again.hidden = !done.length;
  }
  function open(card) {
    card.open = true;
    card.scrollIntoView({ block: "start" });
    card.querySelector("summary").focus({ preventScroll: true });
  }
  // The first card without a guess after the one that was opened last, among those that the filter shows.
  let at = -1;
  next.addEventListener("click", () => {
    const left = cards.filter(card => !guess(card) && !card.closest("[hidden]"));
    const card = left.find(one => cards.indexOf(one) > at) ?? left[0];
    if (!card) return;
    at = cards.indexOf(card);
    open(card);
  });
  let sure = 0;
  again.addEventListener("click", () => {
    clearTimeout(sure);
    if (again.dataset.sure) {
      for (const card of cards) if (kept(card)) store.set("quizzes", card.id, undefined);
      location.reload(); // the choices of the quizzes are drawn anew
      return;
    }
    again.dataset.sure = "yes";
    again.textContent = "Forget all guesses? Press again";
    sure = setTimeout(() => { delete again.dataset.sure; again.textContent = "Start again"; }, 5000);
  });

  const addressed = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const card = target && target.closest("details.question-card");
    if (card) open(card);
  };
  for (const button of document.querySelectorAll(".card-answer button.copy")) {
    button.dataset.copy = `${location.href.replace(/#.*$/, "")}#${button.closest("details.question-card").id}`;
  }
  box.append(words, next, again);
  (document.querySelector(".page-filter") ?? cards[0]).after(box);
  store.changed(count);
  count();
  addressed();
  addEventListener("load", () => requestAnimationFrame(addressed)); // the browser's own jump takes the focus away
  addEventListener("hashchange", addressed);
})();
