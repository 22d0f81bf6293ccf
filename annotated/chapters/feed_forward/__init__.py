"""Chapter 10, "The position-wise network": its pictures and experiments."""

from annotated.chapters.feed_forward.charts import d_ff_chart, fold_chart, parameter_share_chart, removal_chart
from annotated.chapters.feed_forward.widget import NeuronExplorer, neuron_explorer

__all__ = ["NeuronExplorer", "d_ff_chart", "fold_chart", "neuron_explorer", "parameter_share_chart", "removal_chart"]
