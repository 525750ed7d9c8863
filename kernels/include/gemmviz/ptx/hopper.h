// Instructions of compute capability 9.0: mbarrier, TMA, stmatrix, and waits between threads. See <gemmviz/ptx.h>, which
// kernels include.
#pragma once

#include <gemmviz/ptx/shared_address.h>

namespace gemmviz {
namespace ptx {

// ---- mbarrier: a barrier in shared memory. A phase of it ends when `count` threads have arrived and all bytes that were
// ---- announced have been copied; then the next one begins, and the parity (of the phase, 0 or 1) changes. A thread waits
// ---- for the end of the phase of a parity: at the start, waiting for parity 1 returns at once.

struct barrier {
    unsigned long long state;
};

// Gets a barrier ready: one thread does it, then `barriers_ready`, then a barrier of the block (or cluster).
GEMMVIZ_PTX void barrier_init(barrier &b, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(&b)), "r"(count) : "memory");
}
// Lets the copy engine, and the other blocks of the cluster, see barriers that were initialised.
GEMMVIZ_PTX void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Arrives, and announces bytes that are going to be copied.
GEMMVIZ_PTX void barrier_arrive_expect(barrier &b, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(&b)), "r"(bytes) : "memory");
}
GEMMVIZ_PTX void barrier_arrive(barrier &b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(&b)) : "memory");
}
// Arrives at the barrier that stands at the same place in another block of the cluster. Relaxed: it orders no ordinary
// loads and stores (that would empty the L1 cache and take longer than a tile); it says that tensor cores, which
// `wgmma_wait` waited for, have read memory that the copy engine may now overwrite.
GEMMVIZ_PTX void barrier_arrive_at(barrier &b, unsigned block)
{
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there];\n}"
                 :: "r"(shared_address(&b)), "r"(block) : "memory");
}
// Arrives as soon as all of the thread's cp.async so far have been copied; the thread goes on at once.
GEMMVIZ_PTX void barrier_arrive_copied(barrier &b)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(shared_address(&b)) : "memory");
}
// Waits for the end of the barrier's phase of this parity.
GEMMVIZ_PTX void barrier_wait(barrier &b, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra.uni over;\nbra.uni again;\nover:\n}"
                 :: "r"(shared_address(&b)), "r"(parity) : "memory");
}
// The same, and then sees what `send_at` has sent to this block.
GEMMVIZ_PTX void barrier_wait_sent(barrier &b, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra.uni over;\nbra.uni again;\nover:\n}"
                 :: "r"(shared_address(&b)), "r"(parity) : "memory");
}
// Sends four floats to the same place in the shared memory of another block of the cluster. The thread goes on at once; the
// barrier at the same place there counts the 16 bytes when they have come.
GEMMVIZ_PTX void send_at(void *shared, unsigned block, float4 v, barrier &b)
{
    asm volatile("{\n.reg .b32 there, counts;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mapa.shared::cluster.u32 counts, %2, %1;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [there], {%3, %4, %5, %6}, [counts];\n}"
                 :: "r"(shared_address(shared)), "r"(block), "r"(shared_address(&b)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

// ---- TMA: the copy engine moves boxes of a matrix. A tensor map says which matrix, how large a box is and how it is
// ---- swizzled; it is a parameter of the kernel, `const __grid_constant__ tensor_map m`. One thread asks for a box by its
// ---- first column and row; elements outside of the matrix are read as zeros, not written. A box begins at a multiple
// ---- of 128 bytes in shared memory, of 1024 where it is swizzled by 128 bytes: there the 16-byte piece p of row r (128
// ---- bytes) stands in place p ^ (r % 8) of its row.

struct alignas(64) tensor_map {
    unsigned long long opaque[16];
};

// Copies a box to shared memory; its bytes count towards the barrier.
GEMMVIZ_PTX void tma_load(void *shared, const tensor_map &map, int column, int row, barrier &b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(shared)), "l"(&map), "r"(column), "r"(row), "r"(shared_address(&b)) : "memory");
}
// The same for several blocks of the cluster at once: to the same place in each block whose bit is set in `blocks`, counted
// by the barrier at the same place there.
GEMMVIZ_PTX void tma_load_multicast(void *shared, const tensor_map &map, int column, int row, barrier &b,
                                    unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(shared_address(shared)), "l"(&map), "r"(column), "r"(row), "r"(shared_address(&b)), "h"(blocks)
                 : "memory");
}
// Cache policies. `evict_first` is for elements that nobody reads again soon: L2 drops their lines first, and keeps what it
// held before. `evict_unchanged` is as without a policy (`evict_normal` is not: products took up to 10% longer with it).
typedef unsigned long long cache_policy;
GEMMVIZ_PTX cache_policy evict_first()
{
    cache_policy policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
GEMMVIZ_PTX cache_policy evict_unchanged()
{
    cache_policy policy;
    asm volatile("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
// The two loads with a policy.
GEMMVIZ_PTX void tma_load(void *shared, const tensor_map &map, int column, int row, barrier &b, cache_policy policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(shared_address(shared)), "l"(&map), "r"(column), "r"(row), "r"(shared_address(&b)), "l"(policy)
                 : "memory");
}
GEMMVIZ_PTX void tma_load_multicast(void *shared, const tensor_map &map, int column, int row, barrier &b,
                                    unsigned short blocks, cache_policy policy)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;"
                 :: "r"(shared_address(shared)), "l"(&map), "r"(column), "r"(row), "r"(shared_address(&b)), "h"(blocks),
                    "l"(policy)
                 : "memory");
}
// Asks L2 for the line of 128 bytes in global memory that an address is in. Nobody waits for it.
GEMMVIZ_PTX void prefetch_l2(const void *global)
{
    asm volatile("prefetch.global.L2 [%0];" :: "l"(__cvta_generic_to_global(global)) : "memory");
}
// Copies a box from shared memory to the matrix.
GEMMVIZ_PTX void tma_store(const tensor_map &map, int column, int row, const void *shared)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&map), "r"(column), "r"(row), "r"(shared_address(shared)) : "memory");
}
// The same with a policy.
GEMMVIZ_PTX void tma_store(const tensor_map &map, int column, int row, const void *shared, cache_policy policy)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;"
                 :: "l"(&map), "r"(column), "r"(row), "r"(shared_address(shared)), "l"(policy) : "memory");
}
// Adds a box of floats in shared memory to the matrix: L2 does the sums.
GEMMVIZ_PTX void tma_add(const tensor_map &map, int column, int row, const void *shared)
{
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&map), "r"(column), "r"(row), "r"(shared_address(shared)) : "memory");
}
// Makes a group of the thread's stores since the last commit.
GEMMVIZ_PTX void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until at most `Left` of the thread's latest groups have yet to read shared memory.
template <int Left> GEMMVIZ_PTX void tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(Left) : "memory");
}
// Waits until all of the thread's groups are in the matrix.
GEMMVIZ_PTX void tma_store_wait_written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// The thread's reads of global memory come before the copy engine's accesses there for it.
GEMMVIZ_PTX void global_read() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
GEMMVIZ_PTX void tma_prefetch(const tensor_map &map)
{
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}
// Lets the copy engine and the tensor cores see the thread's writes to shared memory.
GEMMVIZ_PTX void shared_written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- stmatrix: the reverse of ldmatrix. A warp stores 4 matrices of 8 x 8 halves to shared memory; the lanes hold them, and
// ---- give the addresses of the rows, as they do for ldmatrix.

