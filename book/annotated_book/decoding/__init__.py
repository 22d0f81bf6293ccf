"""Decoding and measuring: section 6.1's search, averaging and BLEU."""
