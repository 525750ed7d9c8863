// The indices as objects in place of macros, for a kernel that has a variable or a parameter of such a name. They have
// no bytes: a read of an index is a call, as it is with the macros, and no access to memory. Only Clang has properties.
#pragma once

#if defined(__clang__)
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#define GV_INDEX(name, value)                                                                                          \
    static const struct gv_##name {                                                                                    \
        GV_METHOD unsigned gv_x() const { return (value).x; }                                                          \
        GV_METHOD unsigned gv_y() const { return (value).y; }                                                          \
        GV_METHOD unsigned gv_z() const { return (value).z; }                                                          \
        __declspec(property(get = gv_x)) unsigned x;                                                                   \
        __declspec(property(get = gv_y)) unsigned y;                                                                   \
        __declspec(property(get = gv_z)) unsigned z;                                                                   \
        GV_METHOD operator uint3() const { return {gv_x(), gv_y(), gv_z()}; }                                          \
        GV_METHOD operator dim3() const { return dim3(gv_x(), gv_y(), gv_z()); }                                       \
    } name;

GV_INDEX(threadIdx, gv_thread_index())
GV_INDEX(blockDim, gv_block_shape())
#ifdef GV_BATCH_COUNT
GV_INDEX(blockIdx, gv_block())
GV_INDEX(gridDim, gv_grid())
#else
GV_INDEX(blockIdx, gv_block_index())
GV_INDEX(gridDim, gv_grid_shape())
#endif
#undef GV_INDEX
#endif
