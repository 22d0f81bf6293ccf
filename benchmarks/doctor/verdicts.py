"""What was found, checked by hand in each implementation's code, and what each of them does well.

The doctor measures; a person reads the code and judges. A finding without a verdict here is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Weight = Literal["matters", "hardly matters", "a choice"]


@dataclass(frozen=True)
class Verdict:
    """One finding, judged."""

    weight: Weight
    """'matters': results or translations change. 'hardly matters': it is so, and little depends on it. 'a choice': the
    authors meant it, or could well have meant it."""
    says: str
    """One or two sentences: what is behind it."""
    where: str = ""
    """'path#L12-L20' in the repository at the commit."""


NO_BATCH_MATES = "Its own data never does that: every source ends in an end of sentence."
NO_HALF = "Filling with -1e9 overflows in float16, and stops with an error. Its own training is in float32."
AFTER_DROPOUT = "The maps are kept after dropout. That shows only in training mode, and maps are drawn in evaluation."

VERDICTS: dict[str, dict[str, Verdict]] = {
    "annotated_transformer": {
        "attention-before-dropout": Verdict("hardly matters", AFTER_DROPOUT, "the_annotated_transformer.py#L525-L528"),
        "residuals": Verdict(
            "hardly matters",
            "Its LayerNorm divides by the standard deviation with n - 1, plus epsilon, and not by the root of variance "
            "plus epsilon. The wider the model, the smaller the difference.",
            "the_annotated_transformer.py#L324-L327",
        ),
        "half-precision": Verdict("hardly matters", NO_HALF, "the_annotated_transformer.py#L523-L524"),
        "schedule": Verdict(
            "hardly matters",
            "The scheduler counts from 0, and 0 is replaced by 1: the first two updates share a rate, and all later "
            "ones lag by one.",
            "the_annotated_transformer.py#L1058-L1067",
        ),
        "warmup-unit": Verdict(
            "matters",
            "The scheduler moves on after every micro-batch: with accumulation, warm-up is over as many times too "
            "early as there are micro-batches to an update.",
            "the_annotated_transformer.py#L976-L981",
        ),
        "accumulation": Verdict(
            "matters",
            "The first update is made after one micro-batch, and the gradients are summed, because the line that "
            "divides is commented out.",
            "the_annotated_transformer.py#L970-L981",
        ),
        "averaging": Verdict(
            "hardly matters",
            "The function is a sketch for the reader that nothing calls: modules have no `params`.",
            "the_annotated_transformer.py#L1822-L1825",
        ),
    },
    "hyunwoongko": {
        "bleu-words": Verdict(
            "matters",
            "`get_bleu` expects sentences and is given words: n-grams are of characters, of word i against word i.",
            "train.py#L99",
        ),
        "bleu-corpus": Verdict(
            "matters",
            "BLEU is computed for each sentence, then averaged over sentences and batches.",
            "train.py#L99-L107",
        ),
        "bleu-of-translations": Verdict(
            "matters",
            "What is scored is the most probable token after each of the reference's own, so nothing is translated.",
            "train.py#L86-L98",
        ),
    },
    "jadore801120": {
        "attention-before-dropout": Verdict("hardly matters", AFTER_DROPOUT, "transformer/Modules.py#L22-L25"),
        "half-precision": Verdict("hardly matters", NO_HALF, "transformer/Modules.py#L19-L20"),
        "beam-scores": Verdict(
            "matters",
            "Training multiplies the logits by the inverse root of d_model, decoding does not: the search sees much "
            "surer probabilities than the model was trained to give. It also goes on after the end of a sentence.",
            "transformer/Translator.py#L39-L42",
        ),
    },
    "joeynmt": {
        "hidden-row": Verdict(
            "hardly matters",
            f"A row of minus infinities has no softmax. {NO_BATCH_MATES}",
            "joeynmt/transformer_layers.py#L90-L94",
        ),
        "schedule": Verdict(
            "hardly matters",
            "The scheduler acts after the update: the first update has the configured rate, and all later ones lag by "
            "one. Its published configurations use other schedules than this one.",
            "joeynmt/training.py#L437-L444",
        ),
        "accumulation": Verdict(
            "hardly matters",
            "Each micro-batch is divided by its own number of tokens, so a small one weighs as much as a large one. "
            "Batches counted in tokens are of much the same size.",
            "joeynmt/batch.py#L112-L152",
        ),
    },
    "x_transformers": {
        "greedy-without-dropout": Verdict(
            "matters",
            "`generate` switches the decoder to evaluation and not the encoder: call `eval()` before translating.",
        ),
    },
    "x_transformers_earlier": {
        "greedy-without-dropout": Verdict(
            "matters",
            "`generate` switches the decoder to evaluation and not the encoder: call `eval()` before translating.",
            "x_transformers/x_transformers.py#L4552-L4555",
        ),
        "beam-scores": Verdict(
            "matters",
            "Beam search did not reorder the cache with its hypotheses. The package of today does.",
            "x_transformers/autoregressive_wrapper.py#L321-L334",
        ),
    },
}

STRENGTHS: dict[str, str] = {
    "annotated_transformer": "The paper's own prose, and code that answers it, in one script. Many learned from it.",
    "hyunwoongko": "Each class is a file that fits on a screen, in numbered steps. Its README warns the reader itself.",
    "jadore801120": "Four files that build on one another, from attention to model; one of the first in PyTorch.",
    "joeynmt": "A whole toolkit made for teaching, documented and tested, with sacreBLEU and a sound length penalty.",
    "x_transformers": "A laboratory of variants, each with its paper, and a test that the cache equals the full pass.",
    "x_transformers_earlier": "Here to show what became of a finding: the newer one above no longer has it.",
    "torch": "The reference that many build on, with a fast path for inference.",
    "marian": "Runs the translation models that the OPUS-MT project has published.",
    "annotated": "Written with these invariants in mind, so its passing proves little.",
}
"""One or two sentences each."""

CHOICES: dict[str, tuple[str, ...]] = {
    "annotated_transformer": ("attention weights and feed-forward units are dropped from, too",),
    "hyunwoongko": ("no search for translations", "a learning rate that falls on a plateau"),
    "jadore801120": (
        "logits divided by the root of d_model, in place of multiplied embeddings",
        "LayerNorm on the embeddings",
        "the gradient of the sum over tokens",
        "length penalty len ** 0.7",
    ),
    "joeynmt": (
        "examined as post-norm; its own configurations are pre-norm",
        "a hypothesis that is cut at the longest length competes with the finished ones",
    ),
    "x_transformers": (
        "two of the three tables are one",
        "LayerNorm without bias",
        "a beam search without end of sentence",
    ),
    "x_transformers_earlier": ("as the newer one",),
}
"""Where it departs from the paper on purpose, beside what its claims say."""
