"""Ownership: commands and public functions that write to a path of their caller's write over nothing of his.

They are found, not listed: commands by the help texts, functions by their syntax (a parameter that is a path, and a
call that writes). One that the tables here do not know fails.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import annotated.parsing
from annotated import DataConfig, ModelConfig, TrainingConfig, Translator, tiny
from annotated.cli import main
from annotated.locks import exclusive_lock
from annotated.ownership import is_lock, new_texts, output_path, require_our_file, require_our_folder
from tests.command_lines import COMMANDS, READS, SHAPE, contents, filled, leaves, make_places

ROOT = Path(__file__).resolve().parent.parent
MINE = b"years of work\n"
UNSEEN: dict[str, tuple[str, ...]] = {
    "data wmt14": ("downloads/dev.tgz", "README.md", "tokenizer.json", "train.tsv", "manifest/01-download.json"),
    "data iwslt14": ("download/de-en.tgz", "README.md", "train.tsv", "extract/train-talks.source"),
    "data multi30k": ("downloads/training.tar.gz", "README.md", "preparation.lock", "train/store.json"),
    "export": ("onnx.json", "translate.py", "tokenizer.json"),
    "preflight": ("README.md", "tokenizer.json", "model/config.json", "training.lock", "log.jsonl"),
    "table3 run": ("size.json", "C1-0.json", "text/README.md", "claims/C1-0.lock", "runs/C1-0/README.md"),
}
"""Names that a command writes, where the first call is a download, takes long, or only looks."""
REPLACED = {
    "data classroom", "data prepare", "data texts", "data treebank", "train", "dry-run", "finish", "average",
    "export marian", "export ctranslate2", "export-log", "doctor", "doctor --html", "exercise build", "exercise grade",
    "exercise export gradescope", "exercise export canvas", "exercise export moodle", "exercise export table",
}  # fmt: skip
"""Commands that go on in a folder of theirs, or replace what they made."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_places(tmp_path_factory.mktemp("given"))


