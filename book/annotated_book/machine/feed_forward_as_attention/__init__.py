"""Chapter 11, "The feed-forward network as attention": its pictures and experiments."""
