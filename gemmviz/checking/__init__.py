"""Looks for defects in a kernel: at which sizes, what is found at each, and how a crash counts."""
