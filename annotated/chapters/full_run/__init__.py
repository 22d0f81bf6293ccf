"""Chapter 33, "The full WMT14 run": its pictures and experiments."""

from annotated.chapters.full_run.widget import RunPlayback, run_playback

__all__ = ["RunPlayback", "run_playback"]
