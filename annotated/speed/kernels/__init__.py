"""Kernels: single operations of the model's layers, each with the result of PyTorch's plain one, and faster.

`fused_attention` is equation 1 by PyTorch's kernel; as the paper writes it, it is
`annotated.model.attention.scaled_dot_product_attention`.
"""