def test_every_command_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    found = {name for name, _ in leaves()}
    assert len(found) > 25
    assert found == READS.keys() | {name for name in COMMANDS if name in found}
    assert {" ".join(words).startswith(name.split(" --")[0]) for name, words in COMMANDS.items()} == {True}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_the_users_files(
    command: str, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotated.data.corpora.CLASSROOM_EVALUATION_PAIRS", 30)
    trees = annotated.parsing.classroom_trees
    monkeypatch.setattr("annotated.parsing.classroom_trees", lambda split, count: trees(split, min(count, 5)))
    if command.startswith("export"):
        needs = {"export": "onnx", "export marian": "transformers", "export-log": "tensorboard"}
        pytest.importorskip(needs.get(command, "ctranslate2"))
    out, run = tmp_path / "out", tmp_path / "run"
    if command in ("finish", "average", "export-log"):
        shutil.copytree(places["trained"], run)
        shutil.rmtree(run / "report", ignore_errors=True)
    words = filled(COMMANDS[command], places, out, run)
    place = run / "report" if command == "finish" else out
    if command in UNSEEN:
        names: list[str] = [*UNSEEN[command]]
    else:
        assert main(words) in ((0, 1) if command.startswith(("doctor", "exercise grade")) else (0,))
        names = (
            [str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()] if place.is_dir() else [""]
        )
        before = contents(tmp_path)
        again = main(words)
        assert (again == 0 or command.startswith(("doctor", "exercise grade"))) == (command in REPLACED)
        if command not in REPLACED:
            assert contents(tmp_path) == before
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert names
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(MINE)
    before = contents(tmp_path)
    assert main(words) in (1, 2)
    assert contents(tmp_path) == before


WRITES = {
    "atomic_write", "atomic_folder", "new_texts", "exclusive_lock", "mkdir", "write_text", "write_bytes", "rename",
    "unlink", "rmtree", "copyfile", "copy2", "save_file", "output_path", "require_our_file", "require_our_folder",
    "require_own_folder", "export_folder",
}  # fmt: skip
"""Names of what is called by a function that writes."""
PARTS = {
    "annotated.storage": "the tools themselves",
    "annotated.locks": "a lock writes over no other file",
    "annotated.ownership": "the rule itself; its tests are below",
    "annotated.data.store_files": "parts of TokenStore.build",
    "annotated.interop.ctranslate2.write_ctranslate2": "into an empty folder of export_folder",
    "annotated.interop.ctranslate2_cache.open_conversion": "into ctranslate2/ of a model folder, or the cache",
    "annotated.interop.ctranslate2_engine.CTranslate2Engine.__init__": "by open_conversion",
    "annotated.runs.checkpoint.prepare_resume": "of `train`, in the folder of a run",
    "annotated.runs.checkpoint.prune_checkpoints": "of `train`, in the folder of a run",
    "annotated.runs.lock.run_lock": "a lock writes over no other file",
    "annotated.runs.dashboards.check_targets": "writes nothing; `export-log` and `train` refuse what it refuses",
    "annotated.runs.log": "of `train`, in the folder of a run",
    "annotated.runs.log_table.read_log": "reads",
    "annotated.runs.mirror": "of `train`, in the folder of a run and in a mirror; tests/runs/test_mirror.py",
    "annotated.runs.own_folder.require_own_folder": "the rule for runs",
    "annotated.runs.preflight": "a folder of its own, which is removed",
    "annotated.runs.readme": "of `train`, in the folder of a run",
    "annotated.runs.setup.start_run": "of `train`, in the folder of a run",
    "annotated.runs.validation_callbacks.write_heads": "of `train`, in the folder of a run",
    "annotated.saving.write_model_files": "into an empty folder",
    "annotated.saving.write_tensors": "into an empty folder",
    "annotated.translator.Translator.from_pretrained": "reads",
    "annotated.wmt14.archives.extract": "a stage, in .partial/",
    "annotated.wmt14.download.download": "a stage, in .partial/",
    "annotated.wmt14.encode.join": "a stage, in .partial/",
    "annotated.wmt14.sgm": "reads",
    "annotated.wmt14.sources": "reads",
    "annotated_grader.instructor.exports.gradescope.grade": "in a folder of its own",
    "annotated_grader.instructor.gradebook.write_whole": "of the Gradebook",
}
"""Functions, or modules of such, that are given a path and write over nothing of a user's, and why."""


def _definitions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of library and grader, by name; a class stands for its `__init__`."""
    for root, package in ((ROOT, "annotated"), (ROOT / "grader", "annotated_grader")):
        for file in sorted((root / package).rglob("*.py")):
            if "exercises" in file.relative_to(root).parts:
                continue
            module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                for one in node.body if isinstance(node, ast.ClassDef) else [node]:
                    if isinstance(one, ast.FunctionDef):
                        yield f"{module}.{node.name}.{one.name}" if one is not node else f"{module}.{one.name}", one


def _paths(node: ast.FunctionDef) -> set[str]:
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return {one.arg for one in given if one.annotation is not None and "Path" in ast.unparse(one.annotation)}


def _calls(node: ast.FunctionDef) -> Iterator[tuple[str, ast.Call]]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield getattr(call.func, "attr", getattr(call.func, "id", "")), call


def _writes(node: ast.FunctionDef) -> bool:
    """Whether a function calls something that writes, or opens a file to write."""
    for name, call in _calls(node):
        modes = [
            one.value for one in (*call.args, *(word.value for word in call.keywords)) if isinstance(one, ast.Constant)
        ]
        if name in WRITES or (name == "open" and any(re.fullmatch("[wxa]b?[+]?", str(mode)) for mode in modes)):
            return True
    return False


def _passes_on(node: ast.FunctionDef, writers: set[str]) -> bool:
    """Whether a function gives a path of its caller's to one that writes."""
    for name, call in _calls(node):
        words = [one for given in (*call.args, *(word.value for word in call.keywords)) for one in ast.walk(given)]
        if name in writers and any(isinstance(one, ast.Name) and one.id in _paths(node) for one in words):
            return True
    return False


def writers() -> set[str]:
    """The public functions and classes that write to a path that they are given, by name."""
    with_paths = {name: node for name, node in _definitions() if _paths(node)}
    found = {name for name, node in with_paths.items() if _writes(node)}
    while True:
        short = {name.removesuffix(".__init__").rpartition(".")[2] for name in found} - {"write", "save", "run"}
        more = {name for name, node in with_paths.items() if name not in found and _passes_on(node, short)}
        if not more:
            return {name for name in found if not re.search(r"\._(?!_init__)", name)}
        found |= more


def _config() -> tuple[ModelConfig, TrainingConfig, DataConfig]:
    training = TrainingConfig(updates=1, device="cpu", batch_tokens=500)
    return tiny(vocab_size=270, **SHAPE), training, DataConfig(train="classroom", classroom_pairs=100, vocab_size=270)


RUN = ("README.md", "tokenizer.json", "tokenizer.origin.json", "training.lock", "log.jsonl", "data/train/store.json")
PREPARED = ("preparation.lock", "manifest/03-clean.json", "README.md", "tokenizer.json", "train.tsv")
STORE = ("store.lock", "store.json", "source.tokens.1234abcd", "target.offsets.1234abcd")
FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "annotated.data.store.TokenStore.build": ("store", STORE),
    "annotated.data.store.TokenStore.open_or_build": ("store", STORE),
    "annotated.data.tokenizer.Tokenizer.save": ("tokenizer", ("",)),
    "annotated.interop.ctranslate2.export_ctranslate2": ("export", ("model.bin", "config.json", "tokenizer.json")),
    "annotated.interop.marian_folder.export_marian": ("export", ("model.safetensors", "config.json", "tokenizer.json")),
    "annotated.interop.onnx.export_onnx": ("onnx", ("onnx.json", "tokenizer.json", "translate.py")),
    "annotated.interop.torchtext.save_multi30k": ("multi30k", ("train.tsv", "valid.tsv", "test.tsv")),
    "annotated.runs.checkpoint.write_snapshot": ("snapshot", ("state.json", "config.json", "model.safetensors")),
    "annotated.runs.dataset.prepare_data": ("prepare_data", RUN),
    "annotated.runs.dry_run.DryRun.save": ("record", ("",)),
    "annotated.runs.dry_run.dry_run": ("run", ("rehearsal.json", ".rehearsal/run/README.md")),
    "annotated.runs.launch.launch": ("run", ("output.txt",)),
    "annotated.runs.loop.train": ("run", RUN),
    "annotated.runs.report.finishing.finish": ("finish", ("report/MODEL_CARD.md", "report/training.lock")),
    "annotated.runs.report.translating.translate_once": ("journal", ("",)),
    "annotated.saving.save_pretrained": ("model", ("config.json", "model.safetensors", "README.md")),
    "annotated.translator.Translator.save_pretrained": ("method", ("config.json", "model.safetensors", "README.md")),
    "annotated.wmt14.catalogue.Catalogue.write": ("catalogue", ("",)),
    "annotated.wmt14.mirror.writing.write_mirror": ("mirror", ("catalogue.json", "planted.json", "training.tar.gz")),
    "annotated.wmt14.preparation.Preparation.__init__": ("preparation", PREPARED),
    "annotated.wmt14.preparation.prepare": ("prepare", PREPARED),
    "annotated.wmt14.preparation.prepare_files": ("prepare_files", PREPARED),
    "annotated_grader.doctor.report.Report.save": ("report", ("",)),
    "annotated_grader.exercise.scaffold.write_exercise": ("scaffold", ("ex99_1_a_mean/exercise.md",)),
    "annotated_grader.exercise.build.write_notebooks": ("notebooks", ("student/ex05-1.ipynb",)),
    "annotated_grader.instructor.exports.gradescope.write_results": ("results", ("",)),
    "annotated_grader.instructor.grade_folder.grade_folder": ("grade", ("gradebook.csv", "run.log", "salt.txt")),
    "annotated_grader.instructor.gradebook.Gradebook.__init__": ("gradebook", ("gradebook.csv", "results/a")),
}  # fmt: skip
"""How each is called, as a name in `_call`, and names that it writes; '' is the path itself."""


