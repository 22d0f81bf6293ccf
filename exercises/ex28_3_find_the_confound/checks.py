"""Checks of ex28-3: runs changed in known places, with what differs written down by hand for each change.

Paper: sections 5.3 and 6.2, Table 3
"""

import copy
from typing import Any

from annotated.analysis.parameters import parameter_parts
from annotated.config import ModelConfig
from annotated.training.schedule import learning_rate
from annotated_grader import Case, Student, expect, graded

Run = dict[str, Any]


def made(case: Case) -> Run:
    """A run of a small model."""
    heads, d_k = 2 + 2 * case.between(0, 2), 8 + 4 * case.between(0, 3)
    return {
        "model": {
            "vocab_size": 1000 + case.between(0, 900),
            "d_model": 64 + 4 * case.between(0, 9),
            "d_ff": 200 + case.between(0, 90),
            "num_heads": heads,
            "d_k": d_k,
            "d_v": d_k,
            "layers": 2 + case.between(0, 3),
            "positions": {"kind": "sinusoidal"},
        },
        "training": {
            "updates": 3000 + 100 * case.between(0, 30),
            "dropout": 0.1,
            "label_smoothing": 0.1,
            "seed": 3 + case.between(0, 5),
            "batch": {"tokens": 512 + 16 * case.between(0, 9), "accumulate": 2 + 2 * case.between(0, 2), "devices": 4},
            "schedule": {"warmup": 400 + 100 * case.between(0, 5), "scale": 0.5},
        },
        "data": {"corpus": "news", "order": {"seed": 5 + case.between(0, 4)}},
    }


def changed(run: Run, changes: dict[str, Any]) -> Run:
    """A copy of a run with some settings, by their paths, changed or added."""
    new = copy.deepcopy(run)
    for path, value in changes.items():
        *folders, name = path.split(".")
        place = new
        for folder in folders:
            place = place[folder]
        place[name] = value
    return new


def value_at(run: Run, path: str) -> Any:
    """The setting at a path."""
    for name in path.split("."):
        run = run[name]
    return run


DERIVED = ("parameters", "tokens per update", "tokens in all", "highest rate")
TWICE = {
    "training.schedule.warmup": {"highest rate"},
    "model.d_model": {"parameters", "highest rate"},
    "model.vocab_size": {"parameters"},
    "model.d_ff": {"parameters"},
    "model.layers": {"parameters"},
    "model.d_k": {"parameters"},
    "training.schedule.scale": {"highest rate"},
    "training.updates": {"tokens in all"},
    "training.batch.devices": {"tokens per update", "tokens in all"},
    "training.batch.accumulate": {"tokens per update", "tokens in all"},
    "training.batch.tokens": {"tokens per update", "tokens in all"},
}
"""What else differs if a setting is doubled. One of training first tells who forgets all from who excuses the model."""


def is_setting(name: str) -> bool:
    """Whether a listed name is a setting's, and not of the split of a batch."""
    return name not in DERIVED and not is_split(name)


def is_derived(name: str) -> bool:
    """Whether a listed name is a derived quantity's."""
    return name in DERIVED


def is_split(name: str) -> bool:
    """Whether a listed name belongs to the split of a batch."""
    return name.startswith("training.batch")


def compare(
    student: Student, a: Run, changes: dict[str, Any], part: list[str], expected: set[str], kind: Any = is_setting
) -> None:
    """What `confounds` lists of one kind, in either order of the two runs."""
    b = changed(a, changes)
    for one, other in ((a, b), (b, a)):
        got: Any = student.call("confounds", one, other, part)
        expect.true(isinstance(got, list | tuple | set), "confounds returns a list of names", got=got)
        listed = sorted(filter(kind, map(str, got)))
        what = {is_derived: "the derived quantities", is_split: "the settings of the batch"}.get(kind, "the settings")
        expect.equal(listed, sorted(expected), f"{what} listed", changed_in_one_run=changes, part=part)


@graded(points=2, levels=3)
def settings_by_path(student: Student, case: Case) -> None:
    """Every setting is found under its path, at any depth."""
    number = case.between(1, 90)
    run: Run = {"data": "news", "training": {"updates": number, "batch": {"tokens": 5}, "schedule": {"warmup": 2}}}
    expected = {"data": "news", "training.updates": number, "training.batch.tokens": 5, "training.schedule.warmup": 2}
    if case.level > 0:
        run["training"]["batch"]["split"] = {"devices": {"count": number + 1}}
        expected["training.batch.split.devices.count"] = number + 1
    expect.equal(student.call("flatten", run), expected, "the settings by their paths", run=run)


