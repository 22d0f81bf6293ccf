"""Values come back as they left, and bytes that are no value run nothing."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from annotated_grader.sandbox.codec import CodecError, Ref, copied, decode, encode

WHOLE = st.integers(-(2**63), 2**63)
PLAIN = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | WHOLE, inner),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_come_back(value: object) -> None:
    back = decode(encode(value))
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.uint8])
def test_tensors_come_back_with_their_type_and_shape(dtype: torch.dtype) -> None:
    value = {
        "x": [
            torch.tensor([[0, 1, 2], [3, 0, 5]]).to(dtype).T,
            torch.empty(0, 4, dtype=dtype),
            torch.ones((), dtype=dtype),
        ]
    }
    back = decode(encode(value))["x"]
    for before, after in zip(value["x"], back, strict=True):
        assert after.dtype == dtype and torch.equal(before, after)


def test_special_numbers_arrays_sets_and_references() -> None:
    inf, nan = decode(encode([float("inf"), float("nan")]))
    assert inf == float("inf") and nan != nan
    assert torch.equal(decode(encode(np.arange(3.0))), torch.arange(3.0, dtype=torch.float64))
    assert decode(encode({1, 2})) == {1, 2}
    assert decode(encode((Ref(3, "module"),))) == (Ref(3, "module"),)
    assert decode(encode(torch.tensor([1 + 2j]))).item() == 1 + 2j


SHARED = torch.arange(12.0).view(3, 4)
EXACT = [
    {1: ("a", 2.5), False: None, "é": [float("inf"), -0.0, (), {}], (1, ("b",)): {3, "c"}},
    [Ref(7, "module"), torch.float16, np.float32(0.1), np.int64(3), np.arange(6).reshape(2, 3).T],
    [SHARED, SHARED.T, SHARED[1:, ::2], nn.Parameter(SHARED), SHARED.to_sparse(), torch.empty(0, 4), torch.tensor(3)],
    [torch.tensor([1 + 2j]).conj(), torch.tensor([1 + 2j]).conj().imag, torch.ones(2).to(torch.float8_e5m2)],
    object(),
    torch.empty(2, device="meta"),
    {"x": 2**200},
    {"x": {(1, (2, (3, (4, (5,))))): 0}},
    list(range(10)) * 2 + [10**5000],
]


def described(value: Any) -> Any:
    """A value with the types of all its parts; of tensors all that can be told apart."""
    if isinstance(value, torch.Tensor):
        facts = type(value), value.dtype, value.shape, value.stride(), value.requires_grad, value.is_conj()
        return *facts, str(value.to(torch.complex64 if value.is_complex() else torch.float32).tolist())
    if isinstance(value, dict):
        return dict, [(described(key), described(part)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [described(part) for part in value]
    return type(value), repr(value)


def outcome(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return described(function(value))
    except CodecError as error:
        return str(error)


@pytest.mark.parametrize("value", EXACT, ids=range(len(EXACT)))
def test_a_copy_is_what_the_bytes_give_and_as_much_is_refused(value: Any) -> None:
    assert outcome(copied, value) == outcome(lambda value: decode(encode(value)), value)


@given(PLAIN)
def test_a_copy_of_plain_values_is_what_the_bytes_give(value: object) -> None:
    assert outcome(copied, value) == outcome(lambda value: decode(encode(value)), value)


def test_a_copy_shares_nothing() -> None:
    value = {"x": [SHARED, SHARED]}
    copy = copied(value)["x"]
    copy[0].zero_()
    assert SHARED.sum() > 0 and copy[1].sum() > 0


@pytest.mark.parametrize("value", [object(), b"bytes", print, {"x": lambda: 0}, np.array(["text"])])
def test_what_cannot_travel_is_named(value: object) -> None:
    with pytest.raises(CodecError, match="cannot be checked"):
        encode(value)


def test_endless_nesting_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(CodecError, match="deep"):
        encode(loop)


class Bomb:
    fired = False

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (setattr, (Bomb, "fired", True))


def header(value: object, rest: bytes = b"") -> bytes:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack(">I", len(text)) + text + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\xff\xff\xff\xff",
        pickle.dumps(Bomb()),
        header({"tensor": "0"}, pickle.dumps(Bomb())),
        header({"tensor": "0"}),
        header({"list": 5}),
        header({"class": "os.system"}),
        header({"dict": [[{"list": []}, 1]]}),
        header(b"[" * 100_000),
        header({"text": "a", "list": []}),
        header([1, 2]),
    ],
)
def test_strangers_bytes_are_refused_and_run_nothing(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode(data)
    assert not Bomb.fired


def test_conjugates_travel_and_what_cannot_is_refused_by_name() -> None:
    value = torch.tensor([1 + 2j, 3 - 1j]).conj()
    assert decode(encode(value)).tolist() == [1 - 2j, 3 + 1j]
    for odd in (10**5000, torch.empty(2, device="meta")):
        with pytest.raises(CodecError, match="cannot be checked"):
            encode(odd)
