"""Speed of the model: layouts without padding, key-value caches, fused kernels, cheap dropout, a 16-bit stream.

Every `attend` object of this package computes what `annotated.model.attention.Masked` computes, for another layout.
`fused_attention` is equation 1 by PyTorch's kernel; as the paper writes it, it is `scaled_dot_product_attention`.
"""
