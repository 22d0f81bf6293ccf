"""Text before any tokenizer: files of lines and of pairs in all formats that people have; normal form; scripts.

Nothing here knows a model. Normal form and scripts need nothing but Python, files zstandard too.
"""
