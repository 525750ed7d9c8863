"""What can be run: kernels that describe themselves, problems, and the launch that joins the two."""
