"""Speed and memory of `annotated`, each a ratio measured beside its peers in one run."""
