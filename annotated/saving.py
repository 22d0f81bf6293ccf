"""Model folders: `model.safetensors`, `config.json` and `tokenizer.json`, which belong together.

The configuration travels with the weights, and the tokenizer's fingerprint with the configuration, so that a model
is never run with another shape or another vocabulary than it was trained with.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from annotated.config import ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.int8_rows import restored_rows, rounded_rows
from annotated.model import Transformer
from annotated.ownership import is_json_of, require_our_folder
from annotated.storage import atomic_folder, checksum, verify_checksums, write_json

FORMAT = 1
KEPT_FILES = ("log.jsonl", "README.md")
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", *KEPT_FILES, "ctranslate2")
"""What may lie in a model folder: our three files, a model card, the log of the classroom model, and the model as
CTranslate2 reads it, which is made from the others when it is needed."""


class CheckpointError(RuntimeError):
    """A checkpoint or model folder is missing, damaged, or belongs to something else; the message says what to do."""


class NewerVersionError(CheckpointError):
    """A file was written by a newer version of this library; updating it is what helps."""


def save_pretrained(
    folder: str | Path,
    model: Transformer,
    tokenizer: Tokenizer | None = None,
    longest_source: int | None = None,
    *,
    int8: bool = False,
) -> None:
    """Write a model folder, whole or not at all; a model folder that is there already is replaced.

    What people write about it stays: a model card README.md, and a log.jsonl.

    Parameters
    ----------
    longest_source
        Tokens of the longest source that the model was trained on, eos included; None if it is not known.
    int8
        Write each matrix as one signed byte a number and a float32 scale for each row: a quarter of the size, and
        weights that differ a little (`annotated.int8_rows`). What is loaded is float32 again.

    Raises
    ------
    FileExistsError
        If the folder holds something that is not of a model folder; it is left as it is.
    ValueError
        If the path of the folder is ''.
    CheckpointError
        If model and tokenizer differ in the size of the vocabulary.
    DiskFull
        If the disk is full; a folder that was there before is untouched.
    """
    folder = require_our_folder(
        folder, MODEL_FILES, lambda place: is_json_of(place / "config.json", "format", "model"), whole=True
    )
    with atomic_folder(folder) as partial:
        state = rounded_rows(model.state_dict()) if int8 else model.state_dict()
        write_model_files(partial, model.config, state, tokenizer, longest_source)
        for name in KEPT_FILES:
            if (folder / name).is_file():
                shutil.copy2(folder / name, partial / name)


def write_model_files(
    folder: Path,
    config: ModelConfig,
    state: Mapping[str, Tensor],
    tokenizer: Tokenizer | None,
    longest_source: int | None = None,
) -> None:
    """The three files of a model folder, into a folder that exists."""
    from annotated import __version__  # the package imports this module

    if tokenizer is not None and tokenizer.vocab_size != config.vocab_size:
        raise CheckpointError(
            f"the tokenizer has {tokenizer.vocab_size} entries and the model {config.vocab_size}: they do not belong "
            "together; build the model with vocab_size=tokenizer.vocab_size"
        )
    belongs = None
    if tokenizer is not None:
        tokenizer.save(folder / "tokenizer.json")
        belongs = {"fingerprint": tokenizer.fingerprint, "vocab_size": tokenizer.vocab_size}
    write_tensors(folder / "model.safetensors", state)
    about: dict[str, Any] = {"format": FORMAT, "library": f"annotated {__version__}", "torch": torch.__version__}
    about |= {} if longest_source is None else {"longest_source": longest_source}
    files = {"model.safetensors": checksum(folder / "model.safetensors")}
    write_json(folder / "config.json", {**about, "model": config.to_dict(), "tokenizer": belongs, "files": files})


def load_model(folder: str | Path, device: torch.device | str = "cpu") -> tuple[Transformer, Tokenizer | None]:
    """Read a model folder, or a training checkpoint, which holds one.

    Returns
    -------
    model, tokenizer
        The model in evaluation mode, on `device`; the tokenizer is None if it was saved without one.

    Raises
    ------
    CheckpointError
        If a file is missing or damaged, or weights, configuration and tokenizer do not belong together. Damage shows
        by the weights' checksum; folders of versions that wrote none are loaded without.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such folder; a model is a folder with model.safetensors and config.json")
    about = read_json(folder / "config.json")
    config = _model_config(about, folder / "config.json")
    tokenizer = _load_tokenizer(folder / "tokenizer.json", about.get("tokenizer"), config)
    model = Transformer(config)
    state = restored_rows(read_tensors(folder / "model.safetensors"))
    problem = verify_checksums(folder, about.get("files", {}))
    try:
        load_weights(model, state, folder / "model.safetensors")
    except CheckpointError as error:
        raise CheckpointError(
            f"{error}; the file is not as it was written ({problem})" if problem else str(error)
        ) from None
    if problem:
        raise CheckpointError(
            f"{folder}: damaged ({problem}); copy it anew. If you changed it on purpose, write it with save_pretrained"
        )
    return model.to(device).eval(), tokenizer


