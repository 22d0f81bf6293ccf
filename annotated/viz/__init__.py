"""Pictures that can be moved: Altair charts for static pages and notebooks, and one widget for attention maps.

Every chart is made from data that is checked first, works without a kernel, and carries a description.
Importing this package chooses Altair's renderer (`use_renderer`) unless you have chosen one.
"""

from annotated.viz.adam import first_updates_chart, memory_chart
from annotated.viz.architecture import Architecture, architecture, architecture_table, architecture_twin
from annotated.viz.atlas import ablation_chart, looks_and_matters_chart, roles_chart
from annotated.viz.attention import attention_chart, check_weights, query_chart
from annotated.viz.averaging import averaged_noise_chart, last_k_chart, weight_line_chart
from annotated.viz.batches import epochs_chart, noise_chart, pairs_per_batch_chart, waste_chart
from annotated.viz.beam_tree import BeamTree, beam_tree
from annotated.viz.bleu import (
    NgramHighlighter,
    bootstrap_chart,
    brevity_chart,
    ngram_highlighter,
    power_chart,
    rulers_chart,
)
from annotated.viz.calibration import reliability_chart, strength_chart
from annotated.viz.call_sites import CallSite, call_site_chart
from annotated.viz.clocks import clock_hands_chart, layout_chart
from annotated.viz.complexity import cost_chart, terms_chart
from annotated.viz.complexity_measured import paths_chart, time_chart
from annotated.viz.costs import bleu_flops_chart, run_price_chart
from annotated.viz.dropout import dropout_chart, dropout_curves_chart, regularisation_chart
from annotated.viz.dropout_sites import dropout_sites_chart
from annotated.viz.embeddings import balance_chart, direction_chart, neighbour_chart, tying_chart
from annotated.viz.feed_forward import (
    d_ff_chart,
    fold_chart,
    parameter_share_chart,
    removal_chart,
)
from annotated.viz.forced_prefix import loss_and_writing_chart, passes_chart, wrong_word_chart
from annotated.viz.greedy import cache_chart, cache_cost_chart, lost_chart, two_ways_chart
from annotated.viz.heads import AttentionHeads, SentenceMaps, attention_atlas, attention_heads
from annotated.viz.many_heads import head_count_chart, reads_chart, retrieval_chart
from annotated.viz.masks import MaskPainter, canary_chart, mask_painter, reach_chart
from annotated.viz.memory_weights import memory_weights_chart
from annotated.viz.merges import MergeReplay, merge_replay
from annotated.viz.neurons import NeuronExplorer, neuron_explorer
from annotated.viz.one_query import one_query_chart
from annotated.viz.padding import PaddingTiles, padding_tiles
from annotated.viz.parameters import ParameterFigure, audit_chart, parameter_figure
from annotated.viz.places import comparison_chart, extrapolation_chart, position_scores_chart, start_chart
from annotated.viz.positions import offset_chart, positional_encoding_chart, rotation_chart
from annotated.viz.recurrence import alignment_chart, length_chart, probe_chart, timeline_chart
from annotated.viz.residuals import (
    gradient_chart,
    layer_norm_chart,
    stream_chart,
)
from annotated.viz.run_playback import RunPlayback, run_playback
from annotated.viz.saturation import saturation_chart, scale_chart
from annotated.viz.schedule import schedule_chart, slip_chart
from annotated.viz.search import alpha_chart, beam_sizes_chart, search_tree_chart
from annotated.viz.smoothing import smoothing_chart
from annotated.viz.split_heads import SplitHeads, split_heads
from annotated.viz.step_player import StepPlayer, step_player
from annotated.viz.subwords import growth_chart, pair_chart, vocabulary_chart
from annotated.viz.teacher_forcing import TeacherForcingStepper, teacher_forcing_stepper
from annotated.viz.theme import book_renderer, slider, use_renderer
from annotated.viz.training_curves import placement_curves_chart, variant_curves_chart
from annotated.viz.training_live import LiveTrainingChart, live_training_chart
from annotated.viz.training_log import runs_chart, training_chart
from annotated.viz.training_panel import training_panel
from annotated.viz.transduction import factors_chart, lengths_chart, running_sum_chart, unroll_chart
from annotated.viz.warm_up import warm_up_chart
from annotated.viz.writing import writing_chart

use_renderer()

__all__ = [
    "RunPlayback",
    "run_playback",
    "bleu_flops_chart",
    "run_price_chart",
    "alpha_chart",
    "beam_sizes_chart",
    "search_tree_chart",
    "NgramHighlighter",
    "bootstrap_chart",
    "brevity_chart",
    "last_k_chart",
    "averaged_noise_chart",
    "ngram_highlighter",
    "power_chart",
    "rulers_chart",
    "weight_line_chart",
    "BeamTree",
    "beam_tree",
    "MergeReplay",
    "growth_chart",
    "merge_replay",
    "pair_chart",
    "vocabulary_chart",
    "LiveTrainingChart",
    "live_training_chart",
    "dropout_chart",
    "dropout_curves_chart",
    "dropout_sites_chart",
    "regularisation_chart",
    "runs_chart",
    "training_chart",
    "training_panel",
    "epochs_chart",
    "noise_chart",
    "pairs_per_batch_chart",
    "waste_chart",
    "PaddingTiles",
    "padding_tiles",
    "TeacherForcingStepper",
    "loss_and_writing_chart",
    "passes_chart",
    "teacher_forcing_stepper",
    "wrong_word_chart",
    "alignment_chart",
    "cost_chart",
    "length_chart",
    "paths_chart",
    "probe_chart",
    "terms_chart",
    "time_chart",
    "timeline_chart",
    "writing_chart",
    "factors_chart",
    "lengths_chart",
    "running_sum_chart",
    "unroll_chart",
    "NeuronExplorer",
    "d_ff_chart",
    "fold_chart",
    "gradient_chart",
    "layer_norm_chart",
    "memory_weights_chart",
    "neuron_explorer",
    "parameter_share_chart",
    "placement_curves_chart",
    "removal_chart",
    "stream_chart",
    "variant_curves_chart",
    "CallSite",
    "call_site_chart",
    "ParameterFigure",
    "audit_chart",
    "balance_chart",
    "clock_hands_chart",
    "comparison_chart",
    "direction_chart",
    "extrapolation_chart",
    "layout_chart",
    "neighbour_chart",
    "parameter_figure",
    "position_scores_chart",
    "start_chart",
    "tying_chart",
    "Architecture",
    "architecture",
    "architecture_table",
    "architecture_twin",
    "reach_chart",
    "mask_painter",
    "canary_chart",
    "MaskPainter",
    "AttentionHeads",
    "attention_chart",
    "attention_heads",
    "SentenceMaps",
    "SplitHeads",
    "ablation_chart",
    "attention_atlas",
    "head_count_chart",
    "looks_and_matters_chart",
    "reads_chart",
    "retrieval_chart",
    "roles_chart",
    "split_heads",
    "book_renderer",
    "check_weights",
    "offset_chart",
    "positional_encoding_chart",
    "query_chart",
    "rotation_chart",
    "one_query_chart",
    "saturation_chart",
    "scale_chart",
    "slider",
    "use_renderer",
    "StepPlayer",
    "cache_chart",
    "cache_cost_chart",
    "lost_chart",
    "step_player",
    "two_ways_chart",
    "first_updates_chart",
    "memory_chart",
    "reliability_chart",
    "schedule_chart",
    "slip_chart",
    "smoothing_chart",
    "strength_chart",
    "warm_up_chart",
]
