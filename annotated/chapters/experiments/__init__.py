"""Trainings for the chapters' tables of models and seeds: one by one on a CPU, or all at the same time on a GPU.

In the order of reading: `catalogue` (which there are), `text` (what they read), `alone` (one of them on a CPU),
`records` (what is kept of each); for a GPU `stream` (batches that lie on it), `training` (the updates of a model, each
kind of which is recorded once and repeated), `together` (all models).

A model of a few hundred thousand parameters keeps a large GPU busy for a small part of the time that it takes to tell
it what to do. So each kind of update is recorded as a CUDA graph, and the graphs of all models run side by side.
"""
