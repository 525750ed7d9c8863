"""Mutants of kernels: the same text with one mistake in it, and the expected findings."""

from mutating.operators import Mutant, mutants, sample

__all__ = ["Mutant", "mutants", "sample"]
