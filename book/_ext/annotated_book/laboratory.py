"""The directive `laboratory`: the classroom model at work in the page, with switches for each of its parts.

The weights travel as one byte each with a float for each row, in a script that is loaded when the reader asks for it: a
script also loads from the file system, where a page may not fetch.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated_book.execution import library_digest

_SCRIPTS = ("tokenizer.js", "transformer.js", "laboratory.js")


def pack(tensors: dict[str, Any]) -> tuple[dict[str, list[Any]], bytes]:
    """Tensors as bytes: vectors in float32; matrices as a float32 scale for each row and one signed byte a number.

    Returns
    -------
    manifest
        For each name `["vector", offset, length, 1]` or `["matrix", offset, rows, columns]`.
    content
        Little-endian; each tensor starts at a multiple of 4.
    """
    manifest: dict[str, list[Any]] = {}
    content = bytearray()
    for name, tensor in tensors.items():
        values = tensor.detach().numpy().astype("<f4")
        if values.ndim == 1:
            manifest[name] = ["vector", len(content), len(values), 1]
            content += values.tobytes()
            continue
        scales = np.maximum(np.abs(values).max(1) / 127, 1e-12).astype("<f4")
        manifest[name] = ["matrix", len(content), *values.shape]
        content += scales.tobytes() + np.round(values / scales[:, None]).astype(np.int8).tobytes()
        content += bytes(-len(content) % 4)
    return manifest, bytes(content)


def model_script() -> str:
    """The classroom model and its tokenizer as a script that sets one global variable."""
    import annotated

    translator = annotated.load("classroom")
    folder = Path(annotated.__file__).parent / "assets" / "classroom"
    bpe = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    tensors = dict(translator.model.named_parameters())
    manifest, content = pack(tensors)
    config = translator.model.config
    names = ("d_model", "d_ff", "num_heads", "d_k", "num_encoder_layers", "num_decoder_layers", "norm_epsilon")
    data = {
        "config": {name: getattr(config, name) for name in names},
        "tensors": manifest,
        "tokenizer": {
            "pieces": sorted(bpe["vocab"], key=bpe["vocab"].get),
            "merges": [" ".join(pair) if isinstance(pair, list) else pair for pair in bpe["merges"]],
        },
        "bytes": base64.b64encode(content).decode(),
    }
    return f"globalThis.annotatedModel = {json.dumps(data, separators=(',', ':'))};\n"


def write_model(app: Sphinx, config: Any) -> None:
    """Write the model's script into the book's files, once for each version of the library."""
    folder = Path(app.outdir).parent / ".laboratory"
    place, stamp = folder / "laboratory" / "model.js", folder / "digest"
    if not place.is_file() or not stamp.is_file() or stamp.read_text() != library_digest():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(model_script(), encoding="utf-8")
        stamp.write_text(library_digest())
    config.html_static_path += [str(folder)]


class Laboratory(SphinxDirective):
    """Place the laboratory. The body is what a reader without scripts gets in its stead."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A box with the fallback in it; `laboratory.js` fills it."""
        base = "../" * self.env.docname.count("/") + "_static/laboratory/"
        box = nodes.container(classes=["laboratory"])
        self.state.nested_parse(self.content, self.content_offset, box)
        scripts = "".join(f'<script defer src="{base}{name}"></script>' for name in _SCRIPTS)
        style = f'<link rel="stylesheet" href="{base}laboratory.css">'
        return [nodes.raw("", style, format="html"), box, nodes.raw("", scripts, format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("laboratory", Laboratory)
    app.connect("config-inited", write_model)
