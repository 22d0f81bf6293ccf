"""Archives: the wanted files come out whole, and nothing that an archive says can write anywhere else."""

from __future__ import annotations

import gzip
import io
import os
import random
import resource
import tarfile
import zipfile
from pathlib import Path

import pytest

from annotated.wmt14 import archives
from annotated.wmt14.archives import ArchiveError, extract

WANTED = {"training/a.de-en.en": "a.source", "training/a.de-en.de": "a.target"}
CONTENTS = {
    "training/a.de-en.en": b"one\ntwo\n",
    "training/a.cs-en.cs": b"tri\n",
    "training/a.de-en.de": b"eins\nzwei\n",
}


def tar_bytes(contents: dict[str, bytes], *extra: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for info in extra:
            tar.addfile(info)
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zip_bytes(contents: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return file.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def archive(tmp_path: Path, content: bytes, name: str = "archive.tgz") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(tar_bytes(CONTENTS)), tar_bytes(CONTENTS), zip_bytes(CONTENTS)],
    ids=["tgz", "tar", "zip"],
)
def test_the_wanted_files_and_no_others_come_out_whatever_the_archive_is_called(tmp_path, packed):
    found = extract(archive(tmp_path, packed), WANTED, tmp_path / "out")
    assert found == {name: tmp_path / "out" / file for name, file in WANTED.items()}
    assert files_below(tmp_path / "out") == {"a.source": b"one\ntwo\n", "a.target": b"eins\nzwei\n"}


def test_a_gz_member_stays_as_it_is_and_a_leading_dot_does_not_matter(tmp_path):
    packed = gzip.compress(b"one\n")
    path = archive(tmp_path, tar_bytes({"./giga.en.gz": packed}), "giga.tar")
    assert extract(path, {"giga.en.gz": "g.gz"}, tmp_path / "out")["giga.en.gz"].read_bytes() == packed


def test_a_second_time_replaces_the_files(tmp_path):
    path = archive(tmp_path, gzip.compress(tar_bytes(CONTENTS)))
    extract(path, WANTED, tmp_path / "out")
    (tmp_path / "out" / "a.source").write_bytes(b"changed")
    (tmp_path / "out" / f".partial-{path.name}").mkdir()  # left by a process that was killed
    (tmp_path / "out" / f".partial-{path.name}" / "a.source").write_bytes(b"half")
    extract(path, WANTED, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"a.source": b"one\ntwo\n", "a.target": b"eins\nzwei\n"}


def test_what_is_missing_is_named_with_what_there_is_the_likeliest_first(tmp_path):
    path = archive(tmp_path, zip_bytes({f"other/{n}": b"" for n in range(50)} | {"training/a-de-en.en": b"x"}))
    with pytest.raises(
        ArchiveError, match=r"does not hold training/a.de-en.en, training/a.de-en.de. It holds training/"
    ):
        extract(path, WANTED, tmp_path / "out")
    with pytest.raises(ArchiveError, match="and 21 more"):
        extract(path, WANTED, tmp_path / "out")
    assert files_below(tmp_path / "out") == {}


def test_if_one_is_missing_none_comes_out(tmp_path):
    path = archive(tmp_path, gzip.compress(tar_bytes({"training/a.de-en.en": b"one\n"})))
    with pytest.raises(ArchiveError, match=r"does not hold training/a.de-en.de. It holds training/a.de-en.en"):
        extract(path, WANTED, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


# -- what is unsafe --

EVIL_NAMES = ("../evil", "/tmp/annotated-evil", "training/../../evil", "C:\\evil", "..\\evil")


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_names_that_lead_elsewhere_are_never_written(tmp_path, kind):
    contents = CONTENTS | {name: b"evil" for name in EVIL_NAMES}
    packed = tar_bytes(contents) if kind == "tar" else zip_bytes(contents)
    extract(archive(tmp_path, packed, "evil.tar"), WANTED, tmp_path / "out")
    assert set(files_below(tmp_path)) == {"evil.tar", "out/a.source", "out/a.target"}
    assert not Path("/tmp/annotated-evil").exists()


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/b", "..", "", "a\\b"])
def test_a_catalogue_cannot_lead_elsewhere_either(tmp_path, name):
    with pytest.raises(ValueError, match="not a plain file name"):
        extract(archive(tmp_path, tar_bytes(CONTENTS)), {"training/a.de-en.en": name}, tmp_path / "out")


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.FIFOTYPE, "a device"),
        (tarfile.DIRTYPE, "a folder"),
    ],
)
def test_a_wanted_file_that_is_none_is_refused(tmp_path, kind, word):
    (tmp_path / "secret").write_bytes(b"secret")
    contents = {name: content for name, content in CONTENTS.items() if name != "training/a.de-en.en"}
    packed = tar_bytes(contents, special("training/a.de-en.en", kind, str(tmp_path / "secret")))
    with pytest.raises(ArchiveError, match=f"training/a.de-en.en is {word} there and not a file"):
        extract(archive(tmp_path, packed), WANTED, tmp_path / "out")
    assert files_below(tmp_path / "out") == {}


