"""Memory that a training takes on a GPU, estimated from its numbers before anything has run.

An update holds the weights with gradients and Adam's moments, what the forward pass keeps for the backward pass, and a
chunk of logits with its gradient. The estimate is for a compiled step, which keeps least; the two peaks that were
recorded on an H100 are within 15 % of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotated.config import ModelConfig, TrainingConfig

BYTES_PER_WEIGHT = 16
"""Weight, gradient and Adam's two moments, in float32: what training needs before the first activation."""
_FLOAT32 = 4
_CHUNK_ROWS = 4096
MOST_TO_FILL = 0.85
"""Of a GPU's memory, by this estimate, which was 14 % below a recorded peak."""
LEAST_TOKENS = 512
"""Fewer tokens at a time leave a GPU idle, so a smaller number is no advice."""


def activation_bytes(model: ModelConfig, precision: str) -> int:
    """Bytes that a step keeps for a source token and a target token together, until its backward pass is done.

    `precision` is as in `TrainingConfig`; 'auto' is one of 16 bits, as on any GPU.

    Each sub-layer keeps the residual stream before its LayerNorm in float32, and LayerNorm's output; attention keeps
    queries, keys, values and the heads' outputs besides, the feed-forward network its hidden layer.
    """
    size = 4 if precision == "fp32" else 2
    attention = size * model.num_heads * 2 * (model.d_k + model.d_v)
    feed_forward = size * model.d_ff
    stream = (_FLOAT32 + size) * model.d_model
    attentions = model.num_encoder_layers + 2 * model.num_decoder_layers
    networks = model.num_encoder_layers + model.num_decoder_layers
    return attentions * (attention + stream) + networks * (feed_forward + stream)


def training_bytes(model: ModelConfig, precision: str, weights: int, tokens: int) -> int:
    """Bytes of a compiled training at its peak, about.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    tokens
        Of either side that the device takes at once.
    """
    size = 4 if precision == "fp32" else 2
    copies = (0 if precision == "fp32" else size) * weights + _FLOAT32 * weights  # 16-bit weights; a recording's clone
    logits = 2 * size * min(tokens, _CHUNK_ROWS) * model.vocab_size
    widest = 2 * size * tokens * max(model.d_ff, model.d_model) + 4 * _FLOAT32 * tokens * model.d_model
    return BYTES_PER_WEIGHT * weights + copies + tokens * activation_bytes(model, precision) + logits + widest


def fitting_tokens(model: ModelConfig, precision: str, weights: int, memory: int) -> int | None:
    """The most tokens at once, in hundreds, that so many bytes of a GPU have room for; None if it has none."""
    room = int(MOST_TO_FILL * memory)
    least, one = (training_bytes(model, precision, weights, tokens) for tokens in (0, _CHUNK_ROWS))
    tokens = (room - least) * _CHUNK_ROWS // (one - least)
    if tokens > _CHUNK_ROWS:  # beyond the chunk logits need no more
        more = training_bytes(model, precision, weights, 2 * _CHUNK_ROWS) - one
        tokens = _CHUNK_ROWS + (room - one) * _CHUNK_ROWS // more
    return tokens // 100 * 100 if tokens >= LEAST_TOKENS else None


def fit_micro_batch(
    training: TrainingConfig, model: ModelConfig, weights: int, memory: Sequence[int]
) -> TrainingConfig:
    """The training with micro-batches that fit the smallest of the GPUs, if nobody has chosen a size for them.

    Any size makes the same updates. The configuration stays as it is where a device's whole share fits, and where not
    even a few hundred tokens would.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    memory
        Bytes of each GPU.
    """
    least, share = min(memory), device_tokens(training, len(memory))
    fits = training_bytes(model, training.precision, weights, share) <= MOST_TO_FILL * least
    if training.micro_batch_tokens is not None or fits:
        return training
    return training.replace(micro_batch_tokens=fitting_tokens(model, training.precision, weights, least))


def device_tokens(training: TrainingConfig, devices: int = 1) -> int:
    """Tokens of either side that each of so many devices takes at once."""
    return -(-training.batch_tokens // (devices * training.micro_batches(devices)))
