"""Runs for the chapters' tables of models and seeds: made on CPUs, by any number of processes, or at once on a GPU.

In the order of reading: `settings` (sizes, text and budget), `catalogue` (which runs there are), `sentences` (what they
read), `train_one` (one of them), `make_runs` (made and recorded), `runs_file` (the records of a chapter), `queue`
(runs of many hours, which survives kills), `reader_runs` (on a reader's own machine). For a GPU `device_batches`
(batches that lie on it), `recorded_updates` (the updates of a model, each kind of which is recorded once and repeated)
and `train_concurrently` (all models).

A model of a few hundred thousand parameters keeps a large GPU busy for a small part of the time that it takes to tell
it what to do. So each kind of update is recorded as a CUDA graph, and the graphs of all models run side by side.
"""
