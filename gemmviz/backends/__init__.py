"""Runs kernels for real: C through a compiler, CUDA through CuPy, and the library references."""
