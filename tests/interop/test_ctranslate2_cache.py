"""Conversions for CTranslate2 that are kept: made once, never stale, never half written, and never in the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import warnings
from pathlib import Path

import pytest
import torch

import annotated
from annotated import Transformer, Translator, tiny
from annotated.data import Tokenizer
from annotated.interop import ctranslate2_cache
from annotated.interop.ctranslate2_cache import RECORD, user_cache
from annotated.saving import CheckpointError
from annotated.storage import PARTIAL, DiskFull

pytestmark = pytest.mark.process

pytest.importorskip("ctranslate2", reason="CTranslate2 needs the extra `export`")

TEXTS = ["The cat sleeps.", "Yes.", "A big dog sees the cat."]
SHAPE = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANNOTATED_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = Tokenizer.train(TEXTS * 2, 280)
    torch.manual_seed(3)
    model = Transformer(tiny(vocab_size=tokenizer.vocab_size, num_encoder_layers=1, num_decoder_layers=1, **SHAPE))
    Translator(model.eval(), tokenizer).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where each conversion was written."""
    made: list[Path] = []
    convert = ctranslate2_cache._convert

    def counted(place: Path, *rest) -> None:
        made.append(place)
        convert(place, *rest)

    monkeypatch.setattr(ctranslate2_cache, "_convert", counted)
    return made


def open_engine(folder: Path, compute_type: str = "float32") -> Translator:
    return Translator.from_pretrained(folder, engine="ctranslate2", compute_type=compute_type)


def test_a_conversion_is_made_once_beside_the_model(folder: Path, conversions: list[Path], cache: Path) -> None:
    first = open_engine(folder)(TEXTS[0])
    assert open_engine(folder)(TEXTS[0]) == first == Translator.from_pretrained(folder)(TEXTS[0])
    assert conversions == [folder / "ctranslate2" / "float32"]
    assert not cache.exists()
    open_engine(folder, "int8")
    assert conversions[1:] == [folder / "ctranslate2" / "int8"]
    sizes = [(place / "model.bin").stat().st_size for place in conversions]
    assert sizes[1] < sizes[0]


