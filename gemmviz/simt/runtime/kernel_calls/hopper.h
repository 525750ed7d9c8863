// The interface between the headers for kernels and mbarriers.c, tma_boxes.c, wgmma.c: the instructions of compute
// capability 9.0. Plain C.
#pragma once
#include "wgmma_words.h"
#include <stdint.h>

// A tensor map, in the 128 bytes that it has on a GPU. Rows and columns are those of the stored matrix.
typedef struct {
    uint64_t matrix; // address
    uint32_t index;  // 0, 1, 2 for A, B, C
    uint32_t itemsize;
    int32_t rows, columns;
    uint32_t box_rows, box_columns, swizzle; // swizzle: in bytes, 0 for none
} gv_tensor_map;

// An operand of wgmma in shared memory: see along_k and across_k in ptx.h, and "Matrix Descriptor Format" in the PTX
// ISA. Along K, groups of 8 rows of M (or N) stand `group_bytes` apart; across K, groups of 8 rows of K do, and the
// next elements of M (or N) `next_bytes` later. row_bytes: the swizzle; 16 for none, where `next_bytes` leads along K
// to the next 16 bytes.
typedef struct {
    uintptr_t at;
    uint32_t next_bytes, row_bytes, group_bytes;
} gv_operand;

// d = a b + d for 64 rows, n columns and 32 bytes of K. Types: those of wmma.h; a sum of halves shares its register
// with its neighbour.
typedef struct {
    gv_operand a, b;
    const uint32_t *registers; // of a, where it is in registers; or NULL
    uint32_t n;
    int type_d, type_a, type_b, a_across, b_across;
    int add;   // whether the product is added to the old d
    int minus; // whether the product is subtracted
} gv_wgmma_product;

// The position of a byte of a swizzled box: its 16-byte piece moves within the row, depending on the row.
static inline uintptr_t gv_swizzled(uintptr_t at, uint32_t swizzle)
{
    uintptr_t pieces = swizzle / 16;
    return pieces ? at ^ ((at >> 7 & (pieces - 1)) << 4) : at;
}

#ifdef __cplusplus
#if defined(__clang__)
#define GV_CALLED noexcept __attribute__((nomerge))
#else
#define GV_CALLED noexcept
#endif
extern "C" {
#else
#define GV_CALLED
#endif
// `barrier`: the 8 bytes of the mbarrier in the kernel's memory.
void gv_mbarrier_init(void *barrier, uint32_t count) GV_CALLED;
void gv_mbarrier_arrive(void *barrier, uint32_t bytes, int expects) GV_CALLED;
void gv_mbarrier_arrive_at(void *barrier, uint32_t block) GV_CALLED;
// Arrives when all cp.async that the thread has issued so far are complete.
void gv_mbarrier_arrive_copied(void *barrier) GV_CALLED;
// The phase under way also waits for the thread's cp.async up to now; that is no arrival of the thread.
void gv_mbarrier_await_copied(void *barrier) GV_CALLED;
void gv_mbarrier_wait(void *barrier, uint32_t parity) GV_CALLED;
// Announces bytes without an arrival; returns the parity of the current phase.
void gv_mbarrier_expect(void *barrier, uint32_t bytes) GV_CALLED;
uint32_t gv_mbarrier_phase(void *barrier) GV_CALLED;
// Takes bytes for copied, at the barrier of a block of the cluster.
void gv_mbarrier_complete(void *barrier, uint32_t bytes, uint32_t block) GV_CALLED;
// blocks: one bit per block of the cluster; 0 means the running block.
void gv_box_load(void *shared, const void *map, int32_t column, int32_t row, void *barrier, uint32_t blocks) GV_CALLED;
void gv_box_store(const void *map, int32_t column, int32_t row, const void *shared) GV_CALLED;
// Adds a box of floats to the matrix.
void gv_box_add(const void *map, int32_t column, int32_t row, const void *shared) GV_CALLED;
// Copies of adjacent bytes by the copy engine, without a map: multiples of 16 bytes. From the block's own shared memory
// a copy may go to another block's.
void gv_bulk_load(void *shared, const void *from, uint32_t bytes, void *barrier, uint32_t blocks) GV_CALLED;
void gv_bulk_store(void *to, const void *shared, uint32_t bytes) GV_CALLED;
void gv_bulk_add(void *to, const void *shared, uint32_t bytes) GV_CALLED; // of floats
void gv_box_store_commit(void) GV_CALLED;
void gv_box_store_wait(uint32_t left) GV_CALLED;
// Waits until all groups of the thread are written to the matrix.
void gv_box_store_wait_written(void) GV_CALLED;
// A fence: makes the thread's writes to shared memory visible to the copy engine.
void gv_shared_written(void) GV_CALLED;
// A fence: orders the thread's reads of global memory before the copy engine's accesses there for this thread.
void gv_global_read(void) GV_CALLED;
// Waits until this number of threads of the block has arrived at the barrier; or all blocks of the cluster.
void gv_named_barrier(int number, int threads) GV_CALLED;
// Arrives at a barrier of the block without waiting.
void gv_named_arrival(int number, int threads) GV_CALLED;
void gv_cluster_barrier(void) GV_CALLED;
// Arrives at the cluster barrier without waiting: what the thread does until its wait is not ordered by it.
void gv_cluster_arrive(int relaxed) GV_CALLED;
uint32_t gv_cluster_rank(void) GV_CALLED;
uint32_t gv_cluster_blocks(void) GV_CALLED;
// Loads and stores in the shared memory of a block of the cluster, at the address that it has in the running block.
void gv_remote_load(void *to, const void *from, uint32_t bytes, uint32_t block) GV_CALLED;
void gv_remote_store(void *to, const void *from, uint32_t bytes, uint32_t block) GV_CALLED;
// The address at which a thread finds a variable of another block's shared memory, and the block of such an address.
void *gv_map_shared(void *p, uint32_t rank) GV_CALLED;
uint32_t gv_mapped_rank(const void *p) GV_CALLED;
void gv_wgmma(void *d, const gv_wgmma_product *p) GV_CALLED; // d: n / 2 sums of the thread
void gv_wgmma_of(void *d, uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes, uint64_t how) GV_CALLED;
void gv_wgmma_apart(void *const *d, const gv_wgmma_product *p) GV_CALLED; // the same: where each of the sums is
void gv_wgmma_commit(void) GV_CALLED;
// The address in a shared array whose low bits are given.
uintptr_t gv_shared_at(uintptr_t low, uint32_t bits) GV_CALLED;
void gv_wgmma_wait(uint32_t left) GV_CALLED;
#ifdef __cplusplus
}
#endif
