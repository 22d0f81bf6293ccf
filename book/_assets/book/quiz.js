// Answers to the choices in a quiz, and remembers them on this device. Without it every option unfolds its own feedback.
document.querySelectorAll(".quiz-questions").forEach(quiz => {
  const { quiz: name } = quiz.dataset, store = window.annotatedBook, fieldsets = [...quiz.querySelectorAll("fieldset")];
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const score = make("p", { className: "quiz-score" }), again = make("button", { type: "button", textContent: "Start again" });
  const foot = make("div", { className: "quiz-foot" });
  foot.append(score, again);
  const given = () => store.get("quizzes", name)?.answers ?? {};

  const count = () => {
    const answers = given(), done = fieldsets.filter((_, i) => answers[i + 1]).length;
    const right = fieldsets.filter((field, i) => answers[i + 1] === +field.dataset.answer).length;
    score.textContent = done ? `${right} of ${fieldsets.length} right` + (done < fieldsets.length ? `, ${fieldsets.length - done} to go.` : ".") : "";
    foot.hidden = !done;
    return done;
  };

  const questions = fieldsets.map((field, i) => {
    const status = make("div", { className: "quiz-status" });
    status.setAttribute("role", "status");
    field.append(status);
    const options = [...field.querySelectorAll(".quiz-option")], feedback = options.map(option => {
      const details = option.querySelector("details"), found = details.querySelector(".quiz-feedback");
      details.hidden = true; // unfolds in print only
      return found;
    });
    const show = choice => {
      options.forEach((option, j) => {
        option.classList.toggle("chosen", j + 1 === choice);
        option.classList.toggle("right", j + 1 === choice && choice === +field.dataset.answer);
      });
      status.replaceChildren(...choice ? [feedback[choice - 1].cloneNode(true)] : []);
    };
    const radios = options.map(option => option.querySelector("input"));
    radios.forEach((radio, j) => radio.addEventListener("change", () => {
      const before = store.get("quizzes", name) ?? { answers: {}, first: {} };
      store.set("quizzes", name, {
        answers: { ...before.answers, [i + 1]: j + 1 }, first: { [i + 1]: j + 1, ...before.first },
        of: fieldsets.length, date: new Date().toISOString().slice(0, 10),
      });
      show(j + 1);
      const { page } = store.page; // a quiz that is done is a chapter that was read; that of an exercise is not
      if (count() === fieldsets.length && page && !quiz.matches(".of-exercise") && !store.get("read", page)) store.set("read", page, new Date().toISOString().slice(0, 10));
    }));
    return { show, radios };
  });

  const recall = () => {
    const answers = given();
    questions.forEach(({ show, radios }, i) => {
      const choice = radios[answers[i + 1] - 1] ? answers[i + 1] : 0;
      radios.forEach((radio, j) => { radio.checked = j + 1 === choice; });
      show(choice);
    });
    count();
  };
  again.addEventListener("click", () => {
    store.set("quizzes", name, undefined);
    recall();
    questions[0].radios[0].focus();
  });
  quiz.append(foot);
  recall();
});
