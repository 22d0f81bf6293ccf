"""Report of a finished run: from its last checkpoints to two BLEUs. Read finishing first."""

from annotated.runs.report.finishing import FinishOptions, finish
from annotated.runs.report.model_card import model_card
from annotated.runs.report.report import SETTING_NAMES, Row, RunReport, test_name
from annotated.runs.report.test_sets import TestSet, describe_data, development_set, open_test_set, prepared_test_sets

__all__ = [
    "SETTING_NAMES",
    "FinishOptions",
    "Row",
    "RunReport",
    "TestSet",
    "describe_data",
    "development_set",
    "finish",
    "model_card",
    "open_test_set",
    "prepared_test_sets",
    "test_name",
]
