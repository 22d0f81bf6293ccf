"""From archives to training data: every planted pair is accounted for, and what changes on the way is refused."""

from __future__ import annotations

import errno
import shutil
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from annotated.cli import main
from annotated.cli.program import _command
from annotated.config import DataConfig
from annotated.data import Tokenizer, TokenStore, read_pairs
from annotated.locks import exclusive_lock
from annotated.runs.preflight.folder import check_data
from annotated.runs.report import prepared_test_sets
from annotated.storage import DiskFull, sha256
from annotated.wmt14 import (
    DownloadError,
    Preparation,
    PreparationError,
    PreparationOptions,
    PreparedCorpus,
    clean,
    encode,
    options,
    preparation,
    prepare,
    prepare_files,
    readme,
    sources,
    steps,
)
from annotated.wmt14.catalogue import Catalogue
from annotated.wmt14.fetch_steps import of_catalogue
from annotated.wmt14.manifest import MANIFESTS
from annotated.wmt14.mirror import Planted, read_planted, write_mirror

OPTIONS = PreparationOptions(vocab_size=400)
STAGES = ("download", "extract", "clean", "deduplicate", "split", "tokenizer", "encode")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    write_mirror(folder, pairs=500)
    return folder


@pytest.fixture(scope="module")
def other_mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with archives of the same names and other sentences."""
    folder = tmp_path_factory.mktemp("other")
    write_mirror(folder, pairs=500, seed=1)
    return folder


@pytest.fixture(scope="module")
def catalogue(mirror: Path) -> Catalogue:
    return Catalogue.read(mirror / "catalogue.json")


@pytest.fixture(scope="module")
def original(mirror: Path, catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "wmt14"
    prepare(catalogue, folder, OPTIONS, mirrors=[str(mirror)], jobs=1, quiet=True)
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of a prepared folder to spoil."""
    return Path(shutil.copytree(original, tmp_path / "copy"))


@pytest.fixture
def again(mirror: Path, catalogue: Catalogue):
    """Prepare a folder as `original` was, or with some options changed."""

    def call(
        folder: Path, options: PreparationOptions = OPTIONS, jobs: int = 1, keep: bool = False, **run
    ) -> list[str]:
        archives = of_catalogue(catalogue, [str(mirror)])
        seen: list[str] = []

        def note(stage: str, _: int, __: int | None) -> None:
            seen.extend([stage] if stage not in seen else [])

        arguments = {"jobs": jobs, "progress": note, "quiet": True, "keep_texts": keep}
        Preparation(archives, folder, options, **arguments).run(**run)
        return seen

    return call


