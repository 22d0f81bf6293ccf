// Answers to the choices in a quiz, and remembers them on this device. Without it every option unfolds its own feedback.
(() => {
  const store = window.annotatedBook, today = () => new Date().toISOString().slice(0, 10);
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const given = name => store.get("quizzes", name)?.answers ?? {};

  // Keeps a choice; a quiz that is done is a chapter that was read, that of an exercise, or within the chapter, is not.
  function keep(quiz, question, choice, of) {
    const { quiz: name } = quiz.dataset, { page } = store.page, before = store.get("quizzes", name) ?? { answers: {}, first: {} };
    const answers = { ...before.answers, [question]: choice };
    store.set("quizzes", name, { answers, first: { [question]: choice, ...before.first }, of, date: today() });
    const isDone = Array.from({ length: of }, (_, i) => answers[i + 1]).every(Boolean);
    if (isDone && page && !quiz.matches(".of-exercise, [data-aside]") && !store.get("read", page)) store.set("read", page, today());
  }

  // One question: its radio buttons, and `show` for the feedback to a choice (0: none yet).
  function question(field, choose) {
    const status = make("div", { className: "quiz-status" });
    status.setAttribute("role", "status");
    const options = [...field.querySelectorAll(".quiz-option")], radios = options.map(option => option.querySelector("input"));
    const feedback = options.map(option => {
      const details = option.querySelector("details"), found = details.querySelector(".quiz-feedback");
      details.hidden = true; // unfolds in print only
      return found;
    });
    const show = choice => {
      options.forEach((option, j) => {
        radios[j].checked = j + 1 === choice;
        option.classList.toggle("chosen", j + 1 === choice);
        option.classList.toggle("right", j + 1 === choice && choice === +field.dataset.answer);
      });
      status.replaceChildren(...choice ? [feedback[choice - 1].cloneNode(true)] : []);
    };
    const withdraw = store.onPurpose(field, radios, choose);
    field.append(status);
    return { show: choice => { withdraw(); show(choice); }, radios };
  }

  function mount(quiz) {
    const { quiz: name } = quiz.dataset, fieldsets = [...quiz.querySelectorAll("fieldset")], of = fieldsets.length;
    const score = make("p", { className: "quiz-score" }), again = make("button", { type: "button", textContent: "Start again" });
    const foot = make("div", { className: "quiz-foot" });
    foot.append(score, again);
    const count = () => {
      const answers = given(name), done = fieldsets.filter((_, i) => answers[i + 1]).length;
      const right = fieldsets.filter((field, i) => answers[i + 1] === +field.dataset.answer).length;
      score.textContent = done ? `${right} of ${of} right${done < of ? `, ${of - done} to go.` : "."}` : "";
      foot.hidden = !done;
    };
    const questions = fieldsets.map((field, i) => question(field, choice => {
      keep(quiz, i + 1, choice, of);
      questions[i].show(choice);
      count();
    }));
    const recall = () => {
      const answers = given(name);
      questions.forEach(({ show, radios }, i) => show(radios[answers[i + 1] - 1] ? answers[i + 1] : 0));
      count();
    };
    again.addEventListener("click", () => {
      store.set("quizzes", name, undefined);
      recall();
      questions[0].radios[0].focus();
    });
    quiz.append(foot);
    recall();
  }

  document.querySelectorAll(".quiz-questions").forEach(mount);
})();
