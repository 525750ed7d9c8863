"""Predictions from recordings held against a GPU's own counters, read by Nsight Compute."""
