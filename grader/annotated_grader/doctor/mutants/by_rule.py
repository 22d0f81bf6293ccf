"""Mutants of our own model by rule: one expression of the library's source changed, and the doctor asked.

The bank has the mistakes that people make. These are all small mistakes that can be made in the files that compute
what a model answers: none may be cleared that changes an answer to a real sentence, but those that `CHOICES` declares.
`python -m annotated_grader.doctor.mutants.by_rule` examines them all, which takes an hour.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from annotated import load
from annotated.classroom import classroom_pairs
from annotated.config import PAD, ModelConfig
from annotated.data.batch import Batch, collate_ids
from annotated.model import Transformer
from annotated_grader.doctor.adapters.ours import OurSubject
from annotated_grader.doctor.examine import examine
from annotated_grader.doctor.finding import Finding
from annotated_grader.doctor.mutants import SEED, SMALL
from annotated_grader.doctor.mutants.patching import Patches
from annotated_grader.doctor.probe import relative_difference

FILES = (
    "model.attention",
    "model.embeddings",
    "model.feed_forward",
    "model.layers",
    "model.masks",
    "model.positional_encoding",
    "model.transformer",
    "speed.kernels.fused",
    "speed.layouts.cache",
    "decoding.search",
    "decoding.greedy",
    "decoding.beam",
    "decoding.pools",
    "training.loss",
    "training.schedule",
    "data.batch",
)
"""Modules whose code is changed."""

OTHER = SMALL.replace(
    norm="pre", positions="learned", max_positions=40, tie_embeddings=False, attention_bias=True, d_v=6
)
"""What the model of the bank has not."""

CHOICES: dict[str, tuple[str, ...]] = {
    "Sines before cosines, or in turn with them: it is the order of the dimensions.": (
        "model.positional_encoding.sinusoidal_encoding: "
        "return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()  ->  "
        "return torch.stack((angles.sin(), angles.cos()), dim=-2).flatten(1).float()",
    ),
    "Keys and values of the memory need no biases; the paper has none.": (
        "model.attention.MultiHeadAttention.project: "
        "k, v = F.linear(key, w_kv, b_kv).split(self.widths[1:], dim=-1)  ->  "
        "k, v = F.linear(key, w_kv).split(self.widths[1:], dim=-1)",
    ),
    "Positions that are subtracted are positions of the other sign.": (
        "model.transformer.Transformer.embed: return self.dropout(self._table(target)(ids) + positions)  ->  "
        "return self.dropout(self._table(target)(ids) - positions)",
    ),
    "Where not all tables are one, two of them may be.": (
        "model.transformer.Transformer._table: return self.target_embedding if target and "
        "(not self.config.tie_embeddings) else self.embedding  ->  return self.embedding",
        "model.transformer.Transformer._table: return self.target_embedding if target and "
        "(not self.config.tie_embeddings) else self.embedding  ->  "
        "return self.target_embedding if not self.config.tie_embeddings else self.embedding",
    ),
}
"""Changes that make another model, which is as right, each with its reason: the doctor must not blame them."""

_OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OTHER_OPERATION: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = "tril triu, sum mean, any all, min max, zeros ones, sin cos, softmax log_softmax, keys values, d_k d_v"
_OTHER_NAME = {a: b for pair in _PAIRS.split(", ") for x, y in [pair.split()] for a, b in ((x, y), (y, x))}


@dataclass(frozen=True)
class Change:
    """One function of the library with one change in it."""

    module: str
    function: str
    """`name` or `Class.name`."""
    before: str
    """The statement that is changed, its first line."""
    after: str
    code: ast.FunctionDef

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: {self.before}  ->  {self.after}"


def changes(name: str) -> list[Change]:
    """All changes of one module of the library, each once."""
    tree = ast.parse(inspect.getsource(importlib.import_module(f"annotated.{name}")))
    found: dict[tuple[str, str], Change] = {}
    holders: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for holder in holders:
        for function in holder.body:
            if isinstance(function, ast.FunctionDef):
                qualified = f"{holder.name}.{function.name}" if isinstance(holder, ast.ClassDef) else function.name
                for before, after, code in _changed(function):
                    found.setdefault((qualified, ast.unparse(code)), Change(name, qualified, before, after, code))
    return list(found.values())


def _changed(function: ast.FunctionDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Every statement with one expression changed, and what is left without it."""
    original = ast.unparse(function)
    for path, statement in _statements(function, ()):
        for new in _without(statement):
            yield _head(statement), _head(new), _put(function, path, new)
        own = copy.copy(statement)
        for field in ("body", "orelse", "finalbody", "handlers"):
            if hasattr(own, field):
                setattr(own, field, [])
        for place, node in _expressions(own, ()):
            for other in _others(node):
                new = _put(statement, place, other)
                code = _put(function, path, new)
                if ast.unparse(code) != original:
                    yield _head(statement), _head(new), code


