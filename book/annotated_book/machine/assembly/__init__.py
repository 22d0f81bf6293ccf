"""Chapter 15, "Assemble and audit": its pictures and experiments."""

from annotated_book.machine.assembly.charts import audit_chart
from annotated_book.machine.assembly.widget import ParameterFigure, parameter_figure

__all__ = ["ParameterFigure", "audit_chart", "parameter_figure"]
