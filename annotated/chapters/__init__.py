"""Chapters: charts, widgets, measurements, experiments and records, a folder for each page of the book."""
