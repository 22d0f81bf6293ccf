"""Checks of ex28-5: layers counted up with the library's parameters, intervals of a known centre and width.

Paper: sections 3.3 and 6.2, Table 3
"""

import math
from typing import Any

from annotated.analysis.parameters import parameter_parts
from annotated.config import ModelConfig
from annotated.evaluation.student_t import student_quantile
from annotated_grader import Case, Student, expect, graded

Run = dict[str, Any]
TIES = ((4, 8, 78, 2), (6, 8, 60, 3), (4, 8, 28, 3))
"""d_k, d_v, d_ff and layers, for d_model 8 and two heads: half a layer of attention lies between two controls."""


def made(case: Case) -> Run:
    """A run of a small model; at level 0 the smallest."""
    larger = case.level > 0
    heads = 2 + 2 * case.between(0, 2) * larger
    return {
        "model": {
            "vocab_size": 300 + case.between(0, 90),
            "d_model": 16 + 4 * case.between(0, 9) * larger,
            "d_ff": 70 + case.between(0, 90),
            "num_heads": heads,
            "d_k": 8 + case.between(0, 3) * larger,
            "d_v": 8 + case.between(0, 3) * larger,
            "layers": 2 + case.between(0, 4) * larger,
            "dropout": 0.1,
        },
        "training": {"updates": 1000 + case.between(0, 99), "batch_tokens": 512, "warmup": 100},
    }


def attention_alone(model: dict[str, Any], layers: int) -> int:
    """Parameters of a model without networks: those of the library's model less its networks and their norms."""
    shape = {name: value for name, value in model.items() if name not in ("layers", "dropout")}
    parts = parameter_parts(ModelConfig(**shape, num_encoder_layers=layers, num_decoder_layers=layers))
    d, d_ff = model["d_model"], model["d_ff"]
    return sum(parts.values()) - 2 * layers * (2 * d * d_ff + d_ff + d + 2 * d)


def with_networks(model: dict[str, Any]) -> int:
    """Parameters of the model as it is."""
    layers, d, d_ff = model["layers"], model["d_model"], model["d_ff"]
    return attention_alone(model, layers) + 2 * layers * (2 * d * d_ff + d_ff + d + 2 * d)


def nearest_layers(model: dict[str, Any]) -> int:
    """Layers without networks, one more at a time, for as long as that comes nearer to the model's parameters."""
    layers, size = model["layers"], with_networks(model)
    while abs(attention_alone(model, layers + 1) - size) < abs(attention_alone(model, layers) - size):
        layers += 1
    return layers


def with_control(run: Run, larger: bool) -> Run:
    """The run with wider networks, until its control has more parameters than it, or fewer."""
    while (attention_alone(run["model"], nearest_layers(run["model"])) > with_networks(run["model"])) != larger:
        run["model"]["d_ff"] += 3
    return run


def tied(case: Case) -> Run:
    """A run to which two controls come equally near."""
    run = made(case)
    d_k, d_v, d_ff, layers = TIES[case.between(0, 2)]
    run["model"] |= {"d_model": 8, "num_heads": 2, "d_k": d_k, "d_v": d_v, "d_ff": d_ff, "layers": layers}
    return run


def three_rows(student: Student, run: Run) -> dict[str, Run]:
    """What `rows` gives, if it is three descriptions."""
    got: Any = student.call("rows", run)
    names = sorted(map(str, got)) if isinstance(got, dict) else got
    expect.equal(names, ["base", "control", "without"], "the names of the rows")
    for name, one in got.items():
        right = isinstance(one, dict) and isinstance(one.get("model"), dict)
        expect.true(right, f"{name!r} is a description in the form of BASE", got=one)
    return dict(got)


def settings(run: Run, left_out: tuple[str, ...] = ()) -> Run:
    """A description without some settings of the model."""
    return {**run, "model": {name: value for name, value in run["model"].items() if name not in left_out}}


