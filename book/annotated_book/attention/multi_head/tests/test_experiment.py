"""The task is what it says, the arms have the cost they claim, and the record agrees with the code."""

from __future__ import annotations

import torch

from annotated_book import recorded
from annotated_book.attention.multi_head import experiment as o


def test_wanted_tokens_stand_at_their_offsets() -> None:
    tokens, wanted = o.draw(3, torch.Generator().manual_seed(0))
    assert wanted.shape == (3, o.LENGTH - 4, 4)
    for position in range(4, o.LENGTH):
        for column, offset in enumerate(o.OFFSETS):
            assert torch.equal(wanted[:, position - 4, column], tokens[:, position - offset])


def projections(arm: o.Arm) -> int:
    model = o.Retriever(arm)
    return sum(m.weight.numel() for m in (model.w_q, model.w_k, model.w_v, model.w_o))


def test_concatenated_heads_cost_what_one_head_costs() -> None:
    assert projections(o.ARMS["concatenated"]) == projections(o.ARMS["one head"]) == 4 * 64**2
    assert len({projections(o.Arm(h, 32 // h, 32 // h, d_model=32)) for h in o.HEADS}) == 1


def test_averaged_heads_are_averaged() -> None:
    """With the same projections, W_O of an average is the sum over heads of one shared block, divided by h."""
    torch.manual_seed(0)
    mean = o.Retriever(o.ARMS["averaged, narrow"])
    concat = o.Retriever(o.ARMS["concatenated"])
    state = mean.state_dict()
    state["w_o.weight"] = mean.w_o.weight.repeat(1, 4) / 4
    concat.load_state_dict(state)
    tokens, _ = o.draw(2, torch.Generator().manual_seed(1))
    torch.testing.assert_close(concat(tokens), mean(tokens))


def test_a_linear_read_out_can_take_over_w_o() -> None:
    """A model with W_O and one without, whose read-out is W_O times the first one's, name the same tokens."""
    torch.manual_seed(0)
    whole, bare = o.Retriever(o.ARMS["concatenated"]), o.Retriever(o.PROJECTION["linear"]["without W_O"])
    state = {name: tensor for name, tensor in whole.state_dict().items() if not name.startswith("w_o")}
    state["read_out.weight"] = whole.read_out.weight @ whole.w_o.weight
    bare.load_state_dict(state)
    tokens, _ = o.draw(2, torch.Generator().manual_seed(1))
    torch.testing.assert_close(bare(tokens), whole(tokens))


def test_a_fixed_read_out_is_not_trained() -> None:
    model, _ = o.train(o.PROJECTION["fixed"]["without W_O"], seed=1, steps=3)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        fresh = o.Retriever(o.PROJECTION["fixed"]["without W_O"])
    assert torch.equal(model.read_out.weight, fresh.read_out.weight)
    assert not torch.equal(model.w_v.weight, fresh.w_v.weight)


def test_the_hidden_layer_is_the_papers_and_the_control_differs_by_the_relu_alone() -> None:
    one = o.ARMS["one head"]
    hidden = o.Retriever(one._replace(read_out="hidden")).read_out
    control = o.Retriever(one._replace(read_out="two matrices")).read_out
    shapes = [p.shape for p in hidden.parameters()]
    assert shapes == [p.shape for p in control.parameters()] and shapes[0] == (4 * one.d_model, one.d_model)
    x = torch.randn(2, one.d_model)
    control.load_state_dict(hidden.state_dict())
    midway = control(x[:1] + x[1:]) + control(torch.zeros(1, one.d_model))
    torch.testing.assert_close(midway, control(x[:1]) + control(x[1:]))  # no ReLU: affine
    assert not torch.allclose(hidden(x), control(x))


def test_training_is_repeatable_and_leaves_the_global_seed_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = o.accuracy(o.ARMS["concatenated"], seed=3, steps=5)
    assert torch.equal(before, torch.random.get_rng_state())
    assert first == o.accuracy(o.ARMS["concatenated"], seed=3, steps=5)


def test_the_record_belongs_to_this_code() -> None:
    results = recorded("multi_head").results
    assert results["settings"]["steps"] == o.STEPS and results["settings"]["many"] == o.MANY
    for read in o.READ_OUTS:
        assert list(results["arms"][read]) == list(o.ARMS)
        assert [int(h) for h in results["heads"][read]] == list(o.HEADS)
        assert [int(k) for k in results["d_k"][read]] == list(o.KEY_WIDTHS)
        assert all(len(arm["accuracy"]) == len(o.SEEDS) for arm in results["arms"][read].values())
        assert all(arm["read_out"] == read for arm in results["arms"][read].values())
        assert all(len(weights) == o.REACH and sum(weights) < 1.001 for weights in results["one_head"][read])
    assert {read: set(both) for read, both in results["projection"].items()} == {
        read: set(both) for read, both in o.PROJECTION.items()
    }
