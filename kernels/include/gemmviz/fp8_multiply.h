// The product of rung 71, as it writes it out. The rungs from 71a on include it.
#pragma once
#include <gemmviz/ptx.h>

namespace gemmviz {

// Starts sum = a b, or sum += a b: 64 rows of A, 32 deep, and BN columns of B.
template <int BN> GEMMVIZ_PTX void multiply(float (&sum)[BN / 2], ptx::operand a, ptx::operand b, int add)
{
    if constexpr (BN == 64)
        ptx::wgmma_m64n64k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 96)
        ptx::wgmma_m64n96k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 128)
        ptx::wgmma_m64n128k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 160)
        ptx::wgmma_m64n160k32_f32_e4m3(sum, a, b, add);
    else if constexpr (BN == 192)
        ptx::wgmma_m64n192k32_f32_e4m3(sum, a, b, add);
    else
        ptx::wgmma_m64n256k32_f32_e4m3(sum, a, b, add);
}

} // namespace gemmviz
