// Thin names for the PTX instructions that fast GEMM kernels use and CUDA C++ has no function for. One function is one
// instruction, or the few that belong together (PTX ISA, "Asynchronous copy", "ldmatrix", "mma", "mbarrier", "stmatrix",
// "wgmma"). The first half needs compute capability 8.0; from "Hopper" on, 9.0, compiled for sm_90a.
//
// The recorder has a header of the same name with the same functions: a kernel that keeps to these can be recorded.
#pragma once

#define GEMMVIZ_PTX static __device__ __forceinline__

struct __nv_bfloat16;

namespace gemmviz {
namespace ptx {

static __device__ __forceinline__ unsigned shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

// ---- cp.async: copies from global to shared memory that go on in the background. Both addresses are multiples of the
// ---- size. Nothing may be read at the destination before the thread has waited, and other threads need a barrier too.

// Copies 4, 8 or 16 bytes through L1 and L2.
template <int Bytes> GEMMVIZ_PTX void cp_async_ca(void *shared, const void *global)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "n"(Bytes) : "memory");
}
// The same, but only the first `source_bytes` are read; the rest is filled with zeros.
template <int Bytes> GEMMVIZ_PTX void cp_async_ca_zfill(void *shared, const void *global, int source_bytes)
{
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "n"(Bytes), "r"(source_bytes)
                 : "memory");
}
// Copies 16 bytes through L2 only.
GEMMVIZ_PTX void cp_async_cg16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}
GEMMVIZ_PTX void cp_async_cg16_zfill(void *shared, const void *global, int source_bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "r"(source_bytes) : "memory");
}
// Makes a group of the thread's copies since the last commit.
GEMMVIZ_PTX void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `Left` of the thread's latest groups are under way.
template <int Left> GEMMVIZ_PTX void cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(Left) : "memory"); }
// Waits for all of the thread's copies.
GEMMVIZ_PTX void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- ldmatrix: a warp loads 1, 2 or 4 matrices of 8 x 8 halves from shared memory. Lane l gives the address of row
// ---- l % 8 of matrix l / 8, 16 bytes that are aligned to 16; register i of a lane gets two neighbours of matrix i.

