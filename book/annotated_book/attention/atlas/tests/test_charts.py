"""Charts of chapter 9: every head is there, chance stands beside the scores, and nonsense is refused."""

from __future__ import annotations

import pytest

from annotated_book.attention.atlas.charts import ablation_chart, looks_and_matters_chart, roles_chart

TITLES = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}
HEADS = [("encoder", 0, 0), ("encoder", 0, 1), ("cross", 0, 0)]


def scores(share: float = 0.5) -> list[dict]:
    return [
        {"kind": kind, "layer": layer, "head": head, "role": "token before", "score": share, "chance": 0.1}
        for kind, layer, head in HEADS
    ]


def rows_of(chart: object) -> list[dict]:
    spec = chart.to_dict()  # type: ignore[attr-defined]
    return (spec.get("data") or spec["layer"][0]["data"])["values"]


def test_roles_have_a_row_for_chance() -> None:
    rows = rows_of(roles_chart(scores(), titles=TITLES))
    encoder = [(r["row"], r["share"]) for r in rows if r["k"] == "encoder self-attention"]
    assert encoder == [("enc 1.1", 0.5), ("enc 1.2", 0.5), ("even spread", 0.1)]
    with pytest.raises(ValueError, match="between 0 and 1"):
        roles_chart(scores(1.5), titles=TITLES)
    with pytest.raises(ValueError, match="there is no attention"):
        roles_chart(scores(), titles=TITLES, kind="self")


def test_the_roles_are_as_high_as_the_rows_of_one_attention() -> None:
    assert roles_chart(scores(), titles=TITLES).to_dict()["height"] == 28 * 3, "two heads of the encoder, and chance"


def test_the_title_of_the_roles_follows_the_menu() -> None:
    title = roles_chart(scores(), titles=TITLES).to_dict()["title"]["text"]["expr"]
    assert '"encoder self-attention": "Encoder"' in title and title.endswith("[attention]")


def test_large_losses_have_a_frame() -> None:
    losses = {"loss": {HEADS[0]: 0.1, HEADS[1]: 0.01}}
    layers = ablation_chart(losses, formats={"loss": ".2f"}, framed=("loss", 0.02)).to_dict()["layer"]
    filters = [step["filter"] for layer in layers for step in layer.get("transform", ()) if "value" in step["filter"]]
    assert filters == ["datum.measure == 'loss' && datum.value >= 0.02"]


def test_ablation_shades_by_the_worst_and_names_it() -> None:
    chart = ablation_chart({"loss": {HEADS[0]: 0.1, HEADS[1]: -0.01, HEADS[2]: 0.4}}, formats={"loss": ".2f"})
    shades = {(r["row"], r["head"]): r["shade"] for r in rows_of(chart)}
    assert shades == {("encoder 1", "head 1"): 0.5, ("encoder 1", "head 2"): 0, ("cross 1", "head 1"): 1}
    assert "loss: cross 1, head 1, 0.40" in chart.to_dict()["description"]
    with pytest.raises(ValueError, match="nothing is lost"):
        ablation_chart({"loss": {HEADS[0]: 0.0}}, formats={"loss": ".2f"})


def test_both_measures_need_the_same_heads() -> None:
    chart = looks_and_matters_chart({(0, 0): 0.9, (0, 1): 0.2}, {(0, 0): 0.01, (0, 1): 0.5}, marked=[(0, 1)])
    assert [r["label"] for r in rows_of(chart)] == ["", "cross 1.2"]
    with pytest.raises(ValueError, match="same heads"):
        looks_and_matters_chart({(0, 0): 0.9}, {(0, 1): 0.5}, marked=[])