GEMMVIZ_PTX void stmatrix_x4(void *row, const unsigned (&r)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(shared_address(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}
// The same with rows and columns exchanged: 4 matrices, or 2.
GEMMVIZ_PTX void stmatrix_x4_trans(void *row, const unsigned (&r)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(shared_address(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}
GEMMVIZ_PTX void stmatrix_x2_trans(void *row, const unsigned (&r)[2])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :: "r"(shared_address(row)), "r"(r[0]), "r"(r[1]) : "memory");
}

// ---- Waits between threads, beside __syncthreads.

// Waits until `threads` threads of the block have come to the barrier of this number, 1 to 15.
GEMMVIZ_PTX void threads_meet(int number, int threads)
{
    asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(threads) : "memory");
}
// Counts this thread among them, and does not wait.
GEMMVIZ_PTX void threads_arrive(int number, int threads)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(number), "r"(threads) : "memory");
}
GEMMVIZ_PTX unsigned cluster_rank()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// All threads of all blocks of the cluster meet.
GEMMVIZ_PTX void cluster_meet()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The same for a beginning: it shows the barriers that `barriers_ready` let the cluster see, and nothing else that
// was written (so there is no waiting until it is).
GEMMVIZ_PTX void cluster_begin()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Raises a flag in global memory: what this thread wrote before, and what others wrote before a barrier of the block that
// it passed, is seen by a thread that waits for the flag. The one that waits lowers it.
GEMMVIZ_PTX void flag_raise(volatile int &flag)
{
    asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(__cvta_generic_to_global((const void *)&flag)) : "memory");
}
GEMMVIZ_PTX void flag_await(volatile int &flag)
{
    asm volatile("{\n.reg .pred up;\n.reg .s32 seen;\nagain:\n"
                 "ld.acquire.gpu.global.s32 seen, [%0];\n"
                 "setp.ne.s32 up, seen, 0;\n"
                 "@!up bra again;\n}"
                 :: "l"(__cvta_generic_to_global((const void *)&flag)) : "memory");
    flag = 0;
}
// A warpgroup takes registers from those that its block has left over, or gives some back.
template <int Count> GEMMVIZ_PTX void registers_up()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(Count));
}
template <int Count> GEMMVIZ_PTX void registers_down()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(Count));
}

} // namespace ptx
} // namespace gemmviz
