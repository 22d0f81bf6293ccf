"""The sentence types with their shares, and the combinations of constructions that training never shows."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from annotated.classroom import contexts as c
from annotated.classroom import descriptions as d
from annotated.classroom import sentences as s
from annotated.classroom import subordinate as sub
from annotated.classroom.phrases import Draw
from annotated.classroom.relative import relative_clause
from annotated.classroom.sentences import Pair

Template = Callable[[Draw], Pair]

SHARES: dict[str, tuple[Template, int]] = {
    "statement": (s.statement, 26),
    "yes-no-question": (s.yes_no_question, 7),
    "question-word": (s.wh_question, 7),
    "address": (s.address, 9),
    "amount": (s.numbers, 4),
    "adverbial-clause": (sub.adverbial_clause, 10),
    "that-clause": (sub.that_clause, 5),
    "whether-clause": (sub.whether_clause, 5),
    "infinitive-clause": (sub.infinitive_clause, 5),
    "relative-clause": (relative_clause, 7),
    "pronoun-it": (c.pronoun_it, 5),
    "too": (c.too_tired, 2),
    "bank": (c.bank, 2),
    "bat": (c.bat, 2),
    "whereabouts": (d.whereabouts, 4),
    "comparison": (d.comparison, 3),
    "quality": (d.predicate, 3),
}
"""Each sentence type by name (the name is among its pairs' features), and how often it is drawn."""

TEMPLATES: tuple[tuple[str, Template], ...] = tuple(
    (name, template) for name, (template, share) in SHARES.items() for _ in range(share)
)


@dataclass(frozen=True, slots=True)
class Construction:
    """A combination kept out of training: all of `features` in one sentence; `template` is where it arises."""

    name: str
    features: frozenset[str]
    explanation: str
    template: str


HELD_OUT: tuple[Construction, ...] = (
    Construction(
        "separable verb in a relative clause", frozenset({"relative:separable"}),
        "der Mann, der die Tür aufmacht: separable verbs are seen in other subordinate clauses, "
        "relative clauses are seen with other verbs.", "relative-clause"),
    Construction(
        "modal and negation in a because clause", frozenset({"because:modal", "because:negation"}),
        "weil er nicht kommen kann: modals and negation are seen in because clauses one at a time, "
        "and together in that clauses.", "adverbial-clause"),
    Construction(
        "fronted adverbial, perfect and compound", frozenset({"main:fronted", "main:perfect", "main:compound"}),
        "Gestern hat Tom den Küchentisch repariert: each two of the three are seen together.", "statement"),
    Construction(
        "modal with a separable verb in a yes/no question", frozenset({"question:modal", "question:separable"}),
        "Kann Anna die Tür aufmachen? Statements have the combination, questions have each alone.",
        "yes-no-question"),
    Construction(
        "perfect with sein in a whether clause", frozenset({"whether:perfect-sein"}),
        "ob Tom nach Berlin gefahren ist: seen in because and that clauses; whether clauses are seen "
        "with haben.", "whether-clause"),
    Construction(
        "two objects in an infinitive clause", frozenset({"infinitive:ditransitive"}),
        "Anna versucht, dem Kind den Brief zu geben: two objects are seen with modals, infinitives "
        "with one object.", "infinitive-clause"),
)  # fmt: skip


def held_out(features: Set[str]) -> Construction | None:
    """The first held-out combination among the features of a sentence, or None."""
    for construction in HELD_OUT:
        if construction.features <= features:
            return construction
    return None
