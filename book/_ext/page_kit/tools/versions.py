"""Versions of the book beside one another: books of releases into folders of the newest one, and the list of them.

    python book/_ext/page_kit/tools/versions.py SITE BOOK_URL [book-0.1.2.tar.gz ...]

Each archive holds a built book and becomes the folder `0.1` of the site; of one minor version the last release counts.
`switcher.json` names all for the theme's banner (`delivery/publishing.py`): the newest release is the one to read.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
from pathlib import Path

_NAME = re.compile(r"book-(\d+)\.(\d+)\.(\d+)\.tar\.gz")


def place_versions(site: Path, address: str, archives: list[Path]) -> list[dict[str, object]]:
    """Unpack the books of releases into a site and write its `switcher.json`; what that says.

    Raises
    ------
    ValueError
        If a file has another name.
    """
    newest: dict[tuple[int, int], tuple[int, Path]] = {}
    for archive in archives:
        if not (named := _NAME.fullmatch(archive.name)):
            raise ValueError(f"{archive}: no book of a release; its name is book-0.2.0.tar.gz")
        major, minor, patch = map(int, named.groups())
        newest[major, minor] = max(newest.get((major, minor), (-1, archive)), (patch, archive))
    versions: list[dict[str, object]] = []
    address = address.rstrip("/") + "/"
    for (major, minor), (patch, archive) in sorted(newest.items(), reverse=True):
        folder = site / f"{major}.{minor}"
        shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        version = f"{major}.{minor}.{patch}"
        entry = {"name": version, "version": version, "url": f"{address}{major}.{minor}/"}
        versions.append(entry | ({} if versions else {"preferred": True}))
    versions.append({"name": "in the making", "version": "dev", "url": address})
    (site / "switcher.json").write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    return versions


if __name__ == "__main__":
    for one in place_versions(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]]):
        print(one["name"], one["url"])
