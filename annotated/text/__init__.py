"""A line of text before any tokenizer: its scripts. Needs neither torch nor a tokenizer."""