def _statements(node: ast.AST, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ast.stmt]]:
    for field in ("body", "orelse", "finalbody", "handlers"):
        for i, child in enumerate(getattr(node, field, [])):
            if isinstance(child, ast.stmt) and not isinstance(child, ast.Raise | ast.Import | ast.ImportFrom):
                is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
                if not is_text:
                    yield (*path, (field, i)), child
            yield from _statements(child, (*path, (field, i)))


def _expressions(node: ast.AST, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "targets", "ctx") or isinstance(value, ast.JoinedStr):
            continue
        children = [(i, x) for i, x in enumerate(value)] if isinstance(value, list) else [(None, value)]
        for i, child in children:
            if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                yield (*path, (field, i)), child
                yield from _expressions(child, (*path, (field, i)))


def _put(root: Any, path: Sequence[Any], new: ast.AST) -> Any:
    """A copy of the tree with another node at this place."""
    if not path:
        return new
    (field, i), *rest = path
    root = copy.copy(root)
    if i is None:
        setattr(root, field, _put(getattr(root, field), rest, new))
    else:
        part = list(getattr(root, field))
        part[i] = _put(part[i], rest, new)
        setattr(root, field, part)
    return root


def _head(statement: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement))).splitlines()[0]


def _with(node: Any, **fields: Any) -> Any:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(statement: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        yield ast.Pass()
    if isinstance(statement, ast.If):
        yield _with(statement, test=ast.Constant(True))
        yield _with(statement, test=ast.Constant(False))


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may be in an expression's place."""
    match node:
        case ast.Compare(ops=[op], left=_):
            yield _with(node, ops=[_OTHER_COMPARISON[type(op)]()])
        case ast.BoolOp():
            yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
            yield from node.values
        case ast.BinOp():
            yield from (node.left, node.right)
            if type(node.op) in _OTHER_OPERATION:
                yield _with(node, op=_OTHER_OPERATION[type(node.op)]())
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            yield from (ast.Constant(1 - value), ast.Constant(-1 - value))
        case ast.UnaryOp():
            yield node.operand
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Constant():
            yield from _other_values(node.value)
        case ast.Call():
            yield from _other_calls(node)
        case ast.Slice():
            yield from (_with(node, **{bound: None}) for bound in ("lower", "upper") if getattr(node, bound))
        case ast.Attribute() | ast.Name():
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in _OTHER_NAME:
                yield _with(node, **{"attr" if isinstance(node, ast.Attribute) else "id": _OTHER_NAME[name]})


def _other_values(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from (ast.Constant(value + 1), ast.Constant(value - 1))
    elif isinstance(value, float):
        yield ast.Constant(value * 1.5 or 0.5)


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    if len(node.args) == 1 or isinstance(node.func, ast.Attribute):
        yield from node.args  # a layer, a norm or a residual is missing
    if isinstance(node.func, ast.Attribute):
        yield node.func.value  # no transpose, no mask
    for i in range(len(node.args) - 1):
        yield _with(node, args=[*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]])
    if len(node.args) > 1:
        yield _with(node, args=node.args[:-1])
    yield from (_with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :]) for i in range(len(node.keywords)))
    if isinstance(node.func, ast.Attribute) and node.func.attr == "tril":
        yield from (_with(node, args=[ast.Constant(k)]) for k in (1, -1))


