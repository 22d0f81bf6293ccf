"""A published book: versions side by side, a banner on all but the newest release, buttons that run it elsewhere."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from book.tests.sites import build_site, served
from book.tests.visit import Visit

pytestmark = pytest.mark.process

pytest.importorskip("sphinx_book_theme", reason="the book's extension needs the extra `book`")
BANNER = "#bd-header-version-warning:not(.d-none)"


def test_a_tag_names_the_folder_of_its_release(extension: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publishing = extension("delivery.publishing")
    for given, address, release in (
        ("", "", ""),
        ("https://me.github.io/annotated", "https://me.github.io/annotated/", ""),
        ("https://me.github.io/annotated/v0.12.3/", "https://me.github.io/annotated/0.12/", "0.12"),
        ("https://books.example/0.2/", "https://books.example/0.2/", "0.2"),
    ):
        monkeypatch.setenv("BOOK_URL", given)
        assert (publishing.address(), publishing.release()) == (address, release)


def menus(publishing: Any, context: dict[str, Any]) -> list[dict[str, Any]]:
    """What a page gets besides the theme's menus."""
    context = {"header_buttons": [], **context}
    publishing.offer_elsewhere(None, "attention/masks", "page.html", context, None)
    return context["header_buttons"]


def test_a_chapter_is_run_elsewhere_only_where_the_build_knows_its_repository(
    extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing, chapter = extension("delivery.publishing"), {"ipynb_source": "attention/masks.ipynb"}
    for name in ("BOOK_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    assert menus(publishing, chapter) == []
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/annotated")
    assert menus(publishing, chapter) == [], "checks of a pull request build it, too, but publish nothing"
    monkeypatch.setenv("BOOK_URL", "https://me.github.io/annotated/")
    monkeypatch.setenv("GITHUB_SHA", "abc")
    assert menus(publishing, {}) == [], "a page without cells"
    (menu,) = menus(publishing, chapter)
    assert {button["text"]: button["url"] for button in menu["buttons"]} == {
        "Binder": "https://mybinder.org/v2/gh/me/annotated/abc?urlpath=lab/tree/notebooks/attention/masks.ipynb",
        "Colab": "https://colab.research.google.com/github/me/annotated/blob/notebooks/attention/masks.ipynb",
    }
    monkeypatch.setenv("BOOK_URL", "https://me.github.io/annotated/v0.2.0/")
    assert "/blob/notebooks-0.2/" in publishing.elsewhere("attention/masks")["Colab"]


def test_binder_writes_the_notebook_that_its_button_opens(
    extension: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOOK_URL", raising=False)
    assert "page_kit.tools.notebooks notebooks" in (repository / "postBuild").read_text(encoding="utf-8")
    written = extension("tools.notebooks").write_notebooks(tmp_path / "notebooks")
    masks = tmp_path / "notebooks" / "attention" / "masks.ipynb"
    assert masks in written and len(written) > 30
    assert json.loads(masks.read_text(encoding="utf-8"))["cells"][0]["id"] == "setup"
    with pytest.raises(FileExistsError):
        extension("tools.notebooks").write_notebooks(tmp_path / "notebooks")


# Versions beside one another, and the banner of each.


def pack(place: Path, text: str) -> Path:
    """A book of a release, as `.ci/publish book` packs it."""
    with tarfile.open(place, "w:gz") as packed:
        entry = tarfile.TarInfo("./index.html")
        entry.size = len(text)
        packed.addfile(entry, io.BytesIO(text.encode()))
    return place


def test_of_each_minor_version_the_last_release_stands_and_the_newest_is_to_be_read(
    extension: Any, tmp_path: Path
) -> None:
    versions, site = extension("tools.versions"), tmp_path / "site"
    site.mkdir()
    archives = [pack(tmp_path / f"book-{name}.tar.gz", name) for name in ("0.10.0", "0.2.1", "0.2.0")]
    versions.place_versions(site, "https://me.github.io/annotated", archives)
    listed = json.loads((site / "switcher.json").read_text(encoding="utf-8"))
    assert [(one["version"], one.get("preferred", False)) for one in listed] == [
        ("0.10.0", True), ("0.2.1", False), ("dev", False),
    ]  # fmt: skip
    assert listed[0]["url"] == "https://me.github.io/annotated/0.10/"
    assert (site / "0.2" / "index.html").read_text() == "0.2.1" and not (site / "0.1").exists()
    with pytest.raises(ValueError, match=r"book-0\.2\.0\.tar\.gz"):
        versions.place_versions(site, "", [tmp_path / "thesis.tar.gz"])
    assert versions.place_versions(site, "https://me.github.io/annotated", [])[0]["version"] == "dev"


@pytest.fixture(scope="module")
def versions_site(extension: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A page in the theme's clothes as the newest book, as release 0.2, and as 0.1, in one folder behind a server."""
    source, root = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("root")
    with served(root) as port, pytest.MonkeyPatch.context() as patched:
        address = f"http://localhost:{port}/annotated/"
        publishing = extension("delivery.publishing")
        for folder, version in (("", "0.2.0"), ("v0.2.0/", "0.2.0"), ("v0.1.3/", "0.1.3"), (None, "0.2.0")):
            told = address.replace("localhost", "LocalHost")  # GitHub's owners have capitals, and a browser has none
            patched.setenv("BOOK_URL", "" if folder is None else told + folder)
            patched.setattr(publishing.annotated, "__version__", version)
            name = "alone" if folder is None else "annotated/" + re.sub(r"v([0-9.]+)[.][0-9]/", r"\1", folder)
            page, theme = {"index": "# Title\n\nText.\n"}, {"html_theme": "sphinx_book_theme"}
            build_site(source, page, ["delivery.publishing"], out=root / name, **theme)
        listed = [{"version": "0.2.0", "url": f"{address}0.2/", "preferred": True}]
        (root / "annotated" / "switcher.json").write_text(json.dumps(listed), encoding="utf-8")
        yield root, address


@pytest.mark.parametrize(
    ("folder", "said"),
    [("", "an unstable development version"), ("0.1/", "an old version (0.1.3)"), ("0.2/", None)],
)
def test_all_but_the_newest_release_lead_to_it(
    versions_site: tuple[Path, str], chromium: Any, folder: str, said: str | None
) -> None:
    _, address = versions_site
    with Visit(chromium, address.rstrip("/"), f"{folder}index.html", alone=True) as v:
        v.rest()
        assert f"{address}switcher.json" in v.asked and v.foreign == [], "nobody else is asked"
        assert v.page.locator(BANNER).count() == (said is not None)
        if said:
            assert said in v.page.locator(BANNER).inner_text()
            v.page.locator(f"{BANNER} a.btn").click()
            v.page.wait_for_url(f"{address}0.2/index.html")


def test_a_book_elsewhere_and_one_without_an_address_ask_for_no_versions(
    versions_site: tuple[Path, str], chromium: Any
) -> None:
    root, address = versions_site
    shutil.copytree(
        root / "annotated" / "0.1", root / "preview", dirs_exist_ok=True
    )  # as tests and `make serve` see it
    for place in (
        (root / "annotated/0.1/index.html").as_uri(),
        (root / "alone/index.html").as_uri(),
        address.replace("annotated/", "preview/index.html"),
        address.replace("annotated/", "alone/index.html"),
    ):
        page, asked, errors = chromium.new_page(), [], []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.goto(place)
        page.wait_for_timeout(500)
        assert not [url for url in asked if "switcher" in url] and errors == []
        assert page.locator(BANNER).count() == 0
        page.close()
    assert "switcher" not in (root / "alone" / "index.html").read_text(encoding="utf-8")


# What the workflows run, on a repository of this machine.


@pytest.fixture
def publish(repository: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`.ci/publish` in a copy of what it needs, with a `gh` that notes what it is told and has one book."""
    if shutil.which("bash") is None or shutil.which("git") is None:
        pytest.skip("no bash or no git here")
    here, programs = tmp_path / "checkout", tmp_path / "programs"
    for name in (".ci/publish", "book/_ext/page_kit/tools/versions.py"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, here / name)
    for name in ("index.html", "_sources/attention/masks.ipynb", "_sources/attention/masks.md"):
        place = here / "_build" / "html" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name, encoding="utf-8")
    programs.mkdir()
    (programs / "gh").write_text(
        f'#!/usr/bin/env bash\necho "$@" >> {tmp_path}/told\n'
        'case "$1 $2" in "release list") echo v0.2.0; echo v0.1.0;; "release view") exit 1;;\n'
        f'"release download") [ "$3" = v0.1.0 ] && cp {tmp_path}/book-0.1.0.tar.gz "${{@: -1}}";; esac\n',
        encoding="utf-8",
    )
    (programs / "gh").chmod(0o755)
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote")], check=True)

    def run(word: str, **environment: str) -> subprocess.CompletedProcess[str]:
        given = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHON": sys.executable,
            "PUSH_TO": str(tmp_path / "remote"),
            "GITHUB_SHA": "abc",
            "GITHUB_REF_NAME": "main",
            "BOOK_URL": "https://me.github.io/annotated/",
        }
        command = ["bash", str(here / ".ci/publish"), word]
        return subprocess.run(command, env=os.environ | given | environment, capture_output=True, text=True)

    return run


def test_books_of_releases_come_beside_the_newest(publish: Any, tmp_path: Path) -> None:
    pack(tmp_path / "book-0.1.0.tar.gz", "old")
    done = publish("versions")
    assert done.returncode == 0 and "v0.2.0 has no book" in done.stderr
    site = tmp_path / "checkout" / "_build" / "html"
    assert (site / "0.1" / "index.html").read_text() == "old" and (site / "index.html").read_text() == "index.html"
    assert "0.1.0" in (site / "switcher.json").read_text()


def test_the_book_of_a_release_is_a_file_of_it(publish: Any, extension: Any, tmp_path: Path) -> None:
    done = publish("book", GITHUB_REF_NAME="v0.3.1")
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "told").read_text()
    assert "release create v0.3.1 --verify-tag" in told
    packed = tmp_path / "checkout" / "build" / "book-0.3.1.tar.gz"
    assert f"release upload v0.3.1 build/{packed.name} --clobber" in told
    site = tmp_path / "site"
    site.mkdir()
    extension("tools.versions").place_versions(site, "https://me.github.io/annotated/", [packed])
    assert (site / "0.3" / "_sources" / "attention" / "masks.md").is_file()


def test_notebooks_are_the_one_commit_of_their_branch(publish: Any, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path / "remote")]
    for tag, branch in (("main", "notebooks"), ("main", "notebooks"), ("v0.2.1", "notebooks-0.2")):
        done = publish("notebooks", GITHUB_REF_NAME=tag)
        assert done.returncode == 0, done.stderr
        listed = subprocess.check_output([*git, "ls-tree", "-r", "--name-only", branch], text=True)
        assert listed == "attention/masks.ipynb\n"
        assert subprocess.check_output([*git, "rev-list", "--count", branch], text=True) == "1\n"


def test_an_unknown_word_is_told_what_there_is(publish: Any) -> None:
    done = publish("everything")
    assert done.returncode == 2 and ".ci/publish notebooks" in done.stderr
