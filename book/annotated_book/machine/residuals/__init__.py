"""Chapter 12, "Residuals and layer normalisation": its pictures and experiments."""
