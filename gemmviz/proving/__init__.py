"""Compares predictions from recordings with a GPU's own counters, read by Nsight Compute."""