def test_links_that_nobody_wants_do_no_harm(tmp_path):
    packed = tar_bytes(CONTENTS, special("training", tarfile.SYMTYPE, str(tmp_path)))  # through which others would go
    extract(archive(tmp_path, packed), WANTED, tmp_path / "out")
    assert set(files_below(tmp_path)) == {"archive.tgz", "out/a.source", "out/a.target"}


def test_a_link_in_a_zip_file_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        info = zipfile.ZipInfo("training/a.de-en.en")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(ArchiveError, match="is a link there"):
        extract(archive(tmp_path, file.getvalue()), WANTED, tmp_path / "out")


@pytest.mark.parametrize("place", ["training/a.de-en.en", "something else"])
@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_a_bomb_goes_off_at_the_limit(tmp_path, monkeypatch, kind, place):
    monkeypatch.setattr(archives, "_FREE_BYTES", 1 << 20)
    contents = {place: bytes(3 << 20)} | CONTENTS if place not in CONTENTS else CONTENTS | {place: bytes(3 << 20)}
    path = archive(tmp_path, gzip.compress(tar_bytes(contents)) if kind == "tgz" else zip_bytes(contents))
    assert path.stat().st_size < 30_000
    with pytest.raises(ArchiveError, match="unfolds to more than 1 MB, from 0.0 MB"):
        extract(path, WANTED, tmp_path / "out")
    assert files_below(tmp_path / "out") == {}
    assert extract(path, WANTED, tmp_path / "out", largest=1 << 25)  # whoever knows better may say so


# -- what is broken --


def damaged(kind: str) -> bytes:
    text = random.Random(0).randbytes(200_000)
    contents = CONTENTS | {"training/a.de-en.de": text}
    tgz, packed = gzip.compress(tar_bytes(contents)), zip_bytes(contents)
    middle = bytearray(packed)
    middle[len(middle) // 2] ^= 0xFF
    checksum = bytearray(tgz)
    checksum[-8] ^= 0xFF
    return {
        "tgz cut in the middle": tgz[: len(tgz) // 2],
        "tgz without its end": tgz[:-8],
        "tgz with a wrong checksum": bytes(checksum),
        "tar cut in the middle": tar_bytes(contents)[:100_000],
        "zip cut in the middle": packed[: len(packed) // 2],
        "zip with a wrong byte": bytes(middle),
        "nothing": b"",
        "text": b"<html>not an archive</html>" * 100,
        "gzip of text": gzip.compress(b"not a tar file" * 100),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "tgz cut in the middle",
        "tgz without its end",
        "tgz with a wrong checksum",
        "tar cut in the middle",
        "zip cut in the middle",
        "zip with a wrong byte",
        "nothing",
        "text",
        "gzip of text",
    ],
)
def test_a_broken_archive_is_called_so_and_leaves_nothing(tmp_path, kind):
    path = archive(tmp_path, damaged(kind))
    with pytest.raises(
        ArchiveError, match=r"archive.tgz: damaged or incomplete \(.+\); delete it and download it again"
    ):
        extract(path, WANTED, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_archive_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArchiveError, match=r"nowhere.tgz: No such file"):
        extract(tmp_path / "nowhere.tgz", WANTED, tmp_path / "out")


def test_a_full_disk_leaves_nothing_half_done(tmp_path):
    path = archive(tmp_path, gzip.compress(tar_bytes(CONTENTS | {"training/a.de-en.de": bytes(range(256)) * 4000})))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        try:
            extract(path, WANTED, tmp_path / "out")
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(read, 10_000).decode()
    assert said.startswith("DiskFull") and "the disk is full" in said and "Nothing of archive.tgz was taken" in said
    assert files_below(tmp_path / "out") == {}
