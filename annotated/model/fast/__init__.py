"""Speed of the model: layouts without padding, key-value caches, fused kernels, cheap dropout. No equation is here.

Every `attend` object of this package computes what `annotated.model.attention.Masked` computes, for another layout.
"""
