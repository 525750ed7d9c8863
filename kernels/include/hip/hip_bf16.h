#pragma once
#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
