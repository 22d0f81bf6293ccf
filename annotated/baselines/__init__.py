"""What the paper compares itself with: recurrent and convolutional layers, and attention before 2017.

Paper: sections 1, 2, 4
"""

from annotated.baselines.convolutional import Convolution, SeparableConvolution, dilations
from annotated.baselines.encoder_decoder import RecurrentEncoderDecoder
from annotated.baselines.recurrent import GRULayer, LSTMLayer
from annotated.baselines.restricted import RestrictedSelfAttention
from annotated.baselines.scores import AdditiveScore, DotScore, GeneralScore
from annotated.baselines.timeline import TIMELINE, Work

__all__ = [
    "TIMELINE",
    "AdditiveScore",
    "Convolution",
    "DotScore",
    "GRULayer",
    "GeneralScore",
    "LSTMLayer",
    "RecurrentEncoderDecoder",
    "RestrictedSelfAttention",
    "SeparableConvolution",
    "Work",
    "dilations",
]
