"""CUDA on the CPU: builds an instrumented kernel, runs it with one fibre per thread, and returns every access."""
