"""Chapter 15, "Assemble and audit": its pictures and experiments."""

from annotated.chapters.assembly.charts import audit_chart
from annotated.chapters.assembly.widget import ParameterFigure, parameter_figure

__all__ = ["ParameterFigure", "audit_chart", "parameter_figure"]
