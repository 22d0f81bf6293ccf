"""Number of sentence pairs that the grammar makes: a lower bound, counted by its own word lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotated.classroom.adverbs import TIMES_BY_TENSE
from annotated.classroom.drawing import STATIVE
from annotated.classroom.lexicon import ADJECTIVES_BY_KIND, COMPOUNDS_BY_KIND, NOUNS_BY_KIND, VERBS, Noun, Verb


@dataclass(frozen=True, slots=True)
class Slots:
    """One family of sentences: any subject, the verb form, any object, the particle, any time of these."""

    subjects: frozenset[str]
    verb: str
    objects: frozenset[str]
    times: frozenset[str]

    def __len__(self) -> int:
        return len(self.subjects) * len(self.objects) * len(self.times)

    def sentences(self) -> Iterator[str]:
        """All source sentences of the family."""
        for subject in sorted(self.subjects):
            for thing in sorted(self.objects):
                for time in sorted(self.times):
                    text = f"{subject} {self.verb} {thing} {time}."
                    yield text[0].upper() + text[1:]


def _definite(kinds: Sequence[str], plural: bool) -> frozenset[str]:
    """'the dog', 'the old dog', and 'the dogs' where asked for: every noun with every adjective that suits it."""
    phrases = set()
    for kind in kinds:
        nouns: tuple[Noun, ...] = (*NOUNS_BY_KIND.get(kind, ()), *COMPOUNDS_BY_KIND.get(kind, ()))
        for noun in nouns:
            for words in (noun.singular, noun.plural) if plural and noun.plural else (noun.singular,):
                for adjective in ("", *(a.english for a in ADJECTIVES_BY_KIND[kind])):
                    phrases.add(" ".join(("the", adjective, *words)).replace("  ", " "))
    return frozenset(phrases)


def simple_statements(verb: Verb) -> tuple[Slots, ...]:
    """'The old man bought the red apples yesterday.': this verb in the present, past and future."""
    subjects, objects = _definite(("person",), plural=False), _definite(verb.objects, plural=True)
    forms = [("p", verb.third), ("a", verb.past)]
    if verb.base in STATIVE:
        return ()
    forms.append(("f", f"will {verb.base}"))
    particle = f" {verb.particle}" if verb.particle else ""
    return tuple(
        Slots(subjects, form + particle, objects, frozenset(time for time, _ in TIMES_BY_TENSE[letter]))
        for letter, form in forms
    )


def count_pairs() -> int:
    """A lower bound on the number of distinct pairs in all splits together.

    It counts one sentence type only: a definite subject, a transitive verb, a definite object and an adverb of
    time at the end. Every choice shows in the source (each slot starts with a word of its own: *the*, the verb,
    *the*, the adverb), so different choices are different sentences, and the number is the sum over verbs and
    tenses of the product of the slots' sizes. None of them holds a held-out combination.
    """
    families: dict[str, list[Slots]] = {}
    for verb in VERBS:
        if verb.frame == "acc" and "person" in verb.subjects:
            for slots in simple_statements(verb):
                families.setdefault(slots.verb, []).append(slots)
    total = 0
    for same_verb in families.values():
        objects: frozenset[str] = frozenset().union(*(slots.objects for slots in same_verb))
        total += len(same_verb[0].subjects) * len(objects) * len(same_verb[0].times)
    return total
