"""Links to the documentation of PyTorch, Python and NumPy without asking them: the inventories are kept in the book.

A file book/_data/inventories/NAME.txt begins with `# Project BASE-URL`; each further line has a kind, an address and
the names that live there. In the address `$` is the name and `$-` its last part.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from page_kit.data import DATA

FOLDER = DATA / "inventories"


def read(file: Path) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Project, base address, and (name, kind, address) of each object.

    Raises
    ------
    ValueError
        If a line is not as described above, or a name stands twice.
    """
    first, *lines = file.read_text(encoding="utf-8").splitlines()
    mark, project, base = first.split()
    objects: dict[str, tuple[str, str, str]] = {}
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.startswith("#"):
            continue
        kind, address, *names = line.split()
        if mark != "#" or not names:
            raise ValueError(f"{file.name}, line {number}: a kind, an address and names are needed, not {line!r}")
        for name in names:
            if name in objects:
                raise ValueError(f"{file.name}, line {number}: {name} stands there twice")
            place = address.replace("$-", name.rpartition(".")[2]).replace("$", name)
            objects[name] = (name, kind, place)
    return project, base, list(objects.values())


def compiled(project: str, objects: list[tuple[str, str, str]]) -> bytes:
    """An inventory as intersphinx reads it."""
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    body = "".join(f"{name} {kind} 1 {place} -\n" for name, kind, place in objects)
    return head.encode() + zlib.compress(body.encode())


def provide(app: Sphinx, config: Config) -> None:
    """Compile the inventories into the build's folder, and tell intersphinx."""
    folder = Path(app.outdir).parent / ".inventories"
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(FOLDER.glob("*.txt")):
        project, base, objects = read(file)
        target = folder / f"{file.stem}.inv"
        target.write_bytes(compiled(project, objects))
        config.intersphinx_mapping[file.stem] = (base, str(target))


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.setup_extension("sphinx.ext.intersphinx")
    app.connect("config-inited", provide, priority=100)
