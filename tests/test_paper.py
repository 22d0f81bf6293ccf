"""The paper as data, and the map from it to code."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from annotated import config, paper

FIELDS = {
    "h": ("num_heads",),
    "d_k": ("d_k",),
    "d_v": ("d_v",),
    "N": ("num_encoder_layers", "num_decoder_layers"),
    "d_model": ("d_model",),
    "d_ff": ("d_ff",),
    "P_drop": ("dropout",),
    "eps_ls": ("label_smoothing",),
    "steps": ("updates",),
}


def test_no_part_of_the_paper_is_forgotten() -> None:
    missing = paper.unmapped()
    assert not missing, f"neither a 'Paper:' line in the library nor a line in paper.REASONS names {missing}"


def test_every_paper_line_names_something_that_exists() -> None:
    assert paper.unknown_references() == []


def test_reasons_name_parts_of_the_paper() -> None:
    assert set(paper.REASONS) <= set(paper.entries())
    assert all(reason.strip() for reason in paper.REASONS.values())


def test_a_part_with_code_has_no_reason_for_having_none() -> None:
    code = paper.implementations()
    stale = [key for key in paper.REASONS if code[key]]
    assert not stale, f"delete the lines of paper.REASONS for {stale}"


def test_the_map_answers_with_few_objects() -> None:
    crowded = {key: len(names) for key, names in paper.implementations().items() if len(names) > 10}
    assert not crowded, f"which of these are that part of the paper, and which only serve it? {crowded}"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("section 5.2", ["config.TrainingConfig", "speed.machine.distributed.process_group"]),
        ("section 5.3", ["training.optimizer.make_optimizer", "training.schedule.learning_rate"]),
        (
            "section 6.1",
            ["decoding.beam.beam_search", "decoding.hypothesis.length_penalty",
             "training.averaging.average_checkpoints", "evaluation.bleu.bleu"],
        ),
    ],
)  # fmt: skip
def test_the_map_answers_with_the_right_objects(part: str, expected: list[str]) -> None:
    found = paper.implementations()[part]
    assert not {f"annotated.{name}" for name in expected} - set(found), found


@pytest.mark.parametrize(
    ("part", "first"),
    [
        ("equation 1", "model.attention.scaled_dot_product_attention"),
        ("section 3.2.1", "model.attention.scaled_dot_product_attention"),
        ("section 6.1", "config.DecodingConfig"),
        ("Table 3", "config.ModelConfig"),
    ],
)
def test_the_papers_own_code_comes_before_the_charts_and_the_chapters(part: str, first: str) -> None:
    assert paper.implementations()[part][0] == f"annotated.{first}"


def test_the_map_names_nothing_of_runs_doctor_or_grading() -> None:
    beside = ("runs", "doctor", "grading", "interop", "cli", "storage", "saving")
    assert not [name for name in paper.paper_lines() if name.split(".")[1] in beside]


def test_the_core_of_the_paper_leads_to_its_code() -> None:
    code = paper.implementations()
    assert "annotated.model.attention.scaled_dot_product_attention" in code["equation 1"]
    assert "annotated.model.attention.MultiHeadAttention" in code["section 3.2.2"]
    assert "annotated.config.table_3" in code["Table 3"]


def locate(name: str) -> object:
    """The object of a dotted name; for a module that needs an extra that is not installed here, None."""
    parts = name.split(".")
    split = next(n for n in range(len(parts), 0, -1) if is_module(parts[:n]))
    try:
        thing: object = importlib.import_module(".".join(parts[:split]))
    except ModuleNotFoundError as error:
        if str(error.name).startswith("annotated"):
            raise
        return None
    for attribute in parts[split:]:
        thing = getattr(thing, attribute) if hasattr(thing, attribute) else thing.__annotations__[attribute]
    return thing


def is_module(parts: list[str]) -> bool:
    path = Path(paper.__file__).parent.parent.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_every_name_in_the_map_can_be_imported() -> None:
    for name in paper.paper_lines():
        locate(name)  # raises if there is no such thing


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("section 3.2.1, equation 1", ["section 3.2.1", "equation 1"]),
        ("sections 3.1, 3.2.3 and 5.4; figure 1", ["section 3.1", "section 3.2.3", "section 5.4", "figure 1"]),
        ("sections 5.1 (batches), 5.2 (schedule)", ["section 5.1", "section 5.2"]),
        ("sections 5.2-5.4", ["section 5.2", "section 5.3", "section 5.4"]),
        ("sections 3.2.1 to 3.2.3", ["section 3.2.1", "section 3.2.2", "section 3.2.3"]),
        ("figures 3–5", ["figure 3", "figure 4", "figure 5"]),
        ("Section 6.1; Equations 1 and 3", ["section 6.1", "equation 1", "equation 3"]),
        ("Table 3, row base", ["Table 3"]),
        ("table 2, Tables 1, 4", ["Table 2", "Table 1", "Table 4"]),
        ("section 5.4, section 5.4", ["section 5.4"]),
        ("appendix; early appendix", ["appendix", "early appendix"]),
        ("section 5.1 (the batches of 25,000 tokens); ours otherwise", ["section 5.1"]),
        ("the layout is ours", []),
        ("section 9.9", ["section 9.9"]),
    ],
)
def test_parse(line: str, expected: list[str]) -> None:
    assert paper.parse(line) == expected


PACKAGE = '''"""A part.

Paper: section 3.3
"""
import a_module_that_does_not_exist

LIMIT = 3
"""Some number.