# Switched on


@contextmanager
def switched_on(change: Change) -> Iterator[None]:
    """Inside, the library has the changed function.

    Raises
    ------
    Exception
        Whatever the changed code raises while it is defined.
    """
    module = importlib.import_module(f"annotated.{change.module}")
    holder, _, name = change.function.rpartition(".")
    new = _compiled(module, change.code, holder)
    with Patches() as patches:
        if holder:
            owner = getattr(module, holder)
            kept = inspect.getattr_static(owner, name)
            is_wrapped = isinstance(kept, property | staticmethod | classmethod)
            patches.attribute(owner, name, type(kept)(new) if is_wrapped else new)
        else:
            patches.function(getattr(module, name), lambda _: new)
        yield


def _compiled(module: ModuleType, code: ast.FunctionDef, holder: str) -> Callable[..., Any]:
    """The function, made as if in its module; `super()` needs the class's name outside of it."""
    code = _with(copy.deepcopy(code), decorator_list=[])
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = [ast.Name(holder, ast.Load()), ast.Name("self", ast.Load())]
    text = f"from __future__ import annotations\n{ast.unparse(ast.fix_missing_locations(code))}"
    made: dict[str, Any] = {}
    exec(compile(text, f"<changed {code.name}>", "exec"), vars(module), made)
    made.pop("annotations", None)
    return made[code.name]


# What the model answers


class Answers:
    """What the library computes for real sentences, to be compared with what it computes with a change."""

    def __init__(self) -> None:
        pairs = list(classroom_pairs("test", 6))
        encode = load("classroom", "cpu").tokenizer.encode_batch
        self.pairs = list(zip(encode([p.source for p in pairs]), encode([p.target for p in pairs]), strict=True))
        self.states = {}
        for config in (SMALL, OTHER):
            torch.manual_seed(SEED)
            state = Transformer(config).state_dict()  # and no bias is zero, no gain one, as after training
            self.states[config] = {name: tensor + 0.1 * torch.randn(tensor.shape) for name, tensor in state.items()}
        self.expected = {config: self.of(config) for config in self.states}

    def model(self, config: ModelConfig) -> Transformer:
        """A small model, built anew."""
        model = Transformer(config).eval()
        model.load_state_dict(self.states[config])
        return model

    def of(self, config: ModelConfig) -> list[Any]:
        """Logits, maps, gradients, steps, searches and rates; of padding, nothing."""
        subject, batch = OurSubject(self.model(config)), self.batch(config)
        source, target = batch.source != PAD, batch.target_in != PAD
        logits = subject.logits(batch.source, batch.target_in)
        maps = subject.attention(batch.source, batch.target_in)
        found: list[Any] = [logits[target]]
        for layers, real in zip(maps, (source, target, target), strict=True):
            found += [layer.transpose(1, 2)[real] for layer in layers]
        loss = subject.loss(logits, batch.target_out)
        loss.backward()
        found += [loss, *(p.grad for p in subject.model.parameters() if p.grad is not None)]
        with torch.no_grad():
            state = subject.start(batch.source)
            for token, real in zip(batch.target_in.unbind(1), target.unbind(1), strict=True):
                logits, state = subject.step(state, token)
                found.append(logits[real])
            found.append(subject.greedy(batch.source, 12))
            beams = [subject.beam(row[row != PAD][None], 3, 0.6, 8) for row in batch.source[:2]]
        found += [[one.tokens for beam in beams for one in beam], [one.score for beam in beams for one in beam]]
        found.append(torch.tensor([subject.learning_rate(update) for update in (1, 2, 100, 4000, 9000)]))
        return [part.detach().clone() if isinstance(part, Tensor) else part for part in found]

    def batch(self, config: ModelConfig) -> Batch:
        """Sentences of different lengths, their ids brought into the vocabulary."""

        def fitted(ids: list[int]) -> list[int]:
            return [token if token < config.vocab_size else 4 + token % (config.vocab_size - 4) for token in ids]

        return collate_ids([(fitted(source), fitted(target)) for source, target in self.pairs])

    def difference(self, config: ModelConfig) -> float:
        """The largest relative difference from what the library answers; infinity if an answer has another shape."""
        now, worst = self.of(config), 0.0
        if len(now) != len(self.expected[config]):
            return float("inf")
        for one, other in zip(now, self.expected[config], strict=True):
            if isinstance(one, list):
                one, other = (torch.tensor(x) if x and isinstance(x[0], float) else x for x in (one, other))
            if isinstance(one, Tensor) and isinstance(other, Tensor):
                worst = max(worst, relative_difference(one, other) if one.shape == other.shape else float("inf"))
            elif one != other:
                worst = float("inf")
        return worst


