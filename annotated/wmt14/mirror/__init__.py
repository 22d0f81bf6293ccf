"""A small mirror of WMT14 made of classroom sentences: the same archives, the same files in them, the same faults.

What it serves is not WMT14, and no score on it says anything about WMT14. It is there so that every step from the
download to BLEU can be run and tested in minutes, with no network.
"""

from annotated.wmt14.mirror.faults import Planted
from annotated.wmt14.mirror.server import Fault, Mirror, Request
from annotated.wmt14.mirror.writing import read_planted, write_mirror

__all__ = ["Fault", "Mirror", "Planted", "Request", "read_planted", "write_mirror"]
