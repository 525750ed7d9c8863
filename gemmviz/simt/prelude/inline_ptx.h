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

// Functions of a user's headers are inlined (see rewriting.py): not the kernel that such a header declares.
#undef __global__
#define __global__ __attribute__((noinline))

// A tensor map, declared as in the driver's header.
struct CUtensorMap_st {
    alignas(64) unsigned long long opaque[16];
};
typedef CUtensorMap_st CUtensorMap;
// The types of elements and the swizzles, as numbers: CUDA Driver API, "CUtensorMapDataType", "CUtensorMapSwizzle".
typedef enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
} CUtensorMapDataType;
typedef enum {
    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B,
} CUtensorMapSwizzle;
