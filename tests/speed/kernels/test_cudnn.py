"""The context without cuDNN's attention: off inside, and afterwards as it was, whoever else has opened it."""

from __future__ import annotations

import threading

import pytest
import torch

from annotated.speed.kernels.cudnn import without_cudnn_attention

pytestmark = pytest.mark.process

if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 5):
    pytest.skip("torch before 2.5 does not choose cuDNN by itself", allow_module_level=True)
is_on = torch.backends.cuda.cudnn_sdp_enabled


def test_the_switch_is_off_inside_and_as_before_afterwards() -> None:
    assert is_on(), "PyTorch's own choice"
    with without_cudnn_attention("cpu"):
        assert is_on(), "there is no cuDNN on a CPU, so nothing is touched"
    with without_cudnn_attention(torch.device("cuda", 1)):
        assert not is_on()
        with without_cudnn_attention("cuda"):
            assert not is_on()
        assert not is_on()
    with pytest.raises(KeyError), without_cudnn_attention("cuda"):
        raise KeyError
    assert is_on()


@pytest.mark.skipif(not hasattr(torch.compiler, "config"), reason="an older torch")
def test_compiled_code_of_another_choice_does_not_come_back_from_the_disk() -> None:
    """The compiler's key for its files on the disk does not know the switch; the tag is part of the key."""
    settings = torch.compiler.config
    settings.cache_key_tag = "mine"
    try:
        with without_cudnn_attention("cuda"), without_cudnn_attention("cuda"):
            assert settings.cache_key_tag == "mine without cuDNN attention"
        assert settings.cache_key_tag == "mine"
    finally:
        settings.cache_key_tag = ""


def test_a_program_that_had_it_off_keeps_it_off() -> None:
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        with without_cudnn_attention("cuda"):
            assert not is_on()
        assert not is_on()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


def tag() -> str:
    return str(torch.compiler.config.cache_key_tag)


@pytest.mark.skipif(not hasattr(torch.compiler, "config"), reason="an older torch")
def test_threads_that_overlap_put_it_back_when_the_last_one_leaves() -> None:
    """First in, first out: the order in which putting back what one found would leave it off for ever."""
    entered, left = threading.Event(), threading.Event()
    states: list[bool] = []
    tags: list[str] = []

    def second() -> None:
        with without_cudnn_attention("cuda"):
            entered.set()
            left.wait(300)
            states.append(is_on())
            tags.append(tag())

    thread = threading.Thread(target=second)
    with without_cudnn_attention("cuda"):
        thread.start()
        assert entered.wait(300)
    left.set()
    thread.join()
    assert states == [False] and is_on()
    assert tags == [" without cuDNN attention"] and tag() == "", "the compiler's settings are each thread's own"


def test_a_torch_without_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.backends.cuda, "enable_cudnn_sdp")
    with without_cudnn_attention("cuda"):
        assert is_on()