def losses(case: Case, centre: float, reach: float, count: int) -> tuple[dict[int, float], dict[int, float]]:
    """Losses of base and of a row whose paired interval has this centre and reaches so far to each side."""
    drawn = case.normal(count).tolist()
    middle = math.fsum(drawn) / count
    spread = math.sqrt(math.fsum((one - middle) ** 2 for one in drawn) / (count - 1))
    deviation = reach * math.sqrt(count) / student_quantile(0.95, count - 1)
    gaps = [centre + deviation * (one - middle) / spread for one in drawn]
    base = {seed: 3.5 + 0.1 * one for seed, one in enumerate(case.normal(count).tolist())}
    return base, {seed: base[seed] + gap for seed, gap in enumerate(gaps)}


def decided(student: Student, case: Case, tried: list[tuple[float, float, str]]) -> None:
    """Answers to intervals given by centre and reach in units of what matters; all asked before one is judged."""
    count = 3 if case.level == 0 else 4 + case.between(0, 3)
    asked = []
    for number, (centre, reach, _) in enumerate(tried):
        smallest = (0.02, 0.005, 0.08)[number % 3]
        asked.append((*losses(case, centre * smallest, reach * smallest, count), smallest))
    judged(student, asked, tried)


def judged(student: Student, asked: list[Any], tried: list[tuple[float, float, str]]) -> None:
    """Losses of base and row and what matters, with the interval and the answer that are right."""
    said = [student.call("decide", *one) for one in asked]
    for got, (base, row, smallest), (centre, reach, expected) in zip(said, asked, tried, strict=True):
        ends = [round((centre - reach) * smallest, 5), round((centre + reach) * smallest, 5)]
        named = {"base": base, "row": row, "smallest": smallest, "interval": ends}
        expect.text(got, expected, f"the verdict ({expected!r} is right)", **named)


@graded(points=2, levels=3)
def the_part_is_left_out(student: Student, case: Case) -> None:
    """Base is the run as it is, and the row without the part differs from it in one setting."""
    run = made(case)
    got = three_rows(student, run)
    expect.equal(got["base"], run, "base", run=run)
    expect.equal(got["without"]["model"].get("d_ff"), 0, "d_ff of the row without the part", run=run)
    expect.equal(settings(got["without"], ("d_ff",)), settings(run, ("d_ff",)), "its other settings", run=run)


@graded(points=3, levels=3)
def a_control_of_the_same_size(student: Student, case: Case) -> None:
    """The control has no networks either, the layers that bring it nearest to base in size, and all else equal."""
    runs = [with_control(made(case), larger) for larger in (False, True)] + [tied(case)] * (case.level > 0)
    controls = [three_rows(student, run)["control"] for run in runs]
    others = ("d_ff", "layers")
    for run, control in zip(runs, controls, strict=True):
        expect.equal(settings(control, others), settings(run, others), "the control but for d_ff and layers", run=run)
        expect.equal(control["model"].get("d_ff"), 0, "d_ff of the control", run=run)
        layers = nearest_layers(run["model"])
        expect.equal(control["model"].get("layers"), layers, "the layers of the control", run=run)


def listed(student: Student, names: list[str], seeds: int) -> list[tuple[Any, Any]]:
    """The runs that `order` gives, as pairs."""
    got: Any = student.call("order", names, seeds)
    right = isinstance(got, list | tuple) and all(isinstance(one, list | tuple) and len(one) == 2 for one in got)
    expect.true(right, "order returns a list of pairs", got=got)
    return [(one[0], one[1]) for one in got]


@graded(points=1, levels=2)
def every_row_with_every_seed(student: Student, case: Case) -> None:
    """Each row has a run with each of the seeds, so that there are pairs."""
    names = ["narrow", "base", "deep", "wide"] if case.level > 0 else ["base", "without", "control"]
    seeds = 2 + case.between(0, 4)
    got = sorted(listed(student, names, seeds), key=str)
    expected = sorted([(name, seed) for name in names for seed in range(seeds)], key=str)
    expect.equal(got, expected, "the runs, sorted", names=names, seeds=seeds)


