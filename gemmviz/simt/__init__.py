"""CUDA on the CPU: builds a kernel instrumented, runs it with one fibre per thread, hands out every access."""
