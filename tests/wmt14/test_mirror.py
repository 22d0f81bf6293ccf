"""The mirror: the layout of the original, faults that are counted, the same bytes each time."""

from __future__ import annotations

import tarfile
import unicodedata
import urllib.request
from pathlib import Path

import pytest

from annotated.wmt14.archives import extract
from annotated.wmt14.catalogue import Catalogue, CatalogueError, catalogue
from annotated.wmt14.download import RemoteFile, download
from annotated.wmt14.mirror import Fault, Mirror, Planted, read_planted, write_mirror
from annotated.wmt14.sgm import read_parallel

pytestmark = pytest.mark.process

PAIRS = 1200


@pytest.fixture(scope="module", params=["en-de", "en-fr"])
def made(request, tmp_path_factory) -> tuple[Path, Catalogue]:
    folder = tmp_path_factory.mktemp("mirror")
    return folder, write_mirror(folder, pair=request.param, pairs=PAIRS)


@pytest.fixture(scope="module")
def texts(made, tmp_path_factory) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each part, by way of download and extraction."""
    folder, made_catalogue = made
    inbox = tmp_path_factory.mktemp("inbox")
    read = {}
    with Mirror(folder) as mirror:
        for archive in made_catalogue.archives():
            got = download(archive, inbox, mirrors=[mirror.url])
            names = {name: name.replace("/", "-") for name in made_catalogue.members(archive)}
            files = extract(got.path, names, inbox / "text")
            for part in made_catalogue.parts():
                if part.archive == archive:
                    sides = files[part.source_member], files[part.target_member]
                    read[part.name] = list(read_parallel(*sides, part.format))
    return read


def test_archives_have_the_names_and_the_members_of_the_original(made):
    folder, made_catalogue = made
    original = catalogue("wmt14", made_catalogue.pair)
    assert [a.name for a in made_catalogue.archives()] == [a.name for a in original.archives()]
    for ours, theirs in zip(made_catalogue.parts(), original.parts(), strict=True):
        assert (ours.name, ours.source_member, ours.target_member, ours.format) == (
            theirs.name,
            theirs.source_member,
            theirs.target_member,
            theirs.format,
        )
    with tarfile.open(folder / "training-parallel-europarl-v7.tgz") as tar:
        names = tar.getnames()
    assert "training/europarl-v7.cs-en.cs" in names  # other languages have to be left alone
    assert made_catalogue == Catalogue.read(folder / "catalogue.json")
    assert made_catalogue.note.startswith("Not wmt14") and made_catalogue.train_pairs is None
    assert not any(part.sacrebleu for part in made_catalogue.parts())  # nobody may take its scores for WMT14's


def test_lines_are_as_many_as_the_catalogue_and_the_counts_say(made, texts):
    folder, made_catalogue = made
    planted = read_planted(folder)
    assert {part.name: part.pairs for part in made_catalogue.parts()} == {n: len(t) for n, t in texts.items()}
    assert {name: counts.lines for name, counts in planted.items()} == {
        part.name: len(texts[part.name]) for part in made_catalogue.train
    }
    total = sum(planted.values(), Planted())
    assert abs(total.clean + total.repairable - PAIRS) <= len(planted)


def test_every_planted_fault_can_be_found_again(made, texts):
    folder, made_catalogue = made
    test = set(texts["newstest2014"])
    seen: set[tuple[str, str]] = set()
    english = {word for part in made_catalogue.train for a, _ in texts[part.name] for word in a.split()}

    def is_english(text: str) -> bool:
        words = text.split()
        return len(words) > 2 and sum(word in english for word in words) > 0.8 * len(words)

    for part in made_catalogue.train:
        pairs, planted = texts[part.name], read_planted(folder)[part.name]
        words = [(len(a.split()), len(b.split())) for a, b in pairs]
        found = {
            "empty": sum(not (a.strip() and b.strip()) for a, b in pairs),
            "duplicate": sum(pair in seen or seen.add(pair) is not None for pair in pairs),
            "leaked": sum(pair in test for pair in pairs),
            "too_long": sum(min(both) > 300 for both in words),
            "mismatched": sum(0 < 8 * min(both) <= max(both) for both in words if min(both)),
            "copied": sum(a == b != "" for a, b in pairs),
            "wrong_language": sum(a != b and is_english(b) for a, b in pairs),
            "markup": sum("<" in a and "<" in b for a, b in pairs),
            "control": sum(any(c in a and c in b for c in "\x02\x1f\u200b\ufeff") for a, b in pairs),
            "separator": sum(any(c in a and c in b for c in "\u2028\u2029\x85") for a, b in pairs),
            "decomposed": sum(b != unicodedata.normalize("NFC", b) for _, b in pairs),
            "spaces": sum(b != b.rstrip() and bool(b.strip()) for _, b in pairs),
        }
        expected = {kind: getattr(planted, kind) for kind in found}
        assert found == expected, part.name
        assert all(count > 0 for kind, count in expected.items() if kind != "leaked")


def test_common_crawl_has_line_ends_of_windows(made, tmp_path):
    folder, made_catalogue = made
    part = made_catalogue.train[1]
    files = extract(folder / part.archive.name, {part.source_member: "a", part.target_member: "b"}, tmp_path)
    for path in files.values():
        assert path.read_bytes().count(b"\r\n") == read_planted(folder)[part.name].crlf > 0


def test_sound_pairs_and_evaluation_sets_share_nothing(made, texts):
    _, made_catalogue = made
    held_out = {text for name in ("newstest2013", "newstest2014") for pair in texts[name] for text in pair}
    overlap = [pair for part in made_catalogue.train for pair in texts[part.name] if held_out & set(pair)]
    assert len(overlap) == 2 and set(overlap) <= set(texts["newstest2014"])  # what was planted as leaked
    assert set(texts["newstest2014-official"]) < set(texts["newstest2014"])
    assert ("Anna & Otto read the book.", "Anna & Otto lesen das Buch.") in texts["newstest2014"]


def test_the_same_arguments_give_the_same_bytes(tmp_path):
    write_mirror(tmp_path / "1", pairs=500)
    write_mirror(tmp_path / "2", pairs=500)
    write_mirror(tmp_path / "3", pairs=500, seed=1)
    first, second, third = (
        {path.name: path.read_bytes() for path in sorted((tmp_path / number).iterdir())} for number in "123"
    )
    assert first == second and first["dev.tgz"] != third["dev.tgz"]


def test_multi30k_goes_through_the_same_door(tmp_path):
    made_catalogue = write_mirror(tmp_path / "m", name="multi30k", pairs=500)
    assert [archive.name for archive in made_catalogue.archives()] == [
        "training.tar.gz",
        "validation.tar.gz",
        "mmt16_task1_test.tar.gz",
    ]
    extract(tmp_path / "m" / "validation.tar.gz", {"val.en": "en", "val.de": "de"}, tmp_path)
    assert len(list(read_parallel(tmp_path / "en", tmp_path / "de"))) == made_catalogue.valid.pairs == 40


def test_what_cannot_be_made_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match="at least 500 pairs"):
        write_mirror(tmp_path, pairs=10)
    with pytest.raises(ValueError, match="no fault 'gremlins'; there are: 404, "):
        Mirror(tmp_path, {"a": "gremlins"})
    with pytest.raises(RuntimeError, match="does not run"):
        _ = Mirror(tmp_path).url


def test_a_fault_ends_after_its_times_and_names_only_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr("annotated.wmt14.download.PAUSES", (0.01,))
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"content")
    with Mirror(tmp_path, {"a": Fault("503", times=1)}) as mirror:
        for name in ("b", "a"):
            download(RemoteFile(name), tmp_path / "inbox", mirrors=[mirror.url])
    assert [(r.name, r.status) for r in mirror.requests] == [("b", 200), ("a", 503), ("a", 200)]


def test_requests_stand_in_the_order_in_which_they_came_whichever_answer_ends_first(tmp_path):
    for name in ("slow", "quick"):
        (tmp_path / name).write_bytes(b"content")
    with Mirror(tmp_path, {"slow": Fault("stall", after=2)}) as mirror:
        slow, quick = (urllib.request.urlopen(mirror.url + name) for name in ("slow", "quick"))
        assert quick.read() == b"content" and slow.read(2) == b"co"
        quick.close()
        slow.close()
    assert [(r.name, r.sent) for r in mirror.requests] == [("slow", 2), ("quick", 7)]
