"""Downloads that survive a bad line, a killed process and a false mirror, and that are checked before they count.

Paper: section 5.1 (its corpora have to come from somewhere); the method is ours
"""

from annotated.data.download.fetch import Downloaded, DownloadError, RemoteFile, download

__all__ = ["DownloadError", "Downloaded", "RemoteFile", "download"]
