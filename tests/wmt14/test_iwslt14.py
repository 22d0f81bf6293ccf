"""IWSLT 2014: the talks of one small archive, split by hand and by the preparation; archives that are not right."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotated.cli import main
from annotated.config import DataConfig
from annotated.data.corpora import CorpusError
from annotated.runs.report.test_sets import describe_data
from annotated.wmt14 import DownloadError, PreparationError, PreparationOptions, PreparedCorpus
from annotated.wmt14.archives import ArchiveError
from annotated.wmt14.iwslt14 import TESTS, lengths_fit, of_iwslt14
from annotated.wmt14.preparation import Preparation

OPTIONS = PreparationOptions(vocab_size=300)
GERMAN, ENGLISH = "de-en/train.tags.de-en.de", "de-en/train.tags.de-en.en"
LAST_TEST = "de-en/IWSLT14.TED.tst2012.de-en.en.xml"
PAIRS = [(f"Hier steht der Satz Nummer {k}.", f"Here stands the sentence number {k}.") for k in range(1, 72)]
PAIRS[4] = ("Nur zwei.", "This has more words than that.")  # 2 and 6
PAIRS[8] = ("wort " * 176, "word " * 176)
PAIRS[11] = ("", "An empty side.")
ABOUT = ["url", "keywords", "speaker", "talkid", "title", "description"]


def members() -> dict[str, str]:
    """The files of an archive: two talks, the second with a translator who is named on one side only."""
    files = {}
    for side, name in enumerate((GERMAN, ENGLISH)):
        about = [f"<{tag}>About the talk</{tag}>" for tag in ABOUT]
        credit = ['<translator href="x">A Name</translator>', "<reviewer>Another</reviewer>"] if not side else []
        lines = [pair[side] for pair in PAIRS]
        files[name] = "\n".join([*about, *lines[:30], *about, *credit, *lines[30:], ""])
    for number, name in enumerate(TESTS):
        for language, text in (("de", "Ein Text &amp; mehr"), ("en", "A text &amp; more")):
            files[f"de-en/{name}.de-en.{language}.xml"] = (
                f'<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<set setid="{name}">\n<doc docid="7{number}" '
                f'genre="lectures">\n<title>A title</title>\n<seg id="1"> {text} {number}a. </seg>\n'
                f'<seg id="2">{text} {number}b.</seg>\n</doc>\n</set>\n</mteval>\n'
            )
    return files


def write_archive(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "de-en.tgz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content := text.encode())
            tar.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "mirror", members()).parent


def prepared(mirror: Path, out: Path, until: str | None = None) -> None:
    Preparation(of_iwslt14([str(mirror)]), out, OPTIONS, jobs=1, quiet=True).run(until)


def pairs_of(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_23rd_pair_that_fits_validates_and_five_sets_test(mirror: Path, tmp_path: Path) -> None:
    """The pairs 5, 9 and 12 do not fit, so the 23rd, 46th and 69th that do are the numbers 26, 49 and 72 of all."""
    prepared(mirror, tmp_path / "out")
    corpus = PreparedCorpus.open(tmp_path / "out")
    assert (corpus.source_language, corpus.target_language) == ("de", "en")
    valid, train = pairs_of(corpus.valid), pairs_of(tmp_path / "out" / "train.tsv")
    assert valid == [list(PAIRS[25]), list(PAIRS[48])]  # there is no pair 72
    unfit = {4, 8, 11}
    assert train == [list(pair) for k, pair in enumerate(PAIRS) if k not in unfit | {25, 48}]
    assert pairs_of(corpus.test) == [
        [f"Ein Text & mehr {k}{letter}.", f"A text & more {k}{letter}."] for k in range(5) for letter in "ab"
    ]
    counts = corpus.manifest["stages"]["extract"]["counts"]
    assert (counts["talk_pairs"], counts["other_lengths"], counts["valid_pairs"]) == (71, 3, 2)
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "TED talks" in readme and "iwslt14-test" in readme
    label = describe_data(DataConfig(prepared=str(tmp_path / "out")), tmp_path)["label"]
    assert "no hash is published" in label and label.endswith("not WMT14")


def test_lengths_fit_at_the_bounds_and_not_beyond() -> None:
    words = {count: " ".join(["w"] * count) for count in (0, 1, 2, 3, 4, 117, 175, 176)}
    for fits, both in [
        (True, (1, 1)), (True, (2, 3)), (True, (3, 2)), (True, (117, 175)), (True, (175, 175)),
        (False, (2, 4)), (False, (4, 2)), (False, (176, 175)), (False, (0, 1)), (False, (0, 0)),
    ]:  # fmt: skip
        assert lengths_fit(words[both[0]], words[both[1]]) is fits, both


def test_the_first_archive_is_the_right_one_from_then_on(mirror: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepared(mirror, out)
    (archive,) = PreparedCorpus.open(out).manifest["archives"].values()
    assert archive["pinned"] is False and len(archive["sha256"]) == 64
    (out / "download" / "de-en.tgz").unlink()
    write_archive(mirror, members() | {"de-en/README": "Another archive."})
    preparation = Preparation(of_iwslt14([str(mirror)]), out, OPTIONS, jobs=1, quiet=True)
    with pytest.raises(PreparationError, match=r"de-en.tgz is another file than when it was first downloaded here"):
        preparation.run(again="download")


FAULTS = {
    "a set is missing": (LAST_TEST, None, ArchiveError, rf"does not hold {LAST_TEST}\. It holds "),
    "a side breaks off": (ENGLISH, members()[ENGLISH][:-200], CorpusError, r"en: has 6\d sentences where .*de has 71"),
    "talks without sentences": (GERMAN, "<url>x</url>\n", CorpusError, "has 71 sentences where .*de has 0"),
    "a set breaks off": (LAST_TEST, members()[LAST_TEST][:-60], CorpusError, "ends within a segment|does not end"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_archive_that_lacks_something_is_named_and_can_be_replaced(fault: str, mirror: Path, tmp_path: Path) -> None:
    member, text, error, message = FAULTS[fault]
    rest = {name: content for name, content in members().items() if name != member}
    out = tmp_path / "out"
    write_archive(tmp_path / "wrong", rest if text is None else rest | {member: text})
    with pytest.raises(error, match=message) as caught:
        prepared(tmp_path / "wrong", out)
    archive, record = out / "download" / "de-en.tgz", out / "manifest" / "first-use.json"
    assert f"delete {archive} and {record}, and name another" in str(caught.value)
    assert ".partial" not in str(caught.value)
    archive.unlink()
    record.unlink()
    prepared(mirror, out)
    assert len(PreparedCorpus.open(out).train) == 71 - 3 - 2


def test_a_damaged_archive_is_named(mirror: Path, tmp_path: Path) -> None:
    path = mirror / "de-en.tgz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ArchiveError, match=r"download/de-en.tgz: damaged or incomplete .*delete it"):
        prepared(mirror, tmp_path / "out")


def test_without_an_archive_the_command_says_where_it_may_come_from(
    mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with pytest.raises(DownloadError, match="de-en.tgz: nobody is known to have this file; name a mirror, or put it"):
        Preparation(of_iwslt14(), out, OPTIONS, jobs=1, quiet=True).run()
    command = ["data", "iwslt14", str(out), "--jobs", "1", "--vocab-size", "300"]
    assert main(command) != 0 and "name a mirror" in capsys.readouterr().err
    assert main([*command, "--mirror", str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main([*command, "--mirror", str(mirror)]) == 0
    assert f"{out}: ready; annotated train iwslt14-de-en --data.prepared {out}" in capsys.readouterr().out