def _object(name: str) -> Any:
    import importlib

    words = name.removesuffix(".__init__").split(".")
    for end in range(len(words) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(words[:end]))
        except ModuleNotFoundError:
            continue
        for word in words[end:]:
            found = getattr(found, word)
        return found
    raise AssertionError(name)


def _call(name: str, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """A function of the path, which it writes to."""
    from annotated.runs import TrainingState
    from annotated.runs.checkpoint import take_snapshot
    from annotated.speed.machine.distributed import Processes
    from annotated.training.optimizer import make_optimizer
    from annotated.wmt14.catalogue import catalogue
    from annotated.wmt14.sources import of_files
    from annotated_grader.exercise.catalogue import find
    from annotated_grader.instructor.grade_folder import GradingOptions

    function, how, text = _object(name), FUNCTIONS[name][0], str(places["text.tsv"])
    translator = Translator.from_pretrained(places["model"])
    model, tokenizer = translator.model, translator.tokenizer
    optimizer, state, pair = make_optimizer(model, TrainingConfig()), TrainingState(update=1), ("Yes.", "Ja.")
    if how == "multi30k":
        monkeypatch.setattr("annotated.interop.torchtext.read_multi30k", lambda *_: iter([pair]))
    snapshot = take_snapshot(model, optimizer, state, tokenizer)
    ways: dict[str, Callable[[Any], Any]] = {
        "store": lambda out: function(out, [pair], tokenizer, 50),
        "tokenizer": lambda out: tokenizer.save(out),
        "export": lambda out: function(model, tokenizer, out),
        "onnx": lambda out: function(model, out),
        "multi30k": lambda out: function(out),
        "model": lambda out: function(out, model, tokenizer),
        "scaffold": lambda out: function("ex99-1", "A mean", out),
        "method": lambda out: translator.save_pretrained(out),
        "snapshot": lambda out: function(snapshot, out),
        "prepare_data": lambda out: function(_config()[2], out, Processes(device=torch.device("cpu")), None),
        "record": lambda out: function(object(), out),
        "run": lambda out: function(*_config(), folder=out) if name.endswith("dry_run") else _run(function, out),
        "finish": lambda out: function(out, Translator, test=text),
        "journal": lambda out: function(translator, ["Yes."], out, "weights", translator.decoding),
        "catalogue": lambda out: catalogue("multi30k").write(out),
        "mirror": lambda out: function(out, name="multi30k", pairs=500),
        "preparation": lambda out: function(of_files({"a": text}, text, text, "en-de"), out, quiet=True, jobs=1).run(),
        "prepare": lambda out: function(catalogue("multi30k"), out, quiet=True, jobs=1),
        "prepare_files": lambda out: function({"a": text}, text, text, out, quiet=True, jobs=1),
        "report": lambda out: function(object(), out),
        "notebooks": lambda out: function([find("ex05-1")], out),
        "grade": lambda out: function(places["class"], out, GradingOptions("none")),
        "gradebook": lambda out: function(out),
        "results": lambda out: function(places["class"], out, "ex05-1", "salt", "none"),
    }
    return ways[how]


def _run(function: Callable[..., Any], out: Any) -> Any:
    model, training, data = _config()
    if function.__name__ == "train":
        return function(model, training, data, out, quiet=True)
    return function(out, model, training, data)


def test_every_function_is_known() -> None:
    found = writers()
    of_parts = {name for name in found if any(f"{name}.".startswith(f"{part}.") for part in PARTS)}
    assert {"annotated.runs.loop.train", "annotated.wmt14.preparation.prepare"} <= found
    assert found - of_parts == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_leaves_the_users_files(
    name: str, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if package := re.search("onnx|ctranslate2|marian", name):
        pytest.importorskip("transformers" if package[0] == "marian" else package[0])
    call, out = _call(name, places, monkeypatch), tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    if name.endswith("finish"):
        shutil.copytree(places["trained"], out)
    for written in FUNCTIONS[name][1]:
        (out / written).parent.mkdir(parents=True, exist_ok=True)
        (out / written).write_bytes(MINE)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError):
        call(out)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match="empty"):
        call("")
    assert contents(tmp_path) == before


