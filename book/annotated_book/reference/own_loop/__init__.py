"""Page "The model in your own training loop": its training, played back."""

from annotated_book.reference.own_loop.widget import LoopReplay, loop_replay

__all__ = ["LoopReplay", "loop_replay"]