GEMMVIZ_PTX void ldmatrix_x1(unsigned (&r)[1], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x2(unsigned (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x4(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}
// The same with each matrix transposed.
GEMMVIZ_PTX void ldmatrix_x1_trans(unsigned (&r)[1], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x2_trans(unsigned (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}
GEMMVIZ_PTX void ldmatrix_x4_trans(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

// ---- mma: a warp computes d = a b + c on tensor cores, a by rows, b by columns. The names say: shape, type of the sums,
// ---- type of the operands. A register holds two halves or bfloat16, or one float or tf32.

GEMMVIZ_PTX void mma_m16n8k16_f32_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k16_f32_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k16_f16_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2], const unsigned (&c)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}
GEMMVIZ_PTX void mma_m16n8k8_f32_f16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k8_f32_bf16(float (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX void mma_m16n8k8_f16_f16(unsigned (&d)[2], const unsigned (&a)[2], const unsigned (&b)[1], const unsigned (&c)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                 : "=r"(d[0]), "=r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
// Of a tf32 operand the hardware uses 10 bits behind the point; `to_tf32` rounds a float to them.
GEMMVIZ_PTX void mma_m16n8k8_f32_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
GEMMVIZ_PTX unsigned to_tf32(float value)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return rounded;
}

// ==== Hopper. ====

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

// ---- Waits between threads, beside __syncthreads.

// Waits until `threads` threads of the block have come to the barrier of this number, 1 to 15.
GEMMVIZ_PTX void threads_meet(int number, int threads)
{
    asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(threads) : "memory");
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

// ---- wgmma: a warpgroup (128 threads) computes d = a b + d with a (64 x 16) and b (16 x N) from shared memory, in the
// ---- background. Before the first one, and after registers were touched: `wgmma_begin`. Then products, `wgmma_commit`,
// ---- and `wgmma_wait` before d is touched or the operands are overwritten.
// ---- Warp w of the group owns rows 16 w to 16 w + 15 of d: in lane l, d[4 j + 2 h + e] is row 16 w + l / 4 + 8 h, column
// ---- 8 j + 2 (l % 4) + e.

// Where an operand stands in shared memory, swizzled by 128 bytes.
struct operand {
    unsigned long long bits;
};

// An operand along K: a row of a (or a column of b) has its 64 elements of K in one row of 128 bytes; groups of 8 rows
// follow each other. `at`: the first of the 16 elements of K in row 0.
GEMMVIZ_PTX operand along_k(const void *at)
{
    return {((shared_address(at) & 0x3ffffull) >> 4) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62};
}
// An operand across K: a row of 128 bytes (or 64) has 64 elements of M or N (or 32) for one k, the rows of successive k
// follow each other; the next elements of M or N stand `next_bytes` later. `at`: the first row.
template <int RowBytes = 128> GEMMVIZ_PTX operand across_k(const void *at, unsigned next_bytes)
{
    static_assert(RowBytes == 128 || RowBytes == 64, "rows of 128 or 64 bytes");
    return {((shared_address(at) & 0x3ffffull) >> 4) | (unsigned long long)(next_bytes >> 4) << 16 |
            (8ull * RowBytes >> 4) << 32 | (RowBytes == 128 ? 1ull : 2ull) << 62};
}
// The operand that stands so many bytes further on.
GEMMVIZ_PTX operand operator+(operand o, unsigned bytes) { return {o.bits + (bytes >> 4)}; }
GEMMVIZ_PTX void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GEMMVIZ_PTX void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Left> GEMMVIZ_PTX void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(Left) : "memory"); }

// Keeps the compiler from reading d before the wait above: needed where other products go on.
template <int N> GEMMVIZ_PTX void wgmma_ready(float (&d)[N])
{
    #pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

enum { ALONG_K = 0, ACROSS_K = 1 };

// clang-format off
#define GEMMVIZ_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define GEMMVIZ_D16(i) GEMMVIZ_D4(i), GEMMVIZ_D4(i + 4), GEMMVIZ_D4(i + 8), GEMMVIZ_D4(i + 12)
#define GEMMVIZ_D32(i) GEMMVIZ_D16(i), GEMMVIZ_D16(i + 16)
#define GEMMVIZ_D64(i) GEMMVIZ_D32(i), GEMMVIZ_D32(i + 32)
#define GEMMVIZ_N16_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define GEMMVIZ_N32_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define GEMMVIZ_N16_1 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define GEMMVIZ_N32_1 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define GEMMVIZ_N32_2 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define GEMMVIZ_N32_3 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
// clang-format on
#define GEMMVIZ_WGMMA(n, type, registers, names, a_at, b_at, add_at, a_lies, b_lies, ...) \
    template <int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32_##type(float (&d)[registers], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" names "}, %" a_at ", %" b_at \
                     ", add, 1, 1, %" a_lies ", %" b_lies ";\n}" \
                     : __VA_ARGS__ \
                     : "l"(a.bits), "l"(b.bits), "r"(add), "n"(LieOfA), "n"(LieOfB)); \
    }
#define GEMMVIZ_WGMMAS(type) \
    GEMMVIZ_WGMMA(32, type, 16, GEMMVIZ_N16_0, "16", "17", "18", "19", "20", GEMMVIZ_D16(0)) \
    GEMMVIZ_WGMMA(64, type, 32, GEMMVIZ_N32_0, "32", "33", "34", "35", "36", GEMMVIZ_D32(0)) \
    GEMMVIZ_WGMMA(96, type, 48, GEMMVIZ_N32_0 "," GEMMVIZ_N16_1, "48", "49", "50", "51", "52", GEMMVIZ_D32(0), GEMMVIZ_D16(32)) \
    GEMMVIZ_WGMMA(128, type, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", "67", "68", GEMMVIZ_D64(0)) \
    GEMMVIZ_WGMMA(192, type, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", "99", "100", \
                  GEMMVIZ_D64(0), GEMMVIZ_D32(64)) \
    GEMMVIZ_WGMMA(256, type, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", "129", \
                  "130", "131", "132", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
// wgmma_m64n64k16_f32_f16<ALONG_K or ACROSS_K>(d, a, b, add) and so on: shape, type of the sums, type of the operands; the
// template arguments say how b lies, and how a does (along K where nothing is said). With add = 0 the old d is forgotten.
GEMMVIZ_WGMMAS(f16)
GEMMVIZ_WGMMAS(bf16)
#undef GEMMVIZ_WGMMAS
// wgmma_m64n64k16_f32<half or __nv_bfloat16, ALONG_K or ACROSS_K>(d, a, b, add) and so on: the type of the operands is a
// template argument, for kernels that are written for both.
template <typename Element> struct of_bf16 {
    enum { value = 0 };
};
template <> struct of_bf16<__nv_bfloat16> {
    enum { value = 1 };
};
#define GEMMVIZ_WGMMA_OF(n) \
    template <typename Element, int LieOfB, int LieOfA = ALONG_K> \
    GEMMVIZ_PTX void wgmma_m64n##n##k16_f32(float (&d)[n / 2], operand a, operand b, int add) \
    { \
        if constexpr (of_bf16<Element>::value) \
            wgmma_m64n##n##k16_f32_bf16<LieOfB, LieOfA>(d, a, b, add); \
        else \
            wgmma_m64n##n##k16_f32_f16<LieOfB, LieOfA>(d, a, b, add); \
    }
GEMMVIZ_WGMMA_OF(32)
GEMMVIZ_WGMMA_OF(64)
GEMMVIZ_WGMMA_OF(96)
GEMMVIZ_WGMMA_OF(128)
GEMMVIZ_WGMMA_OF(192)
GEMMVIZ_WGMMA_OF(256)
#undef GEMMVIZ_WGMMA_OF
#undef GEMMVIZ_WGMMA
// wgmma_m64n64k8_f32_tf32(d, a, b, add) and wgmma_m64n64k32_f32_e4m3(d, a, b, add), and so on: 32 bytes of K each, and both
// operands lie along K. Of a float the hardware uses the 10 upper bits of the fraction.
#define GEMMVIZ_WGMMA_ALONG(n, depth, type, registers, names, a_at, b_at, add_at, ...) \
    GEMMVIZ_PTX void wgmma_m64n##n##k##depth##_f32_##type(float (&d)[registers], operand a, operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k" #depth ".f32." #type "." #type " {" names "}, %" a_at ", %" b_at \
                     ", add, 1, 1;\n}" \
                     : __VA_ARGS__ \
                     : "l"(a.bits), "l"(b.bits), "r"(add)); \
    }
#define GEMMVIZ_WGMMAS_ALONG(depth, type) \
    GEMMVIZ_WGMMA_ALONG(64, depth, type, 32, GEMMVIZ_N32_0, "32", "33", "34", GEMMVIZ_D32(0)) \
    GEMMVIZ_WGMMA_ALONG(96, depth, type, 48, GEMMVIZ_N32_0 "," GEMMVIZ_N16_1, "48", "49", "50", GEMMVIZ_D32(0), GEMMVIZ_D16(32)) \
    GEMMVIZ_WGMMA_ALONG(128, depth, type, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", GEMMVIZ_D64(0)) \
    GEMMVIZ_WGMMA_ALONG(192, depth, type, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", \
                        GEMMVIZ_D64(0), GEMMVIZ_D32(64)) \
    GEMMVIZ_WGMMA_ALONG(256, depth, type, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", \
                        "129", "130", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
GEMMVIZ_WGMMAS_ALONG(8, tf32)
GEMMVIZ_WGMMAS_ALONG(32, e4m3)
#undef GEMMVIZ_WGMMAS_ALONG
#undef GEMMVIZ_WGMMA_ALONG
// The same with a in registers: warp w of the group gives rows 16 w to 16 w + 15. In lane l, a[i] is row l / 4 + i % 2 * 8
// of these, and element l % 4 + i / 2 * 4 of K. The registers must not change before `wgmma_wait`.
#define GEMMVIZ_WGMMA_FROM(n, registers, names, a0, a1, a2, a3, b_at, add_at, ...) \
    GEMMVIZ_PTX void wgmma_m64n##n##k8_f32_tf32(float (&d)[registers], const float (&a)[4], operand b, int add) \
    { \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" add_at ", 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 {" names "}, {%" a0 ", %" a1 ", %" a2 \
                     ", %" a3 "}, %" b_at ", add, 1, 1;\n}" \
                     : __VA_ARGS__ \
                     : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), \
                       "r"(__float_as_uint(a[3])), "l"(b.bits), "r"(add)); \
    }
GEMMVIZ_WGMMA_FROM(64, 32, GEMMVIZ_N32_0, "32", "33", "34", "35", "36", "37", GEMMVIZ_D32(0))
GEMMVIZ_WGMMA_FROM(128, 64, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1, "64", "65", "66", "67", "68", "69", GEMMVIZ_D64(0))
GEMMVIZ_WGMMA_FROM(192, 96, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2, "96", "97", "98", "99", "100", "101",
                   GEMMVIZ_D64(0), GEMMVIZ_D32(64))
GEMMVIZ_WGMMA_FROM(256, 128, GEMMVIZ_N32_0 "," GEMMVIZ_N32_1 "," GEMMVIZ_N32_2 "," GEMMVIZ_N32_3, "128", "129", "130",
                   "131", "132", "133", GEMMVIZ_D64(0), GEMMVIZ_D64(64))
#undef GEMMVIZ_WGMMA_FROM
#undef GEMMVIZ_N32_3
#undef GEMMVIZ_N32_2
#undef GEMMVIZ_N32_1
#undef GEMMVIZ_N16_1
#undef GEMMVIZ_N16_0
#undef GEMMVIZ_N32_0
#undef GEMMVIZ_D64
#undef GEMMVIZ_D32
#undef GEMMVIZ_D16
#undef GEMMVIZ_D4

} // namespace ptx
} // namespace gemmviz
