"""The classroom model at work in the page: a Transformer in plain JavaScript, and the kit of its live panels."""
