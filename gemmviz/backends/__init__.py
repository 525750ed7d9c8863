"""Runs kernels natively: C through a compiler, CUDA through CuPy, and the library references."""