Paper: Table 2
"""

class Layer:
    """A layer.

    Paper: section 3.1,
    figure 1
    """

    def forward(self):
        """Runs.

        Paper: section 8
        """

    def _private(self):
        """Paper: figure 5"""

def ours():
    """Nothing of the paper."""

def vague():
    """Paper: somewhere"""
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""No reference."""\n', encoding="utf-8")
    (folder / "part.py").write_text(PACKAGE, encoding="utf-8")
    return folder


def test_the_map_is_read_from_docstrings_without_importing(package: Path) -> None:
    code = paper.implementations(package)
    assert code["section 3.3"] == ["sample.part"]
    assert code["Table 2"] == ["sample.part.LIMIT"]
    assert code["section 3.1"] == code["figure 1"] == ["sample.part.Layer"]
    assert code["figure 5"] == []


def test_a_wrong_reference_is_reported_with_its_place(package: Path) -> None:
    assert paper.unknown_references(package) == [
        "sample.part.Layer.forward: the paper has no section 8",
        "sample.part.vague: no section, equation, figure or table in 'Paper: somewhere'",
    ]


def test_a_forgotten_section_is_reported(package: Path) -> None:
    missing = paper.unmapped(package)
    assert "section 3.4" in missing and "equation 3" in missing
    assert "section 3" not in missing  # covered by 3.1 and 3.3
    assert "section 3.3" not in missing and "figure 1" not in missing
    assert "section 6.3" in missing and not {"section 7", "appendix"} & {*missing}  # these have a reason


def test_reading_the_map_imports_nothing_heavy() -> None:
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('paper', {paper.__file__!r})\n"
        "module = importlib.util.module_from_spec(spec); sys.modules['paper'] = module\n"
        "spec.loader.exec_module(module)\n"
        "module.implementations()\n"
        "assert not {name.split('.')[0] for name in sys.modules} & {'torch', 'numpy', 'annotated'}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_table_3_is_the_configuration_of_its_rows() -> None:
    assert list(paper.TABLE_3) == list(config.TABLE_3)
    for row, variation in paper.TABLE_3.items():
        printed = {
            field: float(value)
            for name, value in re.findall(r"(\w+)=([\d.]+)", variation.change)
            for field in FIELDS[name]
        }
        training = {k: v for k, v in config.TABLE_3_TRAINING.get(row, {}).items() if "checkpoints" not in k}
        configured = config.TABLE_3[row] | {k: v for k, v in training.items() if k != "average_last"}
        assert printed == {k: v for k, v in configured.items() if k != "positions"}, row


def test_the_settings_are_the_defaults_of_the_configuration() -> None:
    training, decoding, data = config.TrainingConfig(), config.DecodingConfig(), config.DataConfig()
    optimizer = paper.SETTINGS["optimizer"]
    assert training.adam_betas == (optimizer["beta1"], optimizer["beta2"])
    assert (training.adam_epsilon, training.warmup) == (optimizer["epsilon"], optimizer["warmup_steps"])
    assert training.label_smoothing == paper.SETTINGS["regularization"]["eps_ls"]
    assert training.updates == paper.SETTINGS["base"]["steps"]
    assert training.average_last == paper.SETTINGS["base"]["averaged_checkpoints"]
    assert training.batch_tokens == paper.SETTINGS["data"]["target_tokens_per_batch"]
    assert data.vocab_size == paper.SETTINGS["data"]["vocabulary_en_de"]
    translation = paper.SETTINGS["translation"]
    assert (decoding.beam_size, decoding.alpha) == (translation["beam_size"], translation["alpha"])
    assert decoding.extra_tokens == translation["extra_length"]


def test_training_time_is_steps_times_seconds_per_step() -> None:
    # The paper rounds: 0.4 s and 1.0 s a step, 12 hours and 3.5 days.
    for model in ("base", "big"):
        s = paper.SETTINGS[model]
        assert s["steps"] * s["seconds_per_step"] / 3600 == pytest.approx(s["hours"], rel=0.08)


def test_training_cost_in_table_2_is_time_times_gpus_times_rate() -> None:
    # A footnote of section 6.1: 9.5 TFLOPS sustained on a P100.
    costs = {row.system: row.flops_en_de for row in paper.TABLE_2}
    for model, system in (("base", "Transformer (base model)"), ("big", "Transformer (big)")):
        seconds = paper.SETTINGS[model]["hours"] * 3600
        assert costs[system] == pytest.approx(seconds * 8 * 9.5e12, rel=0.02)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_table_as_a_frame_has_the_printed_cells(number: int) -> None:
    frame = paper.table(number).reset_index()
    for row, printed in zip(frame.itertuples(index=False), paper.TABLES[number], strict=True):
        assert [None if value != value else value for value in row] == list(printed)


def test_a_table_as_a_frame_is_found_by_row_and_sorts() -> None:
    table = paper.table(3)
    assert table.loc["B1", "BLEU"] == paper.TABLE_3["B1"].bleu
    assert table["perplexity"].idxmin() == "big" and table["parameters (millions)"].isna().sum() == 9
    assert paper.table(2)["FLOPs EN-DE"].idxmin() == "Transformer (base model)"


def test_a_frame_of_an_unknown_table() -> None:
    with pytest.raises(ValueError, match="Tables 1 to 4, not 5"):
        paper.table(5)


def test_sections_have_unique_numbers_parents_and_addresses() -> None:
    numbers = [section.number for section in paper.SECTIONS]
    assert len(set(numbers)) == len(numbers)
    assert all(number.rpartition(".")[0] in {"", *numbers} for number in numbers)
    by_number = {section.number: section for section in paper.SECTIONS}
    assert by_number["3.2.1"].url.endswith("#S3.SS2.SSS1")
    assert {e.section for e in paper.EQUATIONS} | {f.section for f in paper.FIGURES} <= set(numbers)
