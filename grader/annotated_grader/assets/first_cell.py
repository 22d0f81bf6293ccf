# Run this cell first. It finds the library `annotated` and what else this notebook needs, or installs it, and says so.
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

BOOK_URL = ""  # where this book is published, if it is
WHEELS = {"annotated": "annotated_attention.whl", "annotated_grader": "annotated_grader.whl"}

needed = {name: wheel for name, wheel in WHEELS.items() if importlib.util.find_spec(name) is None}
if needed:
    near = [Path.cwd(), *Path.cwd().parents]  # a checkout, or the wheels that lie in the book, near this notebook?
    if given := os.environ.get("ANNOTATED_SOURCE"):
        near = [Path(given).parent if given.endswith(".whl") else Path(given)]
    checkouts = [folder for folder in near if (folder / "annotated" / "model").is_dir()]
    sources = []
    for name, wheel in needed.items():
        found = [folder / name.removeprefix("annotated").lstrip("_") for folder in checkouts]
        found += [place for folder in near for place in (folder / wheel, folder / "_static" / "wheel" / wheel)]
        online = f"{BOOK_URL.rstrip('/')}/_static/wheel/{wheel}" if BOOK_URL else ""
        sources.append(str(next((place for place in found if place.exists()), online)))
    wheels = " and ".join(needed.values())
    if not all(sources):
        raise SystemExit(
            f"This notebook needs what is not installed here. Download {wheels}\n"
            "from the download menu at the top of the page that it comes from (or from the book's _static/wheel), put\n"
            "that beside this notebook, and run this cell again. If you have a checkout, or the wheels in another\n"
            "place, set the environment variable ANNOTATED_SOURCE to its path."
        )
    print(f"What this notebook needs is not all here yet. Installing it from {' and '.join(sources)} ...")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *sources, "vl-convert-python"]
    if subprocess.run(pip).returncode:
        raise SystemExit(
            f"pip could not install {' and '.join(sources)}: what it says stands above. Put {wheels}\n"
            "(from the page's download menu) beside this notebook, or set the environment variable ANNOTATED_SOURCE\n"
            "to a checkout or a folder with wheels, and run this cell again."
        )
    importlib.invalidate_caches()

import annotated  # noqa: E402

print(f"annotated {annotated.__version__} from {Path(annotated.__file__).parent}, Python {sys.version.split()[0]}")
