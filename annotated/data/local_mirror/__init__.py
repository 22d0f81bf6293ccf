"""A small mirror of WMT14 made of classroom sentences: the same archives, the same files in them, the same faults.

What it serves is not WMT14, and no score on it says anything about WMT14. It is there so that every step from the
download to BLEU can be run and tested in minutes, with no network.

Paper: none; a rehearsal of section 5.1 on a small scale
"""

from annotated.data.local_mirror.faults import Planted
from annotated.data.local_mirror.server import Fault, Mirror, Request
from annotated.data.local_mirror.writing import read_planted, write_mirror

__all__ = ["Fault", "Mirror", "Planted", "Request", "read_planted", "write_mirror"]
