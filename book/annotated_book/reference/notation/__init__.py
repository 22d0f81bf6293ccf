"""Page "Notation": the shapes of all tensors on the way through the model, in letters and in the reader's numbers."""
