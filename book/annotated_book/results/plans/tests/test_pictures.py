"""Chapter 35, pictures: captions to be checked by eye, patches cut where they lie, and searches that read them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from annotated.decoding import beam_search, greedy_decode
from annotated.model.positional_encoding import sinusoidal_encoding
from annotated_book.results.plans import images
from annotated_book.results.plans.images import CONFIG, examples, read, score, where_it_looks
from annotated_book.results.plans.patches import PatchTransformer, grid_encoding, patches
from annotated_book.results.plans.pictures import (
    COLOURS,
    HELD_OUT,
    SIDE,
    SIZES,
    WORDS,
    Scene,
    Thing,
    caption,
    draw,
    ids,
    inside,
    scenes,
    targets,
)


@pytest.fixture(scope="module")
def model() -> PatchTransformer:
    torch.manual_seed(0)
    model = PatchTransformer(CONFIG).eval()
    for parameter in model.parameters():  # gains and biases too
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def scene(x1: int, y1: int, x2: int, y2: int) -> Scene:
    return Thing("small", "red", "cross", x1, y1), Thing("large", "blue", "square", x2, y2)


def test_a_caption_says_what_stands_where() -> None:
    assert caption(scene(4, 12, 24, 16)) == "small red cross left-of large blue square".split()
    assert caption(scene(8, 4, 12, 24))[3] == "above"


def test_scenes_are_in_the_order_of_their_captions_and_do_not_touch() -> None:
    for one, two in scenes(300, 3) + scenes(100, 3, "held out"):
        across, down = two.x - one.x, two.y - one.y
        assert (across if abs(across) > abs(down) else down) > 0
        assert not (inside(one) & inside(two)).any()
        assert all(SIZES[t.size] <= place <= SIDE - SIZES[t.size] for t in (one, two) for place in (t.x, t.y))


def test_held_out_combinations_are_in_no_training_picture_and_their_parts_are_in_many() -> None:
    seen = [thing for pair in scenes(400, 1) for thing in pair]
    assert not {(thing.colour, thing.shape) for thing in seen} & HELD_OUT
    for colour, shape in HELD_OUT:
        assert sum(t.colour == colour for t in seen) > 100 and sum(t.shape == shape for t in seen) > 100
    assert all(any((t.colour, t.shape) in HELD_OUT for t in pair) for pair in scenes(100, 1, "held out"))
    assert scenes(5, 9) == scenes(5, 9) != scenes(5, 10)


def test_shapes_cover_the_pixels_that_geometry_says() -> None:
    counts = {shape: int(inside(Thing("large", "red", shape, 16, 16)).sum()) for shape in ("circle", "square", "cross")}
    r = SIZES["large"]
    assert abs(counts["circle"] - math.pi * r * r) < 10
    assert counts["square"] == (2 * 6) ** 2  # half pixels up to 0.9 r = 6.3: 5.5 is the last to each side
    bar = 2 * 3  # 0.36 r = 2.52: 2.5 is the last
    assert counts["cross"] == 2 * bar * 2 * r - bar * bar


def test_pixels_have_the_colour_of_their_thing() -> None:
    pair = scene(4, 12, 24, 16)
    picture = (draw([pair], 0)[0].numpy() + 1) / 2
    for thing in pair:
        mean = picture[inside(thing)].mean(axis=0)
        assert np.abs(mean - COLOURS[thing.colour]).max() < 0.03
    assert draw([pair], 0).equal(draw([pair], 0)) and not draw([pair], 0).equal(draw([pair], 1))


def test_targets_are_the_caption_between_bos_and_eos() -> None:
    read_in, gold = targets([scene(4, 12, 24, 16)])
    assert read_in[0].tolist() == [1, *ids(caption(scene(4, 12, 24, 16)))]
    assert [WORDS[i] for i in gold[0].tolist()][-2:] == ["square", "</s>"]


def test_patches_are_cut_row_by_row() -> None:
    picture = torch.arange(2 * 4 * 6 * 3).view(2, 4, 6, 3)
    cut = patches(picture, 2)
    assert cut.shape == (2, 6, 12)
    for row in range(2):
        for column in range(3):
            square = picture[1, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            assert cut[1, 3 * row + column].equal(square.flatten())


def test_half_of_the_features_tell_the_row_and_half_the_column() -> None:
    grid = grid_encoding(3, 5, 8).view(3, 5, 8)
    rows, columns = sinusoidal_encoding(3, 4), sinusoidal_encoding(5, 4)
    for i in range(3):
        for j in range(5):
            assert grid[i, j].equal(torch.cat((rows[i], columns[j])))


def test_steps_with_a_cache_give_the_logits_of_the_whole_caption(model: PatchTransformer) -> None:
    some = scenes(3, 5)
    source, (target_in, _) = draw(some, 1).flatten(1), targets(some)
    with torch.no_grad():
        whole = model(source, target_in)
        state = model.start_state(source, max_new_tokens=8)
        for t in range(8):
            logits, state = model.decode_step(target_in[:, t], state)
            torch.testing.assert_close(logits, whole[:, t], rtol=1e-4, atol=1e-4)


def test_the_librarys_searches_read_pictures(model: PatchTransformer) -> None:
    source = draw(scenes(4, 6), 1).flatten(1)
    greedy = greedy_decode(model, source, max_new_tokens=6)
    one = beam_search(model, source, beam_size=1, alpha=0.0, max_new_tokens=6)
    assert [h.tokens for h in greedy] == [found[0].tokens for found in one]
    wide = beam_search(model, source, beam_size=4, alpha=0.0, max_new_tokens=6)
    assert all(len(h.tokens) <= 6 for found in wide for h in found)


def test_without_places_the_order_of_patches_means_nothing() -> None:
    torch.manual_seed(0)
    blind, told = (PatchTransformer(CONFIG, places=places).eval() for places in ("none", "grid"))
    source = draw(scenes(2, 6), 1)
    rows = source.flatten(1)
    turned = torch.cat((source[:, 16:], source[:, :16]), dim=1).flatten(1)  # the lower half above the upper one
    start = torch.ones(2, 1, dtype=torch.long)
    with torch.no_grad():
        torch.testing.assert_close(blind(rows, start), blind(turned, start), rtol=1e-4, atol=1e-4)
        assert not torch.allclose(told(rows, start), told(turned, start), atol=1e-3)


def test_shares_of_attention_add_up(model: PatchTransformer) -> None:
    looks = where_it_looks(model, scenes(10, 8))
    assert len(looks) == 2 * 7
    for row in looks:
        assert 0 <= row["first"] + row["second"] <= 1 and 0 < row["even"][0] < 0.5


def test_scores_count_captions_and_words() -> None:
    some = [scene(4, 12, 24, 16), scene(8, 4, 12, 24)]
    torch.manual_seed(0)
    real = PatchTransformer(CONFIG).eval()
    right = ids(caption(some[0]))

    def start_state(source: torch.Tensor, beam_size: int = 1, *, max_new_tokens: int) -> list[int]:
        return [len(source), 0]

    def decode_step(token: torch.Tensor, state: list[int]) -> tuple[torch.Tensor, list[int]]:
        logits = torch.full((state[0], len(WORDS)), -9.0)
        logits[:, [*right, 2][state[1]]] = 9.0
        return logits, [state[0], state[1] + 1]

    real.start_state, real.decode_step = start_state, decode_step  # type: ignore[method-assign, assignment]
    assert [h.tokens for h in read(real, some)] == [right, right]
    found = score(real, some)
    assert found["caption"] == 0.5 and found["relation"] == 0.5 and found["colour"] == found["shape"] == 1.0


def test_examples_hold_the_picture_and_a_weight_for_each_patch(model: PatchTransformer) -> None:
    (one,) = examples(model, scenes(1, 4, "held out"), "held out")
    colours = np.frombuffer(bytes.fromhex(one["pixels"]), dtype=np.uint8).reshape(SIDE, SIDE, 3)
    assert abs(float(colours[0, 0].mean()) / 255 - 0.93) < 0.1  # paper in the corner
    assert len(one["right"]) == 7 and one["kind"] == "held out"
    for layer in one["looks"]:
        assert all(len(step) == 64 and abs(sum(step) - 1000) < 40 for step in layer)


def test_words_of_a_held_out_thing_are_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def thing(colour: str, shape: str) -> Thing:
        return Thing("small", colour, shape, 4, 4)

    some = [
        (thing("red", "circle"), thing("blue", "square")),
        (thing("red", "circle"), thing("green", "square")),
        (thing("blue", "triangle"), thing("red", "square")),
    ]
    written = [
        "small red circle above small red cross",
        "small red square above small blue square",
        "small yellow circle above",
    ]
    found = [SimpleNamespace(tokens=ids(text.split())) for text in written]
    monkeypatch.setattr(images, "read", lambda *_: found)
    counts = images.mixed_up(None, some)  # type: ignore[arg-type]
    assert counts == {"both right": 1, "shape wrong": 1, "colour wrong": 1, "both wrong": 1}


def test_scenes_to_show_differ_in_all_things() -> None:
    chosen = images.various(scenes(60, 21), 3)
    kinds = [(thing.colour, thing.shape) for pair in chosen for thing in pair]
    assert len(chosen) == 3 and len(set(kinds)) == 6
