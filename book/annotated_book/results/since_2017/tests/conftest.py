import pytest
import torch

from annotated.config import ModelConfig, TrainingConfig

SMALL = ModelConfig(
    vocab_size=40, d_model=16, d_ff=24, num_heads=4, d_k=4, d_v=4, num_encoder_layers=2, num_decoder_layers=2,
    dropout=0.1, norm="pre",
)  # fmt: skip


@pytest.fixture
def config() -> ModelConfig:
    torch.manual_seed(0)
    return SMALL


@pytest.fixture
def training() -> TrainingConfig:
    return TrainingConfig(updates=6000, warmup=400, learning_rate_scale=0.6, device="cpu")
