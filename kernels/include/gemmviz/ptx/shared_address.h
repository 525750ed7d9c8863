// The address of shared memory as PTX instructions take it. See <gemmviz/ptx.h>, which kernels include.
#pragma once

#define GEMMVIZ_PTX static __device__ __forceinline__

namespace gemmviz {
namespace ptx {

static __device__ __forceinline__ unsigned shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

} // namespace ptx
} // namespace gemmviz
