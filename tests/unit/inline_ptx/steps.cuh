// The steps of a kernel whose asm stands in a header, as course work and libraries have it.
#pragma once
#include <stdint.h>

template <int Bytes> __device__ __forceinline__ void async_copy(uint32_t shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" ::"r"(shared), "l"(global), "n"(Bytes) : "memory");
}

template <int Left> __device__ __forceinline__ void async_wait()
{
    asm volatile("cp.async.commit_group;\n"
                 "cp.async.wait_group %0;\n" ::"n"(Left) : "memory");
}

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    uint32_t address;
    asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }\n" : "=r"(address) : "l"(p));
    return address;
}

__device__ __forceinline__ float read_shared(uint32_t address)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1 + 0];" : "=f"(value) : "r"(address));
    return value;
}
