"""Start: how the book is used, one sentence's way through the model, and the laboratory."""
