// Thin names for the PTX instructions that fast GEMM kernels use and CUDA C++ has no function for. One function is one
// instruction, or the few that belong together (PTX ISA, "Asynchronous copy", "ldmatrix", "mma", "mbarrier", "stmatrix",
// "wgmma"). ptx/ampere.h needs compute capability 8.0; ptx/hopper.h and ptx/wgmma.h need 9.0, compiled for sm_90a.
//
// The recorder has a header of the same name with the same functions: a kernel that keeps to these can be recorded.
#pragma once

#include <gemmviz/ptx/ampere.h>
#include <gemmviz/ptx/hopper.h>
#include <gemmviz/ptx/wgmma.h>