class _Found(Exception):
    """The doctor found something."""


@dataclass(frozen=True)
class Outcome:
    """What became of one change."""

    change: Change
    effect: float
    """The largest relative difference of an answer; NaN if none came."""
    found: str
    """The first finding that failed, or the error; empty if the doctor cleared it, or was not asked."""

    @property
    def kind(self) -> str:
        """'breaks', 'no effect', 'found' or 'cleared'."""
        if self.effect != self.effect:
            return "breaks"
        if self.effect <= SEEN:
            return "no effect"
        return "found" if self.found else "cleared"


SEEN = 1e-4
"""Differences below are rounding, as in `annotated_grader.doctor.probe.CLOSE`."""


def outcome(change: Change, answers: Answers) -> Outcome:
    """Ask whether a change matters, and, if it does, whether the doctor finds it."""
    try:
        with switched_on(change), _time_limit(120):
            for config in answers.states:
                if (difference := answers.difference(config)) > SEEN:
                    return Outcome(change, difference, _first_finding(answers, config))
    except Exception as error:  # the changed code cannot be run: everybody notices
        return Outcome(change, float("nan"), type(error).__name__)
    return Outcome(change, 0.0, "")


def _first_finding(answers: Answers, config: ModelConfig) -> str:
    failed: list[Finding] = []

    def stop(finding: Finding) -> None:
        if finding.outcome in ("failed", "error"):
            failed.append(finding)
            raise _Found

    try:
        examine(OurSubject(answers.model(config)), progress=stop)
    except _Found:
        return failed[0].id
    return ""


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def cleared(name: str, answers: Answers, note: Callable[[Outcome], None] = lambda _: None) -> list[str]:
    """The changes of one module that matter, that the doctor clears, and that are no declared choice."""
    declared = {change for choice in CHOICES.values() for change in choice}
    found = []
    for change in changes(name):
        note(one := outcome(change, answers))
        if one.kind == "cleared" and str(change) not in declared:
            found.append(str(change))
    return found


def main(names: Sequence[str]) -> int:
    """Print what became of every change, and how many there were of each kind; 1 if any is cleared wrongly."""
    torch.set_num_threads(1)
    answers, kinds = Answers(), Counter[str]()

    def note(one: Outcome) -> None:
        kinds[one.kind] += 1
        print(f"{one.kind:9} {one.effect:8.1e} {one.found:20} {one.change}", flush=True)

    wrongly = [change for name in names or FILES for change in cleared(name, answers, note)]
    print(dict(kinds), *(f"cleared and not declared: {change}" for change in wrongly), sep="\n")
    return 1 if wrongly else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
