"""Runs for the chapters' tables of models and seeds: made on CPUs, by any number of processes.

In the order of reading: `settings` (sizes, text and budget), `catalogue` (which runs there are), `sentences` (what they
read), `train_one` (one of them), `make_runs` (made and recorded), `runs_file` (the records of a chapter), `queue`
(runs of many hours, which survives kills), `reader_runs` (on a reader's own machine).
"""