def longest_source(folder: str | Path) -> int | None:
    """Tokens of the longest source that the model of a folder was trained on, eos included; None if it is not known."""
    found = read_json(Path(folder) / "config.json").get("longest_source")
    return found if isinstance(found, int) else None


def load_weights(model: Transformer, state: Mapping[str, Tensor], path: Path) -> None:
    """Copy weights by name into a model.

    Raises
    ------
    CheckpointError
        If names or shapes differ; the message lists some.
    """
    own = model.state_dict()
    problems = [f"{name} is missing" for name in own if name not in state]
    problems += [f"{name} is not a weight of this model" for name in state if name not in own]
    problems += [
        f"{name} is {list(state[name].shape)}, not {list(own[name].shape)}"
        for name in own
        if name in state and state[name].shape != own[name].shape
    ]
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise CheckpointError(
            f"{path}: weights and config.json do not belong together: {'; '.join(problems[:3])}{more}"
        )
    model.load_state_dict(state)


def _model_config(about: dict[str, Any], path: Path) -> ModelConfig:
    check_version(about.get("format"), FORMAT, path)
    if about.get("format") != FORMAT or not isinstance(about.get("model"), dict):
        raise CheckpointError(
            f"{path}: format {about.get('format')!r}; this version of the library reads format {FORMAT}"
        )
    try:
        return ModelConfig.from_dict(about["model"])
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: {error}; was it written by another version ({about.get('library')})?") from None


def _load_tokenizer(path: Path, belongs: dict[str, Any] | None, config: ModelConfig) -> Tokenizer | None:
    if belongs is None:
        return None
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file, but the model was saved with a tokenizer; copy it from there")
    tokenizer = Tokenizer.load(path)
    if tokenizer.vocab_size != config.vocab_size:
        raise CheckpointError(
            f"{path}: the tokenizer has {tokenizer.vocab_size} entries and the model {config.vocab_size}, so they do "
            "not belong together; copy the tokenizer.json that was saved with this model"
        )
    if tokenizer.fingerprint != belongs.get("fingerprint"):
        raise CheckpointError(
            f"{path}: this is not the tokenizer that the model was trained with (fingerprint "
            f"{tokenizer.fingerprint[:12]}, expected {str(belongs.get('fingerprint'))[:12]}), so every word would be "
            "misread; copy the tokenizer.json that was saved with this model"
        )
    return tokenizer


_DTYPES = {
    torch.int64: "I64", torch.float64: "F64", torch.float32: "F32", torch.int32: "I32", torch.bfloat16: "BF16",
    torch.float16: "F16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
"""The names of safetensors, in the order in which it lays tensors out."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, as safetensors: the bytes of its own `save_file`.

    That would gather a second copy in memory, hold up all other threads for as long, and turn a full disk into an error
    of its own. This writes one tensor after the other, straight from its memory.
    """
    order = list(_DTYPES)
    named = sorted(tensors.items(), key=lambda item: (order.index(item[1].dtype), item[0]))
    about, end = {}, 0
    for name, tensor in named:
        begin, end = end, end + tensor.numel() * tensor.element_size()
        about[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    header = json.dumps(about, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, tensor in named:
            file.write(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The inverse of `write_tensors`.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged.
    """
    try:
        return safetensors.torch.load_file(path)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: not a JSON object, so not one of ours")
    return content


def check_version(found: Any, known: int, path: Path) -> None:
    """Make sure that a file is not from the future.

    Raises
    ------
    NewerVersionError
        If its format is higher than the highest that this version knows.
    """
    if isinstance(found, int) and found > known:
        raise NewerVersionError(
            f"{path}: written by a newer version of this library (format {found}; this one reads up to {known}). "
            "Install the newer version of the package, from its checkout or its wheel"
        )
