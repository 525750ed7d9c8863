// Exchange of values between the lanes of a warp: shuffles, votes and __syncwarp. Rules: CUDA C++ Programming
// Guide, "Warp Shuffle Functions", "Warp Vote Functions" and "Warp Reduce Functions".
#pragma once

#define GV_UNSEEN __attribute__((no_sanitize("thread"), unused))

GV_DEVICE void __syncwarp(unsigned mask = ~0u) { gv_sync_warp(mask); }
// The lanes that the warp has: which of them a GPU would run together is not known here.
GV_DEVICE unsigned __activemask()
{
    unsigned x = blockDim.x, y = blockDim.y, threads = x * y * blockDim.z;
    unsigned first = (threadIdx.x + x * (threadIdx.y + y * threadIdx.z)) & ~31u;
    return threads - first >= 32 ? ~0u : (1u << (threads - first)) - 1;
}

template <class T> struct gv_shuffle {
    T in, out;
    int from;
    GV_UNSEEN static void work(void **posted, unsigned mask)
    {
        for (int lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) continue;
            gv_shuffle *mine = (gv_shuffle *)posted[lane], *theirs = (gv_shuffle *)posted[mine->from & 31];
            mine->out = theirs ? theirs->in : mine->in;
        }
    }
};

template <class T> GV_DEVICE T gv_from(unsigned mask, T value, int lane)
{
    gv_shuffle<T> mine = {value, value, lane};
    gv_warp_exchange(mask, &mine, gv_shuffle<T>::work);
    return mine.out;
}

template <class T> GV_DEVICE T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    int me = (int)gv_lane();
    return gv_from(mask, value, (me & -width) | (lane & (width - 1)));
}
template <class T> GV_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int me = (int)gv_lane(), from = me - (int)delta;
    return gv_from(mask, value, from < (me & -width) ? me : from);
}
template <class T> GV_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int me = (int)gv_lane(), from = me + (int)delta;
    return gv_from(mask, value, from >= (me & -width) + width ? me : from);
}
template <class T> GV_DEVICE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    int me = (int)gv_lane(), from = me ^ lanes;
    return gv_from(mask, value, from >= (me & -width) + width ? me : from);
}

struct gv_vote {
    unsigned mine, all;
    GV_UNSEEN static void work(void **posted, unsigned mask)
    {
        unsigned set = 0;
        for (int lane = 0; lane < 32; lane++)
            if (mask >> lane & 1) set |= (unsigned)(((gv_vote *)posted[lane])->mine != 0) << lane;
        for (int lane = 0; lane < 32; lane++)
            if (mask >> lane & 1) ((gv_vote *)posted[lane])->all = set;
    }
};
GV_DEVICE unsigned __ballot_sync(unsigned mask, int predicate)
{
    gv_vote mine = {(unsigned)predicate, 0};
    gv_warp_vote(mask, &mine, gv_vote::work);
    return mine.all;
}
GV_DEVICE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
GV_DEVICE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

// The lanes of the mask that have the same value; all of them if every lane has it.
template <class T> GV_DEVICE unsigned __match_any_sync(unsigned mask, T mine)
{
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1) same |= (unsigned)(__shfl_sync(mask, mine, lane) == mine) << lane;
    return same;
}
template <class T> GV_DEVICE unsigned __match_all_sync(unsigned mask, T mine, int *all)
{
    *all = __match_any_sync(mask, mine) == mask;
    return *all ? mask : 0;
}

// The lanes of the mask combine their values.
#define GV_REDUCE(name, combined) \
    template <class T> GV_DEVICE T __reduce_##name##_sync(unsigned mask, T mine) \
    { \
        T v = mine; \
        bool first = true; \
        for (int lane = 0; lane < 32; lane++) { \
            if (!(mask >> lane & 1)) continue; \
            T w = __shfl_sync(mask, mine, lane); \
            v = first ? w : combined; \
            first = false; \
        } \
        return v; \
    }
GV_REDUCE(add, (v + w))
GV_REDUCE(min, (w < v ? w : v))
GV_REDUCE(max, (w > v ? w : v))
GV_REDUCE(and, (v & w))
GV_REDUCE(or, (v | w))
GV_REDUCE(xor, (v ^ w))
#undef GV_REDUCE
