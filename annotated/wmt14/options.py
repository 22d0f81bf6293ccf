"""Options of a preparation, and its error."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotated.config import DataConfig
from annotated.wmt14.clean import RULES


class PreparationError(ValueError):
    """A corpus cannot be prepared, or a prepared one not be used, as asked; the message says what to do."""


@dataclass(frozen=True)
class PreparationOptions:
    """How text becomes training data. Each choice is written into the manifest of the stage that it decides."""

    without: tuple[str, ...] = ()
    """Rules of cleaning to leave off, by name: empty, broken, long, ratio, word, markup, identical, script."""
    max_words: int = 250
    """Rule long: most words of a side, separated by spaces."""
    max_ratio: float = 9.0
    """Rule ratio: most words of one side for each word of the other."""
    max_word_length: int = 200
    """Rule word: most characters of one word."""
    deduplicate: bool = True
    """Keep only the first of equal pairs."""
    remove_overlap: bool = True
    """Take training pairs out that stand in the validation or test sets. They are counted in any case."""
    overlap_words: int = 6
    """A single side in common counts from this many words on; shorter ones, such as "Thank you.", anybody may say."""
    vocab_size: int | None = None
    """Entries of the shared vocabulary; None takes the catalogue's (37,000 for English-German, 32,000 for
    English-French)."""
    tokenizer_pairs: int = 5_000_000
    """Pairs that the tokenizer learns from, spread evenly over the training text; bounds its memory. English-German
    has fewer."""
    max_length: int = DataConfig.max_length
    """Pairs with a side of more tokens, its end mark included, are left out of the store, and counted."""

    def __post_init__(self) -> None:
        known = [rule.name for rule in RULES]
        if unknown := sorted(set(self.without) - set(known)):
            raise PreparationError(f"there is no rule {', '.join(unknown)}; the rules are {', '.join(known)}")
        for name in ("max_words", "max_ratio", "max_word_length", "overlap_words", "tokenizer_pairs"):
            if getattr(self, name) < 1:
                raise PreparationError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.max_length < 2:
            raise PreparationError("max_length must be at least 2: one token and the end of the sentence")

    def to_dict(self) -> dict[str, Any]:
        """The options as a dictionary that JSON can hold."""
        return asdict(self)

    def some(self, *names: str) -> dict[str, Any]:
        """Those of the options that a stage depends on; tuples as sorted lists, as JSON gives them back."""
        values = {name: getattr(self, name) for name in names}
        return {name: sorted(value) if isinstance(value, tuple) else value for name, value in values.items()}


DEFAULTS = PreparationOptions()
"""What `prepare` takes if nobody says otherwise."""