@graded(points=2, levels=2)
def a_stop_leaves_whole_pairs(student: Student, case: Case) -> None:
    """After any number of runs as many seeds as possible have a run of every row."""
    names, seeds = ["base", "without", "control", "more"][: 3 + (case.level > 0)], 3 + case.between(0, 3)
    got = listed(student, names, seeds)
    complete = []
    for done in range(1, len(names) * seeds + 1):
        rows_of = [{name for name, of in got[:done] if of == seed} for seed in range(seeds)]
        complete.append(sum(len(one) == len(names) for one in rows_of))
    expected = [done // len(names) for done in range(1, len(names) * seeds + 1)]
    expect.equal(complete, expected, "the complete seeds after each run", names=names, seeds=seeds, order=got)


@graded(points=3, levels=3)
def no_outcome_is_left_open(student: Student, case: Case) -> None:
    """The smallest number of seeds with which no outcome is left open."""
    asked = []
    for seeds in (6, 3 + case.between(0, 2), 2, 40 + case.between(0, 20)):
        deviation = 0.01 + 0.001 * case.between(0, 9)
        length = [2 * student_quantile(0.95, n - 1) * deviation / math.sqrt(n) for n in (max(seeds - 1, 2), seeds)]
        asked.append((deviation, length[1] + 0.4 * (length[0] - length[1]) + 1e-6, seeds))
    got = [student.call("seeds_needed", deviation, smallest) for deviation, smallest, _ in asked]
    for found, (deviation, smallest, seeds) in zip(got, asked, strict=True):
        expect.equal(found, seeds, "the number of seeds", deviation=deviation, smallest=smallest)


@graded(points=2, levels=3)
def the_sign(student: Student, case: Case) -> None:
    """An interval on one side of zero gives the sign, also of a small difference."""
    decided(student, case, [(1.05, 1.0, "helps"), (-2.0, 1.9, "harms"), (0.6, 0.3, "helps"), (-0.5, 0.47, "harms")])


@graded(points=2, levels=3)
def a_difference_that_cannot_matter(student: Student, case: Case) -> None:
    """An interval about zero that stays within what matters."""
    said = "no difference that matters"
    decided(student, case, [(0.2, 0.5, said), (-0.05, 0.3, said), (0.05, 0.92, said), (-0.3, 0.65, said)])
    alike = {seed: 3.0 + 0.1 * seed for seed in range(3 + case.between(0, 2))}
    for smallest in (0.01, 0.0):
        got = student.call("decide", alike, dict(alike), smallest)
        expect.text(got, said, f"the verdict on equal losses ({said!r} is right)", base=alike, smallest=smallest)


@graded(points=2, levels=3)
def what_is_left_open(student: Student, case: Case) -> None:
    """An interval that contains zero and a difference that would matter."""
    decided(student, case, [(0.95, 1.0, "open"), (-0.4, 0.9, "open"), (1.5, 2.0, "open"), (0.0, 1.05, "open")])


@graded(points=1, levels=3)
def pairs_by_seed(student: Student, case: Case) -> None:
    """Pairs are runs with the same seed, wherever they stand; seeds of one row alone are left out."""
    count = 3 if case.level == 0 else 4 + case.between(0, 3)
    tried, asked = [(1.1, 1.0, "helps"), (-1.1, 1.0, "harms"), (0.9, 0.95, "open")], []
    for centre, reach, _ in tried:
        base, row = losses(case, 0.02 * centre, 0.02 * reach, count)
        high, low = 5.0 + 0.1 * case.between(0, 9), 2.0  # of one row alone: against the sign that is right
        alone = (high, low) if centre > 0 else (low, high)
        base = dict(sorted(base.items(), reverse=True)) | dict.fromkeys((20, 21), alone[0])
        asked.append((base, {30: alone[1]} | row, 0.02))
    judged(student, asked, tried)
