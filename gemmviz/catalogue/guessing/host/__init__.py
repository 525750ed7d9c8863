"""Evaluates host code with names for unknown values, and takes note of each launch on the way."""
