// Half precision: the compiler's own 16-bit type, which rounds after each operation as CUDA's does.
#pragma once

typedef _Float16 __half;
typedef _Float16 half;

GV_DEVICE half __float2half(float v) { return (half)v; }
GV_DEVICE half __float2half_rn(float v) { return (half)v; }
GV_DEVICE half __double2half(double v) { return (half)v; }
GV_DEVICE half __int2half_rn(int v) { return (half)v; }
GV_DEVICE float __half2float(half v) { return (float)v; }
GV_DEVICE half __hadd(half a, half b) { return a + b; }
GV_DEVICE half __hsub(half a, half b) { return a - b; }
GV_DEVICE half __hmul(half a, half b) { return a * b; }
GV_DEVICE half __hfma(half a, half b, half c) { return (half)((double)a * (double)b + (double)c); }
