"""Measuring: verification, timing, statistics, result files."""
