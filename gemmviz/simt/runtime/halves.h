#pragma once
#include <stdint.h>

// GCC always brings its own. Without this instruction of the processor, Clang needs its library for floats, too.
#if defined(__clang__) && defined(__F16C__)
#define GV_ROUNDS_HALVES
_Float16 __truncdfhf2(double exact);
#endif
