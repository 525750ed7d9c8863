// The types of PyTorch's headers that a kernel may use: its 16-bit numbers are CUDA's.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace c10 {
using Half = __half;
using BFloat16 = __nv_bfloat16;
}
namespace at {
using c10::BFloat16;
using c10::Half;
}
