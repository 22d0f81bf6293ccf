"""One harness for `annotated` and its peers: the same work, in the same rounds, in one run."""
