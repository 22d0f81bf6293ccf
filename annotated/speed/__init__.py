"""Speed: what fast training and decoding need, and a reader of the paper does not.

Four floors, each of which knows those before it. `machine`: devices, and processes that train together. `kernels`:
single operations, which the model's layers call. `layouts`: batches without padding, and the decoder's cache. `steps`:
an update that is compiled, recorded, exchanged between processes and computed in 16 bits; it reaches
`annotated.training.update` as one object. Everything here has a readable counterpart in the paper's folders, and tests
that the two agree.
"""
