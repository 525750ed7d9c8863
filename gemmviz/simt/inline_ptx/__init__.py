"""Inline PTX: translates the asm statements of a CUDA kernel to C++, which the recorder compiles for the CPU."""
