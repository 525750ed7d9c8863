"""Confinement of a stranger's kernel: one file for each mechanism of Linux, and the confined processes."""
