"""Kernels that describe themselves, problems, and the launch that joins the two."""
