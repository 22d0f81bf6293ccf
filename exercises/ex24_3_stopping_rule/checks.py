"""Checks of ex24-3: a bound, by trying out what continuations can reach.

Paper: section 6.1
"""

from annotated_grader import Case, Student, expect, graded


def reach(log_probability: float, cap: int, alpha: float) -> float:
    """The best score over all lengths up to the cap, if further tokens cost nothing."""
    return max(log_probability * (6 / (5 + length)) ** alpha for length in range(1, cap + 1))


def settings(case: Case) -> tuple[int, float]:
    """A cap and an alpha."""
    return 20 + case.between(0, 40), 0.2 + 0.1 * case.between(1, 8)


def ask(
    student: Student, expected: bool, finished: list[float], alive: list[float], cap: int, alpha: float, keep: int = 1
) -> None:
    """One question to may_stop."""
    got = student.call("may_stop", finished, alive, cap, alpha, keep)
    expect.true(isinstance(got, bool), f"may_stop returned {got!r}; True or False is asked for")
    expect.equal(got, expected, "may_stop", finished=finished, alive=alive, cap=cap, alpha=alpha, keep=keep)


def spread(case: Case, best: float, count: int) -> list[float]:
    """Some numbers, the best of them given, in any order."""
    values = [best] + [best - 0.3 - 2 * float(x) for x in case.uniform(count - 1)]
    return [values[i] for i in case.permutation(count).tolist()]


@graded(points=2, levels=3)
def the_bound(student: Student, case: Case) -> None:
    """No continuation can end with a higher score, and one could reach it."""
    cap, alpha = settings(case)
    for strength in (alpha, 0.0):
        log_probability = -1.0 - 10 * float(case.uniform(1)[0])
        got = student.call("best_possible", log_probability, cap, strength)
        what = "the highest score in reach"
        expect.number(
            got, reach(log_probability, cap, strength), what, log_probability=log_probability, cap=cap, alpha=strength
        )


@graded(points=2, levels=3)
def it_stops(student: Student, case: Case) -> None:
    """When the result is certain the search stops, also at a tie."""
    cap, alpha = settings(case)
    best = -4.0 - 5 * float(case.uniform(1)[0])
    alive = spread(case, best, 4)
    bound = reach(best, cap, alpha)
    ask(student, True, spread(case, bound + 0.1, 3), alive, cap, alpha)
    ask(student, True, [round(reach(-4.0, 1, alpha), 6)], [-4.0, -6.0], 1, alpha)
    ask(student, False, [-1000.0], alive, cap, alpha)  # so that nobody passes by always stopping


@graded(points=2, levels=3)
def it_goes_on(student: Student, case: Case) -> None:
    """While a hypothesis that is alive can still win, the search goes on, even if it is behind now."""
    cap, alpha = settings(case)
    best = -4.0 - 5 * float(case.uniform(1)[0])
    alive = spread(case, best, 4)
    bound = reach(best, cap, alpha)
    ask(student, False, spread(case, bound - 0.1, 3), [best, best], cap, alpha)
    ask(student, False, spread(case, bound - 0.1, 3), alive, cap, alpha)
    now = reach(best, 6, alpha)  # better than what it would score at six tokens, and not safe
    ask(student, False, [(bound + now) / 2], alive, cap, alpha)
    ask(student, True, [bound / 2], [], cap, alpha)  # so that nobody passes by always going on


@graded(points=2, levels=3)
def all_that_are_kept(student: Student, case: Case) -> None:
    """Each of the `keep` best must be certain, not only the first."""
    cap, alpha = settings(case)
    best = -4.0 - 5 * float(case.uniform(1)[0])
    bound = reach(best, cap, alpha)
    alive = spread(case, best, 4)
    ask(student, False, [bound - 0.5, bound + 0.4], alive, cap, alpha, keep=2)
    ask(student, True, [bound + 0.2, bound - 3.0, bound + 0.4], alive, cap, alpha, keep=2)
    ask(student, False, [bound + 0.2, bound + 0.4], alive, cap, alpha, keep=3)


@graded(points=1)
def nothing_is_alive(student: Student, case: Case) -> None:
    """Without a living hypothesis nothing can change any more; with one and nothing finished, everything can."""
    cap, alpha = settings(case)
    ask(student, True, [-1.0 - case.between(0, 5)], [], cap, alpha)
    ask(student, True, [-1.0 - case.between(0, 5)], [], cap, alpha, keep=2)
    ask(student, False, [], [-0.5 - case.between(0, 5)], cap, alpha)
