"""Mutants of kernels: the same text with one mistake in it, and what a checker ought to say about each."""

from mutating.operators import Mutant, mutants, sample

__all__ = ["Mutant", "mutants", "sample"]
