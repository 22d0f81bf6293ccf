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
    online = f"{BOOK_URL.rstrip('/')}/_static/wheel/{WHEEL}" if BOOK_URL else "annotated-attention"
    source = os.environ.get("ANNOTATED_SOURCE") or str(found[0] if found else online)
    print(f"The library is not here yet. Installing it from {source} ...")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", source, "vl-convert-python"]
    if subprocess.run(pip).returncode:
        raise SystemExit(
            f"pip could not install {source}. Put {WHEEL} (from the book's _static/wheel) beside this notebook, or\n"
            "set the environment variable ANNOTATED_SOURCE to a checkout or a wheel, and run this cell again."
        )
    importlib.invalidate_caches()

import annotated  # noqa: E402

print(f"annotated {annotated.__version__} from {Path(annotated.__file__).parent}, Python {sys.version.split()[0]}")