# The rule itself.


def test_a_folder_is_ours_by_what_is_in_its_mark(tmp_path: Path) -> None:
    def is_ours(folder: Path) -> bool:
        return is_lock(folder / "lock")

    names = ("lock", "part.*")
    assert require_our_folder(tmp_path / "new", names, is_ours) == tmp_path / "new"
    assert not (tmp_path / "new").exists()
    (tmp_path / "slurm-12.out").write_bytes(MINE)
    require_our_folder(tmp_path, names, is_ours)
    with pytest.raises(FileExistsError, match=r"slurm-12.out; give the name of a folder that is new or empty"):
        require_our_folder(tmp_path, names, is_ours, whole=True)
    (tmp_path / "part.1").write_bytes(MINE)
    with pytest.raises(FileExistsError, match=r"part.1;"):
        require_our_folder(tmp_path, names, is_ours)
    (tmp_path / "lock").write_bytes(MINE)
    with pytest.raises(FileExistsError, match=r"lock and 1 more;"):
        require_our_folder(tmp_path, names, is_ours)
    with pytest.raises(FileExistsError, match="no lock of ours"), exclusive_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").read_bytes() == MINE
    (tmp_path / "lock").unlink()
    with exclusive_lock(tmp_path / "lock"):
        pass
    require_our_folder(tmp_path, names, is_ours)
    with pytest.raises(FileExistsError, match="a file stands where a folder is needed"):
        require_our_folder(tmp_path / "part.1", names, is_ours)


