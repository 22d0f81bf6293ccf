"""Greedy translation by the two ONNX graphs of an export: `python translate.py "The cat sleeps."`, without torch.

A copy of this file lies in every folder that `annotated.interop.export_onnx` writes, as `translate.py`; it needs the
packages onnxruntime, numpy and tokenizers, and nothing of the library.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXTRA_TOKENS = 50


def translate(text: str, folder: str | Path = HERE, max_new_tokens: int | None = None) -> str:
    """The greedy translation of one text by the model in a folder.

    Parameters
    ----------
    text
        A sentence.
    folder
        What was exported, with its tokenizer.json.
    max_new_tokens
        Most tokens to write; None for as many as the sentence has, and 50.
    """
    import numpy as np
    import tokenizers

    facts = json.loads((Path(folder) / "onnx.json").read_text(encoding="utf-8"))
    tokenizer = tokenizers.Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    encoder, step = (_session(Path(folder) / name) for name in ("encoder.onnx", "decoder_step.onnx"))
    config, eos = facts["config"], facts["eos"]
    tokens = tokenizer.encode(text, add_special_tokens=False).ids
    source = np.array([[*tokens, eos]])  # the model reads the end too
    keys, values = encoder.run(None, {"source": source})
    sizes = [(config["num_decoder_layers"], 1, config["num_heads"], 0, config[width]) for width in ("d_k", "d_v")]
    past_keys, past_values = (np.zeros(size, np.float32) for size in sizes)
    memory = {"source": source, "cross_keys": keys, "cross_values": values}
    token, written = facts["bos"], []
    for _ in range(max_new_tokens or source.shape[1] + EXTRA_TOKENS):
        past = {"token": np.array([token]), "past_keys": past_keys, "past_values": past_values}
        logits, past_keys, past_values = step.run(None, memory | past)
        logits[:, [facts["pad"], facts["bos"]]] = -np.inf  # never written
        token = int(logits.argmax(-1)[0])
        if token == eos:
            break
        written.append(token)
    return tokenizer.decode(written)


def _session(path: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    print(translate(" ".join(sys.argv[1:])))
