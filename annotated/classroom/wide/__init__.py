"""The wide corpus: English as beginners and travellers type it, with German, from tables of words and of phrases.

The tables are text (`tables/`): who knows both languages can correct and extend them without reading code.
`verb_phrases.txt` is the heart: each line pairs two infinitives, *wait for {o} = auf {o.a} warten*, and `clauses`
makes statements, questions and subordinate clauses of them in all tenses.
"""

from annotated.classroom.wide.corpus import WidePair, wide_pairs

__all__ = ["WidePair", "wide_pairs"]
