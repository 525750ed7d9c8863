"""The machine code of CUDA kernels: compiled by NVRTC, disassembled by nvdisasm; no GPU is needed."""
