"""Inline PTX: the asm statements of a CUDA kernel, as C++ that the recorder compiles for the CPU."""
