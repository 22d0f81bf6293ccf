"""Tracing for a process that a traced one starts (`tracing.trace`): Python imports this module before all others."""

import os
import runpy

if "ANNOTATED_TRACE" in os.environ:
    tracing = runpy.run_path(os.path.join(os.path.dirname(os.path.dirname(__file__)), "tracing.py"))
    tracing["trace"](os.environ["ANNOTATED_TRACE"])
