"""Instructor: grading of a folder of submissions in the sandbox, gradebook, exports and similarity."""