def content(folder: Path) -> dict[str, str]:
    """Hashes of all files of a prepared folder that do not hold times."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in files if path.parent.name != MANIFESTS and not path.name.endswith(".lock")]
    return {str(path.relative_to(folder)): sha256(path) for path in kept}


def test_every_planted_pair_is_counted_by_its_rule(original: Path, mirror: Path) -> None:
    stages = PreparedCorpus.open(original).manifest["stages"]
    clean, split = stages["clean"]["counts"], stages["split"]["counts"]
    for name, part in [*read_planted(mirror).items(), (None, sum(read_planted(mirror).values(), Planted()))]:
        found = clean if name is None else clean["parts"][name]
        assert found["read"] == part.lines
        wanted = {"empty": part.empty, "long": part.too_long, "ratio": part.mismatched, "identical": part.copied}
        nothing = dict.fromkeys(("broken", "word", "script", "not UTF-8"), 0)
        assert found["dropped"] == {**wanted, "markup": part.markup, **nothing}
        assert found["changed"] == part.repairable
    assert split["duplicates"] == part.duplicate
    assert split["overlap"]["test pair"] == part.leaked == split["overlap_found"]
    assert split["train_pairs"] == part.clean + part.repairable + part.wrong_language
    assert stages["encode"]["counts"]["pairs"] == split["train_pairs"]


def test_what_was_spoiled_is_repaired_and_what_leaked_is_gone(original: Path) -> None:
    train = (original / "train.tsv").read_text(encoding="utf-8")
    assert not set(train) & set("\r\x02\x1f\x85\u200b\u2028\u2029\ufeff\u00a0\u0308")
    pairs = [tuple(line.split("\t")) for line in train.split("\n")[:-1]]
    assert len(set(pairs)) == len(pairs)
    held_out = {pair for name in ("valid", "test") for pair in read_pairs(original / f"{name}.tsv")}
    assert held_out and not held_out & set(pairs)
    assert all(side == " ".join(side.split()) for pair in pairs for side in pair)


def test_the_store_is_the_one_that_encoding_in_one_go_gives(original: Path, tmp_path: Path) -> None:
    prepared = PreparedCorpus.open(original)
    tokenizer = Tokenizer.load(prepared.tokenizer)
    pairs = list(read_pairs(original / "train.tsv"))
    expected = TokenStore.build(tmp_path / "store", pairs, tokenizer, OPTIONS.max_length)
    for name in ("source_tokens", "target_tokens", "source_offsets", "target_offsets"):
        assert np.array_equal(getattr(prepared.train, name), getattr(expected, name))
    assert tokenizer.decode(prepared.train.source(0)[:-1]) == pairs[0][0]


def test_the_vocabulary_knows_the_training_text_and_nothing_else(original: Path) -> None:
    texts = [side for pair in read_pairs(original / "train.tsv") for side in pair]
    assert (
        Tokenizer.train(texts, 400, normal_form=True).fingerprint
        == Tokenizer.load(original / "tokenizer.json").fingerprint
    )


def test_evaluation_sets_are_whole_and_named(original: Path, catalogue: Catalogue) -> None:
    prepared = PreparedCorpus.open(original)
    sets = {prepared.valid: catalogue.valid, prepared.test: catalogue.test}
    sets[prepared.further_tests["newstest2014-official"]] = catalogue.further_tests[0]
    for path, part in sets.items():
        assert len(list(read_pairs(path))) == part.pairs
    assert "Anna & Otto" in prepared.test.read_text(encoding="utf-8"), "SGML's &amp; has to become &"
    corpus = prepared.manifest["corpus"]
    assert (corpus["valid"], corpus["test"], corpus["pair"]) == ("newstest2013", "newstest2014", "en-de")
    assert (prepared.source_language, prepared.target_language) == ("en", "de")
    assert {file.name: file.sha256 for file in catalogue.archives()} == {
        name: record["sha256"] for name, record in prepared.manifest["archives"].items()
    }
    assert all(record["pinned"] for record in prepared.manifest["archives"].values())


def test_the_number_of_processes_changes_no_byte(original: Path, again, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_PAIRS", 64)
    monkeypatch.setattr(encode, "SHARD_PAIRS", 100)
    monkeypatch.setattr(encode, "CHUNK_PAIRS", 30)
    again(tmp_path / "three", jobs=3)
    assert PreparedCorpus.open(tmp_path / "three").manifest["stages"]["encode"]["counts"]["shards"] > 3
    assert content(tmp_path / "three") == content(original)


def test_a_second_run_does_nothing(folder: Path, again) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.suffix != ".lock"}
    assert again(folder) == []
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert not any((folder / name).exists() for name in ("extract", "clean", "deduplicate", ".partial"))


def test_it_can_stop_after_a_stage_and_go_on(original: Path, again, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert again(folder, until="clean") == ["download", "extract", "clean"]
    with pytest.raises(PreparationError, match="not prepared to the end .stage encode is missing.*goes on where"):
        PreparedCorpus.open(folder)
    assert again(folder) == ["deduplicate", "split", "tokenizer", "encode"]
    assert content(folder) == content(original)


def test_texts_between_can_be_kept(folder: Path, again, tmp_path: Path) -> None:
    again(tmp_path / "new", keep=True)
    assert (tmp_path / "new" / "clean" / "train.tsv").exists()
    assert not (folder / "clean").exists()


@pytest.mark.parametrize(
    "changes, stage, says",
    [
        ({"max_words": 100}, "clean", "max_words was 250 and is 100 now"),
        ({"without": ("markup",)}, "clean", r"without was \[\] and is \[\"markup\"\] now"),
        ({"deduplicate": False}, "deduplicate", "deduplicate was true and is false now"),
        ({"remove_overlap": False}, "split", "remove_overlap was true and is false now"),
        ({"vocab_size": 500}, "tokenizer", "vocab_size was 400 and is 500 now"),
        ({"max_length": 20}, "encode", "max_length was 256 and is 20 now"),
    ],
)
def test_another_option_is_refused_unless_its_stage_is_made_again(folder: Path, again, changes, stage, says) -> None:
    options, before = PreparationOptions(**{"vocab_size": 400, **changes}), content(folder)
    with pytest.raises(
        PreparationError, match=f"stage {stage} was run before, and since then: {says}.*--again {stage}"
    ):
        again(folder, options)
    assert content(folder) == before, "a refusal must change nothing"
    assert again(folder, options, again=stage)[-1] == "encode"
    assert again(folder, options) == []
    assert len(list((folder / "train").iterdir())) == 5, "the replaced store's files have to go"
    assert again(folder, OPTIONS, again=stage)[-1] == "encode"
    assert content(folder) == before


@pytest.mark.parametrize("change", ["added", "removed", "in another order"])
def test_other_rules_of_cleaning_are_refused_unless_the_text_is_cleaned_again(
    folder: Path, again, monkeypatch, change: str
) -> None:
    shouting = clean.Rule(
        "shouting", "a side is in capitals, as headlines are in some crawls", lambda s, t, _: s.isupper()
    )
    rules = {"added": (*clean.RULES, shouting), "removed": clean.RULES[:-1], "in another order": clean.RULES[::-1]}
    for module in (clean, options, readme, steps):
        monkeypatch.setattr(module, "RULES", rules[change])
    with pytest.raises(PreparationError, match="stage clean was run before, and since then: rules was .*--again clean"):
        again(folder)
    assert again(folder, again="clean")[-1] == "encode"
    assert again(folder) == []
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert ("| rule shouting | " in text) is (change == "added")
    assert ("| rule script | " in text) is (change != "removed")


def test_a_catalogue_with_other_archives_is_refused(folder: Path, other_mirror: Path) -> None:
    other = Catalogue.read(other_mirror / "catalogue.json")
    with pytest.raises(PreparationError, match=r"stage download was run before.*archives\.test-full\.tgz was"):
        prepare(other, folder, OPTIONS, mirrors=[str(other_mirror)], quiet=True)


@pytest.mark.parametrize("name", ["tokenizer.json", "test.tsv", "download/dev.tgz", "train.tsv", "train/store.json"])
def test_a_changed_file_is_refused_and_a_missing_one_is_made_again(folder: Path, again, name: str) -> None:
    before, path = content(folder), folder / name
    original = path.read_bytes()
    path.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    with pytest.raises(PreparationError, match=f"{name}: changed since stage .* made it; put it back, or delete it"):
        again(folder)
    path.unlink()
    made = again(folder)
    after = content(folder)
    if name in ("download/dev.tgz", "train.tsv"):
        assert made == [], "nothing needs these any more"
    else:
        assert after == before
    path.write_bytes(original)
    assert again(folder) == [] and content(folder) == before


def test_verify_finds_a_change_that_size_and_date_do_not_show(folder: Path) -> None:
    prepared = PreparedCorpus.open(folder)
    prepared.verify()
    path = folder / "valid.tsv"
    path.write_bytes(path.read_bytes().replace(b"e", b"a", 1))
    PreparedCorpus.open(folder)
    with pytest.raises(PreparationError, match=r"valid\.tsv: changed; run the command that prepared"):
        prepared.verify()


@pytest.mark.parametrize("damage", ["truncate", "remove"])
def test_open_names_the_file_that_is_not_right(folder: Path, damage: str) -> None:
    path = next((folder / "train").glob("target.tokens.*"))
    path.write_bytes(path.read_bytes()[:-2]) if damage == "truncate" else path.unlink()
    with pytest.raises(PreparationError, match=rf"{path.name}: .*run the command that prepared .* again"):
        PreparedCorpus.open(folder)


def test_a_folder_of_something_else_is_no_prepared_corpus(tmp_path: Path) -> None:
    with pytest.raises(PreparationError, match=f"{tmp_path}: not a prepared corpus .*annotated data wmt14"):
        PreparedCorpus.open(tmp_path)


def test_the_command_that_is_named_prepares_the_corpus_of_the_folders_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {
        "wmt14-en-de": "annotated data wmt14 data/wmt14-en-de",
        "wmt14-en-fr": "annotated data wmt14 data/wmt14-en-fr --pair en-fr",
        "multi30k": "annotated data multi30k data/multi30k",
        "iwslt14-de-en": "annotated data iwslt14 data/iwslt14-de-en",
    }
    monkeypatch.chdir(tmp_path)
    for name, command in expected.items():
        with pytest.raises(PreparationError, match=f"make one: {command}$"):
            PreparedCorpus.open(f"data/{name}")
        (check,) = check_data(DataConfig(prepared=f"data/{name}"))
        assert check.advice == f"prepare it first: {command}"
        _command(command.split()[1:])  # the program understands it


def test_a_folder_may_be_moved(folder: Path, original: Path, again) -> None:
    moved = folder.rename(folder.parent / "moved")
    for path in moved.rglob("*.*"):  # copying tools do not always keep dates
        path.touch()
    assert PreparedCorpus.open(moved).identity == PreparedCorpus.open(original).identity
    assert again(moved) == []


def test_the_identity_follows_the_data(folder: Path, again) -> None:
    before = PreparedCorpus.open(folder).identity
    again(folder, PreparationOptions(vocab_size=400, max_length=20), again="encode")
    assert PreparedCorpus.open(folder).identity != before


def test_a_disk_that_is_too_small_is_refused_before_anything_starts(again, tmp_path: Path, monkeypatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(preparation.shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 5000, 5000))
    with pytest.raises(PreparationError, match=r"takes up to [\d.]+ kB of disk and 5.00 kB are free; free [\d.]+ kB"):
        again(tmp_path / "new")
    assert not (tmp_path / "new" / "download").exists()


def test_needs_are_told_beforehand(again, folder: Path, catalogue: Catalogue, tmp_path: Path) -> None:
    needs = Preparation(of_catalogue(catalogue), tmp_path / "new", OPTIONS, quiet=True).needs()
    assert needs.stages == ("download", "extract", "clean", "deduplicate", "split", "tokenizer", "encode")
    assert needs.download == sum(file.size for file in catalogue.archives())
    assert needs.disk > needs.download
    assert not (tmp_path / "new").exists(), "asking makes nothing"
    done = Preparation(of_catalogue(catalogue), folder, OPTIONS, quiet=True).needs()
    assert (done.stages, done.download, done.disk) == ((), 0, 0)


def test_a_second_preparation_of_the_folder_is_refused_and_says_who_is_there(folder: Path, again, monkeypatch) -> None:
    monkeypatch.setattr(preparation, "_LOCK_SECONDS", 0.1)
    with (
        exclusive_lock(folder / preparation.LOCK),
        pytest.raises(PreparationError, match=r"another process prepares data .*process \d+ on"),
    ):
        again(folder)
    assert again(folder) == []


def test_a_full_disk_says_how_to_go_on_and_nothing_is_lost(original: Path, again, tmp_path: Path, monkeypatch) -> None:
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(encode.store_files, "write_chunk", full)
        with pytest.raises(DiskFull, match="disk is full.*run the same command again; it goes on with this stage"):
            again(tmp_path / "new")
    assert again(tmp_path / "new") == ["encode"]
    assert content(tmp_path / "new") == content(original)


def test_shards_that_are_there_are_not_encoded_again(original: Path, again, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(encode, "SHARD_PAIRS", 100)
    chunks, write = [], encode.store_files.write_chunk

    def failing_at(call: int):
        def write_chunk(files, chunk, tokenizer, info):
            chunks.append(len(chunk))
            if len(chunks) == call:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(files, chunk, tokenizer, info)

        return write_chunk

    with monkeypatch.context() as patch:
        patch.setattr(encode.store_files, "write_chunk", failing_at(4))
        with pytest.raises(DiskFull):
            again(tmp_path / "new")
        patch.setattr(encode.store_files, "write_chunk", failing_at(-1))
        chunks.clear()
        again(tmp_path / "new")
    pairs = PreparedCorpus.open(original).manifest["stages"]["split"]["counts"]["train_pairs"]
    assert sum(chunks) == pairs - 300
    assert content(tmp_path / "new") == content(original)


def test_half_done_shards_of_other_sizes_are_not_mixed_in(original: Path, again, tmp_path: Path, monkeypatch) -> None:
    """As another version of the library may cut them."""
    again(tmp_path / "new", until="tokenizer")
    with monkeypatch.context() as patch:
        patch.setattr(encode, "SHARD_PAIRS", 70)
        patch.setattr(encode, "join", lambda *_: (_ for _ in ()).throw(PreparationError("stop")))
        with pytest.raises(PreparationError, match="stop"):
            again(tmp_path / "new")
    monkeypatch.setattr(encode, "SHARD_PAIRS", 100)
    again(tmp_path / "new")
    assert content(tmp_path / "new") == content(original)


@pytest.mark.parametrize("name, pair", [("wmt14", "en-fr"), ("multi30k", "en-de")])
def test_the_other_corpora_go_through_the_same_door(tmp_path: Path, name: str, pair) -> None:
    other = write_mirror(tmp_path / "mirror", name=name, pair=pair, pairs=1000, vocab_size=300)
    prepared = prepare(other, tmp_path / "out", mirrors=[str(tmp_path / "mirror")], jobs=1, quiet=True)
    planted = sum(read_planted(tmp_path / "mirror").values(), Planted())
    assert prepared.manifest["pairs"] == planted.clean + planted.repairable + planted.wrong_language
    assert Tokenizer.load(prepared.tokenizer).vocab_size == 300
    assert f"{prepared.source_language}-{prepared.target_language}" == pair


def test_the_command_says_beforehand_what_it_needs(mirror: Path, tmp_path: Path, capsys) -> None:
    command = ["data", "wmt14", str(tmp_path / "new"), "--catalogue", str(mirror / "catalogue.json")]
    assert main([*command, "--mirror", str(mirror), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.count("to do") == 7 and "kB, the download included" in said
    assert not (tmp_path / "new").exists()
    assert main([*command, "--without", "language"]) == 2
    assert "no rule language; the rules are empty, broken" in " ".join(capsys.readouterr().err.split())


def test_the_real_archives_are_known_before_anything_is_fetched(tmp_path: Path, capsys) -> None:
    """1.70 GB and 6.66 GB: the sum of the sizes that TensorFlow Datasets records."""
    assert main(["data", "wmt14", str(tmp_path / "a"), "--dry-run"]) == 0
    assert "1.70 GB and 2 archives of unknown size" in capsys.readouterr().out
    assert main(["data", "wmt14", str(tmp_path / "a"), "--pair", "en-fr", "--dry-run"]) == 0
    assert "6.66 GB and 2 archives of unknown size" in capsys.readouterr().out


def test_text_of_ones_own_gives_the_same_data(folder: Path, again, tmp_path: Path) -> None:
    """The stages from cleaning on do the same, whether text comes from archives or lies there already."""
    again(tmp_path / "kept", keep=True)
    source = tmp_path / "kept" / "extract"
    names = ("europarl-v7", "commoncrawl", "news-commentary-v9")
    train = {name: f"{source}/train-{name}.source,{source}/train-{name}.target" for name in names}
    valid = f"{source}/valid-newstest2013.source,{source}/valid-newstest2013.target"
    test = ",".join(f"{source}/test-newstest2014.{side}.sgm" for side in ("source", "target"))
    mine = prepare_files(train, valid, test, tmp_path / "mine", OPTIONS, jobs=1, quiet=True)
    for name in ("train.tsv", "tokenizer.json", "valid.tsv", "test.tsv"):
        assert (mine.folder / name).read_bytes() == (folder / name).read_bytes()
    changed = source / "train-commoncrawl.target"
    changed.write_bytes(changed.read_bytes().replace(b"a", b"o", 1))
    with pytest.raises(PreparationError, match=rf"stage clean was run before, and since then: {changed} is changed"):
        prepare_files(train, valid, test, tmp_path / "mine", OPTIONS, jobs=1, quiet=True)


def test_an_archive_without_a_known_hash_must_not_change(mirror: Path, other_mirror: Path, tmp_path: Path) -> None:
    described = Catalogue.read(mirror / "catalogue.json").to_dict()
    for part in (*described["train"], described["valid"], described["test"], *described["further_tests"]):
        part["archive"] |= {"sha256": None, "md5": None, "size": None}
    unpinned = Catalogue.from_dict(described)
    new = tmp_path / "new"
    prepared = prepare(unpinned, new, OPTIONS, mirrors=[str(mirror)], jobs=1, quiet=True)
    assert not any(record["pinned"] for record in prepared.manifest["archives"].values())
    shutil.rmtree(new / "download")
    with pytest.raises(PreparationError, match="another file than when it was first downloaded here.*find out why"):
        Preparation(of_catalogue(unpinned, [str(other_mirror)]), new, OPTIONS, quiet=True).run(again="download")


@pytest.fixture
def poor_mirror(mirror: Path, tmp_path: Path) -> Path:
    """The mirror without the archives of the test sets."""
    poor = Path(shutil.copytree(mirror, tmp_path / "poor"))
    for name in ("test-full.tgz", "test-filtered.tgz"):
        (poor / name).unlink()
    return poor


def test_without_their_archives_the_test_sentences_come_from_another(
    original: Path, again, catalogue: Catalogue, poor_mirror: Path, tmp_path: Path
) -> None:
    new, said = tmp_path / "new", list[str]()
    work = Preparation(of_catalogue(catalogue, [str(poor_mirror)]), new, OPTIONS, jobs=1, quiet=True)
    work.reporter.say = said.append  # type: ignore[method-assign]
    work.run()
    prepared, whole = PreparedCorpus.open(new), PreparedCorpus.open(original)
    assert prepared.test.read_bytes() == whole.test.read_bytes()
    assert list(whole.further_tests) == ["newstest2014-official"] and not prepared.further_tests
    assert whole.manifest["fallbacks"] == {} == whole.manifest["missing"]
    members = [f"dev/newstest2014-deen-{side}.sgm" for side in ("src.en", "ref.de")]
    told = {"archive": "dev.tgz", "members": members, "instead_of": "test-full.tgz"}
    assert prepared.manifest["fallbacks"] == {"newstest2014": told}
    assert sorted(prepared.manifest["missing"]) == ["test-filtered.tgz", "test-full.tgz"]
    assert "test-full.tgz could not be downloaded" in prepared.manifest["missing"]["test-full.tgz"]
    assert sorted(prepared.manifest["archives"]) == sorted(
        file.name for file in catalogue.archives() if not file.name.startswith("test-")
    )
    spoken = " ".join(said)
    assert "newstest2014 is taken from dev.tgz instead" in spoken and "--again download" in spoken
    assert "prepared without newstest2014-official" in spoken
    text = (new / "README.md").read_text(encoding="utf-8")
    assert "newstest2014 was taken from `dev.tgz`" in text and "Without newstest2014-official" in text
    assert "taken from" not in (original / "README.md").read_text(encoding="utf-8")
    assert [test.name for test in prepared_test_sets(new)] == ["newstest2014"]
    assert again(new) == [], "nothing is to be done although an archive could be had by now"
    assert again(new, again="download") == list(STAGES)
    assert content(new) == content(original)


def test_what_training_needs_is_not_gone_without(catalogue: Catalogue, poor_mirror: Path, tmp_path: Path) -> None:
    (poor_mirror / "dev.tgz").unlink()
    with pytest.raises(DownloadError, match=r"dev\.tgz could not be downloaded"):
        prepare(catalogue, tmp_path / "new", OPTIONS, mirrors=[str(poor_mirror)], jobs=1, quiet=True)


def test_a_test_set_of_another_length_is_refused(catalogue: Catalogue, mirror: Path, tmp_path: Path) -> None:
    wrong = replace(catalogue, test=replace(catalogue.test, pairs=3003))
    with pytest.raises(PreparationError, match=r"newstest2014\.source\.sgm: holds 40 sentence pairs, and .* has 3,003"):
        prepare(wrong, tmp_path / "new", OPTIONS, mirrors=[str(mirror)], jobs=1, quiet=True)


def test_the_readme_says_what_is_in_the_folder(original: Path, mirror: Path) -> None:
    text = (original / "README.md").read_text(encoding="utf-8")
    prepared = PreparedCorpus.open(original)
    planted = sum(read_planted(mirror).values(), Planted())
    assert prepared.identity in text and f"{prepared.manifest['pairs']:,} training pairs" in text
    assert f"| rule markup | -{planted.markup:,} |" in text and f"| duplicates | -{planted.duplicate:,} |" in text
    assert all(f"`{name}`" in text for name in prepared.manifest["files"])
    assert "statmt.org" in text and "Not wmt14" in text


def test_a_mirror_that_is_not_there_is_said_at_once(tmp_path, capsys):
    assert main(["data", "wmt14", str(tmp_path / "out"), "--dry-run", "--mirror", str(tmp_path / "gone")]) == 2
    assert "gone: no such folder" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_mirror_in_the_home_folder_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "archives").mkdir()
    asked = ["data", "wmt14", str(tmp_path / "out"), "--dry-run", "--mirror", "~/archives"]
    assert main(asked) == 0
    assert "no such folder" not in capsys.readouterr().err
