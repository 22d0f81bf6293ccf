"""Chapter 25, "Averaging and ensembles": its pictures and experiments."""