@graded(points=2, levels=3)
def what_follows(student: Student, case: Case) -> None:
    """Parameters, tokens and the highest learning rate follow from the settings."""
    run = made(case)
    if case.level > 0:
        run["model"]["positions"] = {"kind": "learned", "longest": 30 + case.between(0, 40)}
    model, training = dict(run["model"]), run["training"]
    positions, layers = model.pop("positions"), model.pop("layers")
    shape = ModelConfig(**model, num_encoder_layers=layers, num_decoder_layers=layers)
    if positions["kind"] == "learned":
        shape = shape.replace(positions="learned", max_positions=positions["longest"])
    warmup, batch = training["schedule"]["warmup"], training["batch"]
    tokens = sum(batch["tokens"] for _ in range(batch["devices"]) for _ in range(batch["accumulate"]))
    expected = {
        "parameters": sum(parameter_parts(shape).values()),
        "tokens per update": tokens,
        "tokens in all": tokens * training["updates"],
        "highest rate": learning_rate(warmup, shape.d_model, warmup, training["schedule"]["scale"]),
    }
    got: Any = student.call("derived", run)
    expect.true(isinstance(got, dict), "derived returns a dictionary", got=got)
    expect.equal(sorted(map(str, got)), sorted(expected), "the names of what follows")
    for name, number in expected.items():
        expect.number(got[name], number, name, rtol=1e-6, model=run["model"], training=training)


@graded(points=2, levels=2)
def settings_outside_the_part(student: Student, case: Case) -> None:
    """Settings outside the part count, those of training and data and the seeds among them; the part does not."""
    run = made(case)
    dropout = 0.2 + 0.05 * case.between(0, 5)
    both: dict[str, Any] = {"training.dropout": dropout, "training.label_smoothing": 0.0}
    compare(student, run, both, ["training.dropout"], {"training.label_smoothing"})
    seeds: dict[str, Any] = {"training.dropout": dropout, "training.seed": 1, "data.order.seed": 2}
    compare(student, run, seeds, ["training.dropout"], {"training.seed", "data.order.seed"})
    compare(student, run, {"training.dropout": dropout, "data.corpus": "talks"}, ["training.dropout"], {"data.corpus"})
    compare(student, run, {}, ["training.dropout"], set())


@graded(points=1, levels=2)
def in_one_run_alone(student: Student, case: Case) -> None:
    """A setting that only one of the runs has is a difference."""
    run = made(case)
    more = {"model.layers": 1, "model.attention_dropout": 0.1 + 0.1 * case.between(0, 4)}
    compare(student, run, more, ["model.layers"], {"model.attention_dropout"})
    alike = {"training.dropout": 0.3, "training.dropout_of_words": 0.2}  # names that begin alike
    compare(student, run, alike, ["training.dropout"], {"training.dropout_of_words"})


@graded(points=3, levels=2)
def what_follows_counts(student: Student, case: Case) -> None:
    """A derived quantity that differs is listed, also where it follows from the part."""
    run = made(case)
    for path, expected in TWICE.items():
        compare(student, run, {path: 2 * value_at(run, path)}, [path], expected, is_derived)


@graded(points=2, levels=2)
def what_cancels(student: Student, case: Case) -> None:
    """Two changes may leave a derived quantity as it was, and a split of the batch alone is no difference."""
    run = made(case)
    model, training = run["model"], run["training"]
    heads = {"model.num_heads": 2 * model["num_heads"], "model.d_k": model["d_k"] // 2, "model.d_v": model["d_v"] // 2}
    compare(student, run, heads, list(heads), set(), is_derived)
    split = {"training.batch.devices": 8, "training.batch.accumulate": training["batch"]["accumulate"] // 2}
    for kind in (is_derived, is_split):
        compare(student, run, {"training.dropout": 0.3, **split}, ["training.dropout"], set(), kind)
    other = {"training.dropout": 0.3, "training.batch.devices": 3}
    compare(student, run, other, ["training.dropout"], set(), is_split)
    rate = {"training.schedule.warmup": 4 * training["schedule"]["warmup"], "training.schedule.scale": 1.0}
    compare(student, run, rate, ["training.schedule.warmup"], set(), is_derived)


@graded(points=2, levels=2)
def the_verdict(student: Student, case: Case) -> None:
    """Nothing changed, one thing, or confounded."""
    run = made(case)
    model, part = run["model"], ["training.dropout", "training.label_smoothing"]
    heads = {"model.num_heads": 2 * model["num_heads"], "model.d_k": model["d_k"] // 2, "model.d_v": model["d_v"] // 2}
    tried: list[tuple[dict[str, Any], list[str], str]] = [
        (heads, list(heads), "one thing"),
        ({"training.dropout": 0.0}, part, "one thing"),
        ({"model.attention_dropout": 0.1}, ["model.attention_dropout"], "one thing"),
        ({**heads, "model.d_ff": model["d_ff"] + 1}, list(heads), "confounded"),
        ({"model.d_ff": model["d_ff"] + 1}, ["model.d_ff"], "confounded"),  # by what follows from the model alone
        ({"training.updates": 50}, ["training.updates"], "confounded"),  # by what follows from the training alone
        ({"training.dropout": 0.0, "data.corpus": "talks"}, ["training.dropout"], "confounded"),  # by a setting alone
        ({}, part, "nothing changed"),
        ({"model.d_ff": model["d_ff"] + 1}, part, "nothing changed"),
    ]
    got = [student.call("verdict", run, changed(run, changes), part) for changes, part, _ in tried]
    for said, (changes, part, expected) in zip(got, tried, strict=True):
        expect.text(said, expected, f"the verdict ({expected!r} is right)", changed_in_one_run=changes, part=part)