def test_a_file_is_written_if_nothing_is_lost(tmp_path: Path) -> None:
    place = tmp_path / "report.txt"
    assert require_our_file(place) == place
    place.touch()
    require_our_file(place)
    require_our_file("/dev/null")
    place.write_bytes(MINE)
    with pytest.raises(FileExistsError, match=r"report.txt is there already"):
        require_our_file(place)
    require_our_file(place, lambda file: file.read_bytes() == MINE)
    with pytest.raises(IsADirectoryError):
        require_our_file(tmp_path)
    with pytest.raises(ValueError, match="a variable is not set"):
        output_path("")


def test_new_texts_are_all_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(MINE)
    with pytest.raises(FileExistsError, match=r"b.txt"), new_texts(tmp_path, ["a.txt", "b.txt"]) as files:
        for file in files.values():
            file.write("another\n")
    assert contents(tmp_path) == {"b.txt": MINE}
    with new_texts(tmp_path, ["a.txt", "b.txt"]) as files:
        for file in files.values():
            file.write(MINE.decode())
    assert contents(tmp_path) == {"a.txt": MINE, "b.txt": MINE}


def test_a_start_that_is_refused_leaves_nothing(tmp_path: Path, places: dict[str, Path]) -> None:
    missing = ["--data.train", "missing.tsv", "--data.valid", str(places["text.tsv"]), "--quiet"]
    assert main(["train", str(tmp_path / "runs" / "a"), *missing]) in (1, 2)
    assert not contents(tmp_path)
    (tmp_path / "slurm-12.out").write_bytes(MINE)
    assert main(["train", str(tmp_path), *missing]) in (1, 2)
    assert contents(tmp_path) == {"slurm-12.out": MINE}


def test_a_lock_that_was_taken_back_is_nobodys(tmp_path: Path) -> None:
    """Who waited for it makes a new one, and does not hold a file that is gone."""
    import threading

    waits, holds = threading.Event(), []

    def second() -> None:
        waits.set()
        with exclusive_lock(tmp_path / "new" / "lock"):
            holds.append((tmp_path / "new" / "lock").is_file())

    other = threading.Thread(target=second)
    with pytest.raises(RuntimeError, match="refused"), exclusive_lock(tmp_path / "new" / "lock"):
        other.start()
        waits.wait()
        raise RuntimeError("refused")
    other.join()
    assert holds == [True]


def test_a_folder_of_a_lock_that_was_taken_back_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it goes in the moment between the making of the folder and the opening of the file."""
    taken, make = [], Path.mkdir

    def make_and_lose(folder: Path, *given: Any, **named: Any) -> None:
        make(folder, *given, **named)
        if folder.name == "new" and len(taken) < 3:
            folder.rmdir()
            taken.append(folder)

    monkeypatch.setattr(Path, "mkdir", make_and_lose)
    with exclusive_lock(tmp_path / "new" / "lock"):
        assert (tmp_path / "new" / "lock").is_file()
    assert len(taken) == 3


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a place in which nobody can make a folder")
def test_a_lock_that_cannot_be_made_says_so() -> None:
    with pytest.raises(FileNotFoundError, match="/proc/no-such-place"), exclusive_lock("/proc/no-such-place/lock"):
        pass


def test_a_model_card_stays(tmp_path: Path, places: dict[str, Path]) -> None:
    translator = Translator.from_pretrained(places["model"])
    translator.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "README.md").write_bytes(MINE)
    translator.save_pretrained(tmp_path / "model")
    assert (tmp_path / "model" / "README.md").read_bytes() == MINE
    translator.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "thesis.txt").write_bytes(MINE)
    with pytest.raises(FileExistsError, match=r"thesis.txt"):
        translator.save_pretrained(tmp_path / "model")


@pytest.mark.parametrize(
    "name, text",
    [
        ("run.log", "2026-01-02 10:11:12 3 submissions in class, one folder a student, isolation: bubblewrap\n"),
        ("gradebook.csv", "student,exercise,score,maximum,percent,status,lost,misconception,seconds,file,note\n"),
    ],
)
def test_folders_of_earlier_versions_are_known(name: str, text: str, tmp_path: Path) -> None:
    from annotated_grader.instructor.gradebook import Gradebook

    (tmp_path / "results").mkdir()
    (tmp_path / name).write_text(text)
    Gradebook(tmp_path)
    assert (tmp_path / name).read_text() == text
