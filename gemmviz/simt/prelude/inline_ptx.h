// CUDA's words, and functions for the C++ that simt/inline_ptx makes of asm statements: before kernels with asm.
#pragma once
#include "cuda.h"
#include "../include/cuda_bf16.h"
#include "../include/cuda_fp16.h"
#include "../include/mma.h"
#include "../runtime/kernel_calls/async_copies.h"
#include "../runtime/kernel_calls/hopper.h"
#include "../runtime/kernel_calls/mma.h"
#include "inline_ptx/registers.h"
#include "inline_ptx/arithmetic.h"
#include "inline_ptx/barriers.h"
#include "inline_ptx/conversions.h"
#include "inline_ptx/memory.h"
#include "inline_ptx/hopper.h"
#include "inline_ptx/wmma.h"
#include <nvrtc/words_tensor_map.h>

// Functions of a user's headers are inlined (see rewriting.py): not the kernel that such a header declares.
#undef __global__
#define __global__ __attribute__((noinline))
