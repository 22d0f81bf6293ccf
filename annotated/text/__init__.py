"""A line of text before any tokenizer: its normal form, its scripts. Needs nothing but Python."""
