"""Timeline of models before June 2017, dated by first public version."""

from __future__ import annotations

from typing import NamedTuple


class Work(NamedTuple):
    """One work, and when its first version could be read."""

    month: str
    """Of the first version on arXiv, '2014-09'; the number of an arXiv paper begins with it."""
    arxiv: str
    who: str
    what: str
    kind: str
    """'recurrent', 'attention', 'convolution' or 'Transformer'."""


TIMELINE = (
    Work("2012-11", "1211.3711", "Graves", "transduction with recurrent networks", "recurrent"),
    Work("2013-08", "1308.0850", "Graves", "handwriting: a soft window over the text", "attention"),
    Work("2014-06", "1406.1078", "Cho et al.", "encoder-decoder, gated unit", "recurrent"),
    Work("2014-09", "1409.0473", "Bahdanau et al.", "additive attention in translation", "attention"),
    Work("2014-09", "1409.3215", "Sutskever et al.", "sequence to sequence", "recurrent"),
    Work("2015-03", "1503.08895", "Sukhbaatar et al.", "end-to-end memory", "attention"),
    Work("2015-08", "1508.04025", "Luong et al.", "dot and general scores", "attention"),
    Work("2016-01", "1601.06733", "Cheng et al.", "intra-attention, for reading", "attention"),
    Work("2016-06", "1606.01933", "Parikh et al.", "entailment by attention alone", "attention"),
    Work("2016-09", "1609.08144", "Wu et al.", "GNMT: eight layers, attention", "recurrent"),
    Work("2016-10", "1610.08613", "Kaiser and Bengio", "Extended Neural GPU", "convolution"),
    Work("2016-10", "1610.10099", "Kalchbrenner et al.", "ByteNet: dilated convolutions", "convolution"),
    Work("2017-01", "1701.06538", "Shazeer et al.", "conditional computation", "recurrent"),
    Work("2017-03", "1703.03130", "Lin et al.", "self-attentive sentence vectors", "attention"),
    Work("2017-03", "1703.10722", "Kuchaiev and Ginsburg", "factorisation tricks for LSTMs", "recurrent"),
    Work("2017-05", "1705.03122", "Gehring et al.", "ConvS2S", "convolution"),
    Work("2017-05", "1705.04304", "Paulus et al.", "intra-attention, for summaries", "attention"),
    Work("2017-06", "1706.03762", "Vaswani et al.", "the Transformer", "Transformer"),
)
"""In order of time. The day an idea was first printed in proceedings can be a year or more later."""