def test_new_weights_are_converted_anew(folder: Path, conversions: list[Path]) -> None:
    """Of one weight, in a folder that was written over file by file, so that the old conversion is still there."""
    open_engine(folder)
    model, tokenizer = annotated.load_model(folder)
    with torch.no_grad():
        model.embedding.weight[2].mul_(40)
    annotated.save_pretrained(folder.with_name("new"), model, tokenizer)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(folder.with_name("new") / name, folder / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a changed model is no damage
        after = open_engine(folder)
    assert len(conversions) == 2
    assert after(TEXTS[2]) == Translator(model, tokenizer)(TEXTS[2])


@pytest.mark.parametrize("damage", ["model.bin", "tokenizer.json", RECORD, "absent"])
def test_damage_is_noticed_said_and_mended(folder: Path, conversions: list[Path], damage: str) -> None:
    expected = open_engine(folder)(TEXTS[0])
    place = folder / "ctranslate2" / "float32"
    if damage == "absent":
        (place / "model.bin").unlink()
    else:
        content = bytearray((place / damage).read_bytes())
        content[len(content) // 2] ^= 0xFF
        (place / damage).write_bytes(content)
    with pytest.warns(UserWarning, match=r"ctranslate2/float32: .*; the model is converted anew"):
        assert open_engine(folder)(TEXTS[0]) == expected
    assert len(conversions) == 2
    open_engine(folder)
    assert len(conversions) == 2


@pytest.mark.parametrize("files", [["model.bin"], {}, None, {"model.bin": 3}, "all"])
def test_a_record_that_lists_no_files_means_to_convert_anew(folder: Path, conversions: list[Path], files) -> None:
    expected = open_engine(folder)(TEXTS[0])
    record = folder / "ctranslate2" / "float32" / RECORD
    content = json.loads(record.read_text(encoding="utf-8"))
    if isinstance(files, dict) and files:
        files = dict.fromkeys(content["files"], 3)
    record.write_text(json.dumps(content | {"files": files}), encoding="utf-8")
    with pytest.warns(UserWarning, match=rf"{RECORD} does not .*; the model is converted anew"):
        assert open_engine(folder)(TEXTS[0]) == expected
    assert len(conversions) == 2


@pytest.mark.parametrize("foreign", ["a file", "a folder"])
def test_what_is_none_of_ours_stays_and_the_users_cache_serves(folder: Path, cache: Path, monkeypatch, foreign) -> None:
    place = folder / "ctranslate2" / "float32"
    mine = place if foreign == "a file" else place / "notes.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert open_engine(folder)(TEXTS[0]) == Translator.from_pretrained(folder)(TEXTS[0])
    assert mine.read_text(encoding="utf-8") == "mine" and (cache / "ctranslate2").is_dir()
    monkeypatch.setenv("ANNOTATED_CACHE", str(folder / "config.json"))
    with warnings.catch_warnings(), pytest.raises(PermissionError, match=r"float32 is none of ours: move it away"):
        warnings.simplefilter("ignore")
        open_engine(folder)


def test_a_model_folder_with_a_conversion_may_be_replaced(folder: Path) -> None:
    open_engine(folder)
    model, tokenizer = annotated.load_model(folder)
    annotated.save_pretrained(folder, model, tokenizer)
    assert not (folder / "ctranslate2").exists()


def test_a_folder_that_cannot_be_written_to(folder: Path, conversions, cache: Path, monkeypatch) -> None:
    """The user's cache serves; what was converted before is used where it is."""
    lock = ctranslate2_cache.exclusive_lock

    def refused(path: Path):
        if path.is_relative_to(folder):
            raise PermissionError(13, "Permission denied", str(path))
        return lock(path)

    monkeypatch.setattr(ctranslate2_cache, "exclusive_lock", refused)
    open_engine(folder)
    assert [place.parent for place in conversions] == [cache / "ctranslate2"]
    monkeypatch.undo()
    monkeypatch.setenv("ANNOTATED_CACHE", str(cache))
    open_engine(folder)  # now beside the model
    shutil.rmtree(cache)
    monkeypatch.setattr(ctranslate2_cache, "exclusive_lock", refused)
    open_engine(folder)
    assert not cache.exists()


def test_no_place_at_all_names_the_variable(folder: Path, monkeypatch) -> None:
    def refused(path: Path):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(ctranslate2_cache, "exclusive_lock", refused)
    with pytest.raises(PermissionError, match=r"Read-only file system.* or in .*environment variable ANNOTATED_CACHE"):
        open_engine(folder)


def test_models_of_the_package_and_of_memory_are_kept_in_the_users_cache(cache: Path, conversions) -> None:
    translator = annotated.load("classroom", engine="ctranslate2")
    Translator(translator.model, translator.tokenizer, engine="ctranslate2")
    assert [place.parent for place in conversions] == [cache / "ctranslate2"]


def test_the_users_cache_follows_the_system(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANNOTATED_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert user_cache() == tmp_path / "annotated"
    monkeypatch.setattr("sys.platform", "darwin")
    assert user_cache().parts[-3:] == ("Library", "Caches", "annotated")


def test_a_home_that_is_not_known_is_said(monkeypatch) -> None:
    monkeypatch.setenv("ANNOTATED_CACHE", "~nobody-of-this-name/cache")
    with pytest.raises(CheckpointError, match=r"ANNOTATED_CACHE=~nobody-of-this-name/cache names a home folder .* not"):
        user_cache()
    monkeypatch.delenv("ANNOTATED_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(CheckpointError, match="name a folder by its whole path in the environment variable ANNOTATED"):
        user_cache()


def test_a_full_disk_leaves_nothing(folder: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(ctranslate2_cache, "write_ctranslate2", full)
    with pytest.raises(DiskFull, match="the disk is full"):
        open_engine(folder)
    assert not [*(folder / "ctranslate2").iterdir()]


def test_what_a_killed_process_left_is_swept_away(folder: Path) -> None:
    left = folder / "ctranslate2" / f"{PARTIAL}float32-abcd"
    left.mkdir(parents=True)
    open_engine(folder)
    assert not left.exists()


def _translate(folder: str, start, results) -> None:
    torch.set_num_threads(1)
    start.wait()
    results.put(open_engine(Path(folder))(TEXTS[0]))


@pytest.mark.slow
def test_processes_at_once_spoil_nothing(folder: Path) -> None:
    """All begin without a conversion; each translates, and one sound conversion is left."""
    context = multiprocessing.get_context("spawn")
    start, results = context.Event(), context.Queue()
    workers = [context.Process(target=_translate, args=(str(folder), start, results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    start.set()
    found = [results.get(timeout=300) for _ in workers]
    for worker in workers:
        worker.join()
    assert set(found) == {Translator.from_pretrained(folder)(TEXTS[0])}
    assert sorted(path.name for path in (folder / "ctranslate2").iterdir()) == ["float32", "lock"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_engine(folder)
