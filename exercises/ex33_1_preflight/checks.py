"""Checks of ex33-1: machines that just fit and that lack one thing, bytes counted tensor by tensor.

Paper: sections 5.1, 5.2
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

MACHINE = {
    "hashes": {"train.tgz": "aa01", "dev.tgz": "bb02", "notes.txt": "ffff"},
    "disk": 5_000_000_000,
    "memory": 8_000_000_000,
    "seconds_per_update": 0.2,
}
PLAN = {
    "hashes": {"train.tgz": "aa01", "dev.tgz": "bb02"},
    "parameters": 63_000_000,
    "keep": 20,
    "micro_batch": 25_000,
    "bytes_per_token": 400_000,
    "updates": 100_000,
    "hours": 6,
}
FLOAT = 4  # bytes
SAVED, IN_MEMORY = (
    ("weights", "first moment", "second moment"),
    ("weights", "gradients", "first moment", "second moment"),
)


def wants(plan: dict[str, Any]) -> dict[str, int]:
    """Bytes on disk and in memory, tensor by tensor."""
    files = [*range(plan["keep"]), "new"]
    disk = sum(FLOAT * plan["parameters"] for _ in files for _ in SAVED)
    return {
        "disk": disk,
        "memory": sum(FLOAT * plan["parameters"] for _ in IN_MEMORY) + plan["micro_batch"] * plan["bytes_per_token"],
    }


def made(case: Case, slack: int = 4) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plan, and a machine with `slack` times of everything that it wants."""
    hours = 3 + case.between(0, 9)
    plan = {
        "hashes": {"train.tgz": "a1", "dev.tgz": f"b{case.between(2, 9)}", "test.tgz": "c3"},
        "parameters": 1000 + case.between(0, 5000),
        "keep": 3 + case.between(0, 9),
        "micro_batch": 100 + case.between(0, 900),
        "bytes_per_token": 70 + case.between(0, 300),
        "updates": 3600,
        "hours": hours,
    }
    much = {name: slack * number for name, number in wants(plan).items()}
    return {"hashes": dict(plan["hashes"]), **much, "seconds_per_update": hours / slack}, plan


def asked(student: Student, machine: dict[str, Any], plan: dict[str, Any], expected: dict[str, Any]) -> None:
    """What comes back, entry by entry."""
    got: Any = student.call("preflight", machine, plan)
    expect.true(isinstance(got, dict), "preflight returns a dictionary", machine=machine, plan=plan)
    expect.equal(sorted(got), sorted(expected), "the names of what fails", machine=machine, plan=plan)
    for name, much in expected.items():
        if name == "data":
            expect.equal(list(got[name]), much, "the changed files", machine=machine, plan=plan)
        else:
            expect.number(got[name], much, f"what is missing of {name}", rtol=1e-9, machine=machine, plan=plan)


@graded(points=2, levels=3)
def files_are_compared(student: Student, case: Case) -> None:
    """Changed: what is pinned and missing or different, and nothing else."""
    names = [f"part{n}.tgz" for n in range(4 + case.between(0, 3))]
    pinned = {name: f"{case.between(10, 99)}" for name in reversed(names)}
    found = {name: sha for name, sha in pinned.items() if name != names[1]} | {names[-1]: "other", "own.txt": "1"}
    got = student.call("changed", found, pinned)
    expect.equal(got, sorted([names[1], names[-1]]), "the files that are changed", found=found, pinned=pinned)
    expect.equal(student.call("changed", {**pinned, "more": "2"}, pinned), [], "nothing changed", pinned=pinned)


@graded(points=1, levels=2)
def an_exact_fit_fits(student: Student, case: Case) -> None:
    """Where everything fits exactly, nothing fails; and nothing where there is plenty."""
    machine, plan = made(case, slack=1)
    asked(student, {**machine, "hashes": {**machine["hashes"], "extra.txt": "zz"}}, plan, {})
    asked(student, *made(case), {})


@graded(points=2, levels=3)
def disk_for_one_more(student: Student, case: Case) -> None:
    """Disk: the checkpoints that stay, and the one beside them."""
    machine, plan = made(case)
    there = 1 + case.between(0, 100)
    asked(student, {**machine, "disk": there}, plan, {"disk": wants(plan)["disk"] - there})


@graded(points=2, levels=3)
def memory_for_adam(student: Student, case: Case) -> None:
    """Memory: what Adam needs for each parameter, and the micro-batch for each token."""
    machine, plan = made(case)
    there = 1 + case.between(0, 100)
    asked(student, {**machine, "memory": there}, plan, {"memory": wants(plan)["memory"] - there})


@graded(points=1, levels=2)
def time_for_all_updates(student: Student, case: Case) -> None:
    """Time: the hours of all updates beyond those of the plan."""
    machine, plan = made(case)
    asked(student, {**machine, "seconds_per_update": plan["hours"] + 2.5}, plan, {"time": 2.5})


@graded(points=1, levels=2)
def all_at_once(student: Student, case: Case) -> None:
    """Everything that fails is said at once."""
    machine, plan = made(case)
    files = {**machine["hashes"], "dev.tgz": "?"}
    poor = {**machine, "hashes": files, "seconds_per_update": plan["hours"] + 1.0}
    asked(student, poor, plan, {"data": ["dev.tgz"], "time": 1.0})


@graded(points=2)
def the_plan_is_mended(student: Student, case: Case) -> None:
    """The repaired plan fits, keeps five checkpoints and is the same training."""
    plan: Any = student.value("repaired")
    expect.true(isinstance(plan, dict) and set(plan) == set(PLAN), "repaired has the entries of PLAN")
    for name in ("parameters", "updates", "hours", "bytes_per_token", "hashes"):
        expect.equal(plan[name], PLAN[name], f"repaired['{name}'], which the training or the machine fixes")
    for name in ("keep", "micro_batch"):
        expect.true(isinstance(plan[name], int) and plan[name] > 0, f"repaired['{name}'] is a positive whole number")
    expect.true(plan["keep"] >= 5, "five checkpoints stay for the average", keep=plan["keep"])
    for name, needed in wants(plan).items():
        there = MACHINE[name]
        expect.true(
            isinstance(there, int) and needed <= there, f"the {name} does not suffice", needed=needed, there=there
        )
