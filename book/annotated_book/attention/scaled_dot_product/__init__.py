"""Chapter 5, "Scaled dot-product attention": its pictures and experiments."""
