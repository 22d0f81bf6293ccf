"""Chapter 35, "Section 7's plans and what came of them": pictures, local attention, drafts, parallel prediction."""

from annotated_book.results.plans.banded import (
    Banded,
    band_mask,
    banded_attention,
    block_mask,
    layers_needed,
    reach,
    reach_table,
)
from annotated_book.results.plans.charts import (
    drafts_chart,
    local_chart,
    marginals_chart,
    operations_chart,
    reach_chart,
)
from annotated_book.results.plans.drafting import KnownDraft, ModelDraft, TripleDraft, copy_draft
from annotated_book.results.plans.parallel import ParallelTransformer, predict_all, repeats
from annotated_book.results.plans.patches import PatchTransformer, grid_encoding, patches
from annotated_book.results.plans.places_charts import captions_chart, joint_chart
from annotated_book.results.plans.stepper import DraftStepper, draft_stepper, replayed
from annotated_book.results.plans.verifying import BlockReader, Passes, accepted, draft_and_verify
from annotated_book.results.plans.widget import PictureReader, picture_reader

__all__ = [
    "Banded",
    "BlockReader",
    "DraftStepper",
    "KnownDraft",
    "ModelDraft",
    "ParallelTransformer",
    "Passes",
    "PatchTransformer",
    "PictureReader",
    "TripleDraft",
    "accepted",
    "band_mask",
    "banded_attention",
    "block_mask",
    "captions_chart",
    "copy_draft",
    "draft_and_verify",
    "draft_stepper",
    "drafts_chart",
    "grid_encoding",
    "joint_chart",
    "layers_needed",
    "local_chart",
    "marginals_chart",
    "operations_chart",
    "patches",
    "picture_reader",
    "predict_all",
    "reach",
    "reach_chart",
    "reach_table",
    "repeats",
    "replayed",
]
