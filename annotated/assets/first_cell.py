# Run this cell first. It finds the library `annotated`, or installs it, and says what it did.
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

BOOK_URL = ""  # where this book is published, if it is
WHEEL = "annotated_attention.whl"

if importlib.util.find_spec("annotated") is None:
    near = [Path.cwd(), *Path.cwd().parents]  # a checkout, or the wheel that lies in the book, near this notebook?
    found = [folder for folder in near if (folder / "annotated" / "model").is_dir()]
    found += [
        wheel for folder in near for wheel in (folder / WHEEL, folder / "_static" / "wheel" / WHEEL) if wheel.is_file()
    ]
    online = f"{BOOK_URL.rstrip('/')}/_static/wheel/{WHEEL}" if BOOK_URL else ""
    source = os.environ.get("ANNOTATED_SOURCE") or str(found[0] if found else online)
    if not source:
        raise SystemExit(
            f"The library is not here yet. Download {WHEEL}\n"
            "from the download menu at the top of the page that this notebook comes from (or take it from the book's\n"
            "folder _static/wheel), put it beside this notebook, and run this cell again. If you have a checkout, or\n"
            "the wheel in another place, set the environment variable ANNOTATED_SOURCE to its path."
        )
    print(f"The library is not here yet. Installing it from {source} ...")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", source, "vl-convert-python"]
    if subprocess.run(pip).returncode:
        raise SystemExit(
            f"pip could not install {source}: what it says stands above. Put {WHEEL} (from the page's download menu)\n"
            "beside this notebook, or set the environment variable ANNOTATED_SOURCE to a checkout or a wheel, and run\n"
            "this cell again."
        )
    importlib.invalidate_caches()

import annotated  # noqa: E402

print(f"annotated {annotated.__version__} from {Path(annotated.__file__).parent}, Python {sys.version.split()[0]}")
