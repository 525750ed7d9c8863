// A tensor map as the driver's header has it, for kernels that take one: NVRTC does not read that header.
#pragma once
#ifndef __cuda_cuda_h__
struct CUtensorMap_st {
    alignas(64) unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
#endif
