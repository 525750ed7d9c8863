// Rounds a double to a half, which Clang leaves to a library. Its own library is built at its first use, for seconds.
#include "halves.h"

#ifdef GV_ROUNDS_HALVES
_Float16 __truncdfhf2(double exact)
{
    union {
        float value;
        uint32_t bits;
    } near = {.value = (float)exact};
    double back = near.value;
    // A float in between must not be rounded to a tie of two halves: if it is not exact, it is the one of both floats
    // around the double whose last bit is set.
    if (back == back && back != exact) {
        if ((exact < 0 ? -back : back) > (exact < 0 ? -exact : exact)) near.bits--;
        near.bits |= 1;
    }
    return (_Float16)near.value;
}
#endif
