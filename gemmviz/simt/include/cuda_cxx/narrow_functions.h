// The functions of one number that half precision and bfloat16 have, for single elements (hexp) and for pairs (h2exp).
// They are computed in double and rounded once; a GPU may differ in the last place. The comparisons of pairs return 1
// or 0 for each element. Names: CUDA Math API, "Half Math Functions" and "Bfloat16 Math Functions".
#pragma once

#define GV_NARROW(element, pair, name, exact) \
    GV_DEVICE element h##name(element gv_v) \
    { \
        double v = (float)gv_v; \
        return (element)(exact); \
    } \
    GV_DEVICE pair h2##name(pair v) { return pair(h##name(v.x), h##name(v.y)); }
#define GV_COMPARED(element, pair, name, sign) \
    GV_DEVICE bool __h##name(element a, element b) { return a sign b; } \
    GV_DEVICE pair __h##name##2(pair a, pair b) \
    { \
        return pair((element)(float)(a.x sign b.x), (element)(float)(a.y sign b.y)); \
    }
#define GV_NARROW_FUNCTIONS(element, pair) \
    GV_COMPARED(element, pair, eq, ==) \
    GV_COMPARED(element, pair, ne, !=) \
    GV_COMPARED(element, pair, lt, <) \
    GV_COMPARED(element, pair, le, <=) \
    GV_COMPARED(element, pair, gt, >) \
    GV_COMPARED(element, pair, ge, >=) \
    GV_NARROW(element, pair, exp, __builtin_exp(v)) \
    GV_NARROW(element, pair, exp2, __builtin_exp2(v)) \
    GV_NARROW(element, pair, exp10, __builtin_pow(10, v)) \
    GV_NARROW(element, pair, log, __builtin_log(v)) \
    GV_NARROW(element, pair, log2, __builtin_log2(v)) \
    GV_NARROW(element, pair, log10, __builtin_log10(v)) \
    GV_NARROW(element, pair, sin, __builtin_sin(v)) \
    GV_NARROW(element, pair, cos, __builtin_cos(v)) \
    GV_NARROW(element, pair, tanh, __builtin_tanh(v)) \
    GV_NARROW(element, pair, sqrt, __builtin_sqrt(v)) \
    GV_NARROW(element, pair, rsqrt, 1 / __builtin_sqrt(v)) \
    GV_NARROW(element, pair, rcp, 1 / v) \
    GV_NARROW(element, pair, floor, __builtin_floor(v)) \
    GV_NARROW(element, pair, ceil, __builtin_ceil(v)) \
    GV_NARROW(element, pair, trunc, __builtin_trunc(v)) \
    GV_NARROW(element, pair, rint, __builtin_rint(v)) \
    GV_DEVICE bool __hisnan(element v) { return v != v; } \
    GV_DEVICE element __hfma_relu(element a, element b, element c) \
    { \
        element v = __hfma(a, b, c); \
        return v < (element)0.0f ? (element)0.0f : v; \
    } \
    GV_DEVICE pair __hfma2_relu(pair a, pair b, pair c) \
    { \
        return pair(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); \
    } \
    GV_DEVICE pair __hneg2(pair v) { return pair(-v.x, -v.y); } \
    GV_DEVICE pair __habs2(pair v) { return pair(__habs(v.x), __habs(v.y)); } \
    GV_DEVICE pair __h2div(pair a, pair b) { return pair(a.x / b.x, a.y / b.y); }
