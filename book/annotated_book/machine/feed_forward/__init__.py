"""Chapter 10, "The position-wise network": its pictures and experiments."""

from annotated_book.machine.feed_forward.charts import d_ff_chart, fold_chart, parameter_share_chart, removal_chart
from annotated_book.machine.feed_forward.unit_charts import activations_chart, agreement_strip, parts_chart, unit_chart
from annotated_book.machine.feed_forward.widget import NeuronExplorer, neuron_explorer

__all__ = [
    "NeuronExplorer",
    "activations_chart",
    "agreement_strip",
    "d_ff_chart",
    "fold_chart",
    "neuron_explorer",
    "parameter_share_chart",
    "parts_chart",
    "removal_chart",
    "unit_chart",
]
