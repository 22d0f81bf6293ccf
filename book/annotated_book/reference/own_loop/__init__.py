"""Page "The model in your own training loop": its training, played back."""
