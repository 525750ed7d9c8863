// Complex numbers with the interface of CUDA's header: two real numbers each, the real part in x.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Each name ends with f for single precision, and with nothing for double.
#define GV_COMPLEX(complex, real, f, fma) \
    GV_DEVICE complex make_##complex(real x, real y) { return complex(x, y); } \
    GV_DEVICE real cuCreal##f(complex a) { return a.x; } \
    GV_DEVICE real cuCimag##f(complex a) { return a.y; } \
    GV_DEVICE complex cuConj##f(complex a) { return complex(a.x, -a.y); } \
    GV_DEVICE complex cuCadd##f(complex a, complex b) { return complex(a.x + b.x, a.y + b.y); } \
    GV_DEVICE complex cuCsub##f(complex a, complex b) { return complex(a.x - b.x, a.y - b.y); } \
    GV_DEVICE complex cuCmul##f(complex a, complex b) \
    { \
        return complex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); \
    } \
    GV_DEVICE complex cuCfma##f(complex a, complex b, complex c) \
    { \
        return complex(fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y))); \
    }
GV_COMPLEX(cuFloatComplex, float, f, __builtin_fmaf)
GV_COMPLEX(cuDoubleComplex, double, , __builtin_fma)
#undef GV_COMPLEX

GV_DEVICE cuComplex make_cuComplex(float x, float y) { return cuComplex(x, y); }
GV_DEVICE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex(a.x, a.y); }
GV_DEVICE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a)
{
    return cuFloatComplex((float)a.x, (float)a.y);
}
