// The block and thread that run now, for all files of the runtime, and the layers of these files.
//
// Layers, from the bottom: a file includes headers of its own layer and of earlier layers in this list. A function of
// a later layer is passed to it as a pointer.
//
//   recording kernel_calls/*                 the layout that Python shares; the calls of a kernel's program
//   running                                  the block and thread that run now
//   stop notes watched shared_memory         ending a run; a kernel's defects; the watched arrays; shared memory
//   block_memory                             the shared memory of blocks that run together
//   ownership                                the block of each element of C, while several processes run blocks
//   rows pages values                        the thread and phase of each row; the memory of rows; their values
//   access last_access                       records one access; one that is like the last of its instruction
//   found_tiles                              the rows of the first blocks, when the tiles of boxes are known
//   contexts stacks                          the switch from one thread to another; the memory of their stacks
//   fibres async_copies                      threads and their waits; cp.async
//   postponed                                instructions that a warp does together, later
//   foreseen                                 rows of matrices that a warp is about to load
//   packed_panels pthreads                   arrays that a C kernel allocates, and its threads
//   cluster events remote                    blocks that run together; events that are no accesses; the shared
//                                            memory of other blocks
//   processor elements products wgmma_sums   elements as numbers, and sums of products of a tensor core
//   mma_rows mma_avx2 mma_tiles              the common mma
//   wgmma_operands wgmma_products            the operands of wgmma, and its products
//   wgmma_rows                               the rows of what a warpgroup reads for its products
//   kept_mma                                 products of the common mma that are postponed
//   ldmatrix mma_quads mma_words wmma wgmma  tensor cores, and the loads of their registers
//   sync_flags mbarrier_state                flags between blocks; an mbarrier's count
//   tsan flights tma_boxes                   the compiler's calls before an access; the copy engine and its data
//   bulk_copies mbarriers                    copies of adjacent bytes by the copy engine; the instructions of mbarriers
//   scheduler                                the order in which threads run
//   workers                                  blocks shared between processes
//   record layout event_rows                 the calls of Python
//   halves                                   a rounding that the compiler calls; it calls nothing
//   shared_zone                              memory around the shared arrays
#pragma once
#include "recording.h"

// Registers are on the stacks. A bit per GV_PART bytes says whether a postponed instruction of the warp changes them.
// Places that are a multiple of all bits apart share one, which only makes a lane catch up early.
enum { GV_PART = 16, GV_CHANGING = 512 /* bits */ };

// A number of a thread or block is linear, x fastest.
typedef struct {
    gv_run *run;
    uint32_t thread, block, phase;
    uint32_t turn;       // __syncwarp that the thread has passed in the phase
    uint32_t rank;       // of the block in its cluster
    uint64_t marked;     // rows up to here belong to a known thread, phase and turn: see gv_mark
    uint64_t rows_room, more_room; // rows and further words with prepared pages: see pages.h
    int tells;           // whether the run has told of an event
    int64_t lost_ns;     // by huge pages, against small ones: see pages.c
    int sharing;         // one of the values below
    // Whether blocks run together, and two ranges of addresses (mostly parts of A and B) whose memory holds the running
    // block's data: see block_memory.h.
    int brings;
    struct {
        uintptr_t at, end;
    } brought[2];
    // Of the running thread, see postponed.h: instructions that it has postponed, and what to call before it uses
    // memory (at, bytes) or does anything else that others may notice (0, 0); NULL with none. Of its warp: lanes that
    // have gone on in front of others. Whether any instruction of this run was postponed, and whether the present
    // access comes before postponed ones. kept_as: of the thread, see kept_mma.h.
    uint32_t postponed, lanes_ahead, postpones, looks_ahead, kept_as;
    void (*catch_up)(uintptr_t at, uint32_t bytes);
    // What to call before a row is kept in the name of another thread, and when all threads wait: rows of postponed
    // instructions are missing (NULL: none).
    void (*keep_rows)(void);
    uint64_t changing[GV_CHANGING / 64]; // the running thread's registers that postponed instructions change,
    uintptr_t changing_from, changing_end; // and the part of its stack that has them
    // Addresses that stand for the shared memory of other blocks (0: none was asked for), and what to call when a
    // thread is about to access one, and when the value of a write is in memory: see remote.c.
    uintptr_t mapped;
    void (*on_mapped)(uintptr_t at, uint32_t bytes, int write, uintptr_t pc);
    void (*mapped_written)(void);
    uintptr_t stacks;    // of all threads, side by side
    uintptr_t stack_low; // with a function that begins below, the running thread may need more than its stack
    uint64_t stacks_bytes, stacks_apart; // so many addresses on both sides of them have no memory
} gv_running;
extern gv_running gv_now __attribute__((visibility("hidden"))); // record.c

// The processes that run the blocks: this one alone; this one, and others after the first block; several.
enum { GV_ONE_AFTER_ANOTHER, GV_FIRST_BLOCK, GV_IN_WORKER };

enum { GV_MAX_THREADS = 1024 /* of a block */, GV_MAX_CLUSTER = 16 /* blocks */ };

// The index of the running thread in an array with one element for every thread of a cluster.
static inline uint32_t gv_thread_slot(void) { return gv_now.rank * GV_MAX_THREADS + gv_now.thread; }

// An instruction exchanges values between this number of threads.
static inline void gv_work_together(uint32_t threads)
{
    if (gv_now.run->together < threads) gv_now.run->together = threads;
}

// Does the postponed instructions of the running thread. It may wait for others.
static inline void gv_catch_up(void)
{
    if (gv_now.catch_up) gv_now.catch_up(0, 0);
}

// Returns whether an address stands for the shared memory of another block. Each block has GV_MAPPED_EACH of them.
enum { GV_MAPPED_EACH = 1 << 24 };
static inline int gv_is_mapped(uintptr_t at)
{
    return gv_now.mapped && at - gv_now.mapped < (uintptr_t)GV_MAX_CLUSTER * GV_MAPPED_EACH;
}

// Returns whether an address is on the stack of a thread.
static inline int gv_on_stack(uintptr_t at) { return at - gv_now.stacks < gv_now.stacks_bytes; }

// Returns whether an address is on a stack, or among those without memory beside the stacks.
static inline int gv_near_stacks(uintptr_t at)
{
    return at - (gv_now.stacks - gv_now.stacks_apart) < gv_now.stacks_bytes + 2 * gv_now.stacks_apart;
}

// Returns whether a postponed instruction of the running thread may change these registers.
static inline int gv_changes(uintptr_t at, uint32_t bytes)
{
    if (at >= gv_now.changing_end || at + bytes <= gv_now.changing_from) return 0;
    uintptr_t first = at / GV_PART, last = (at + bytes - 1) / GV_PART;
    const uint64_t *changing = gv_now.changing;
    if (bytes <= GV_PART)
        return (changing[first % GV_CHANGING / 64] >> first % 64 | changing[last % GV_CHANGING / 64] >> last % 64) & 1;
    for (uintptr_t part = first; part <= last; part++)
        if (changing[part % GV_CHANGING / 64] >> part % 64 & 1) return 1;
    return 0;
}

// The address of the caller, for the source line. Only for functions that are never inlined.
#define GV_PC ((uintptr_t)__builtin_return_address(0) - 1)
