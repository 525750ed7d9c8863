// What the recorder's C side and its Python side agree on. Plain C.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { GV_MAX_ARRAYS = 32, GV_MAX_SITES = 4096, GV_MAX_NOTES = 32, GV_MOST_MEMBERS = 16 };

// One array that is watched. `guard` bytes on either side belong to it too: an access there is out of bounds.
typedef struct {
    uintptr_t start;
    uint64_t bytes;
    uint64_t guard;
    uint32_t itemsize;
    uint32_t shared;
    uint32_t doubles; // the elements are doubles, whose values are kept as floats
    uint32_t inside;  // a part of an array that comes later, with elements of its own
} gv_array;

// Something that the recorder noticed, once per kind and site; `times` counts how often it came about.
enum {
    GV_NOTE_OUT_OF_BOUNDS = 1, GV_NOTE_BARRIER_LEFT = 2, GV_NOTE_BARRIERS_DIFFER = 3,
    GV_NOTE_STUCK = 4,     // nobody can go on, and this thread waits for a phase of the mbarrier `barrier` to end
    GV_NOTE_MEETING = 5,   // the same, and it waits where `other` threads of the block, or (0) all of the cluster, were to meet
    GV_NOTE_OPERAND = 6,   // a box is copied to where a product still reads (offset: in the array)
    GV_NOTE_EARLY = 7,     // the mbarrier `barrier` of block `other` is used, and may not be initialised by then
    GV_NOTE_LATE = 8,      // the same, and the block may have left by then
};
typedef struct {
    int32_t kind;
    int32_t array;
    int64_t offset; // bytes from the array's start
    uintptr_t pc, other_pc;
    uint32_t block, thread, other, write;
    uint64_t times;
    uintptr_t barrier;          // GV_NOTE_STUCK, GV_NOTE_EARLY, GV_NOTE_LATE
    int64_t copied;             // GV_NOTE_STUCK: bytes that are still to be copied
    uint32_t arrivals, parity;  // GV_NOTE_STUCK: arrivals that are missing, and the parity waited for
} gv_note;

enum {
    GV_OK = 0, GV_FULL = 1, GV_SIGNAL = 2, GV_DEADLINE = 3, GV_TOO_MANY_SITES = 4, GV_NO_MEMORY = 5, GV_TOO_MANY_PHASES = 6,
    GV_WARP_WAITS = 7, // a lane waits for lanes of its warp that never come
    GV_PART_OF_WARP = 8, // an instruction for a whole warp met a warp of fewer than 32 threads
    GV_MISALIGNED = 9, // fault_address is no multiple of what is accessed at once
    GV_TOO_MANY_COPIES = 10, // a thread has more asynchronous copies under way than are kept
    GV_ASSERTION = 12, // an assertion of the kernel is false
    GV_BARRIER_NOT_READY = 13, // fault_address is no mbarrier that was initialised
    GV_ARRIVES_TOO_OFTEN = 14, // at the mbarrier fault_address, whose phase has all of its arrivals
    GV_PART_OF_GROUP = 15,     // an instruction for a warpgroup met fewer than 128 threads
    GV_GROUP_WAITS = 16,       // a thread waits for threads of its warpgroup that never come
    GV_ADDS_NO_FLOATS = 17,    // a box is added to a matrix (fault_other) whose elements are no floats
    GV_FLAG_NEVER_SET = 18,    // a thread waits for a flag that nobody can set any more
    GV_STACK_OVERFLOW = 19,    // fault_address is in the forbidden page below a thread's stack
    GV_ALONE = 11 // only inside: these blocks must run one after another
};

typedef struct {
    // in
    uint32_t block[3], grid[3];
    uint32_t arrays;
    gv_array array[GV_MAX_ARRAYS];
    uint64_t capacity, more_capacity; // rows, further elements
    uint64_t stack_bytes;
    double deadline_s;
    uint32_t first_block, end_block; // what to run of the grid
    uint32_t cluster;                // blocks that run together, neighbours along x
    uint32_t workers;                // processes to share the blocks between; with 1 all run in this one
    uint32_t count_only;             // count the accesses and keep none
    void (*entry)(void **arguments);
    void **arguments;
    // out: one column per field of an access, `capacity` rows each
    uint16_t *site;
    uint8_t *which;
    uint8_t *write;
    uint8_t *bytes;
    uint32_t *element;
    uint32_t *value; // the bits of the first element, or of the double as a float
    uint32_t *block_of;
    uint16_t *thread_of;
    uint16_t *phase_of;
    uint16_t *turn_of; // __syncwarp that the thread had passed in the phase
    uint32_t *more; // the bits of the further elements of accesses wider than one, in the order of the rows
    uint64_t count, more_count;
    uint32_t unordered; // rows do not stand by block, phase and thread
    uint32_t shared_by; // processes that ran the blocks
    uint32_t sites;
    uintptr_t site_pc[GV_MAX_SITES];
    uint8_t site_atomic[GV_MAX_SITES];
    uint32_t notes;
    gv_note note[GV_MAX_NOTES];
    // how it ended
    int32_t status, signal;
    uintptr_t fault_pc, last_pc, fault_address;
    uint32_t fault_block, fault_thread, fault_other;
    uint32_t fault_bytes, fault_write; // what was accessed at fault_address, where this is misaligned
} gv_run;

int gv_record(gv_run *run);

// What the parts of the runtime offer each other. A number of a thread or block is linear, x fastest.
typedef struct {
    gv_run *run;
    uint32_t thread, block, phase, turn;
    uint32_t member;            // which block of its cluster
    uint64_t marked, last_turn; // see gv_mark
    int together;               // other processes run blocks, too: see blocks.c
} gv_running;
extern gv_running gv_now __attribute__((visibility("hidden")));

// Forgets the last run.
void gv_begin(gv_run *run);

// Watches one more array, the run's i-th; forgets those that the last run's kernel made.
void gv_watch(uint32_t i);
void gv_panels_begin(void);

// Ends the run from wherever it is.
void gv_stop(int status) __attribute__((noreturn));

// Notices something, once per kind and instruction.
void gv_notice(int kind, int array, int64_t offset, uintptr_t pc, uint32_t other, uintptr_t other_pc, int write);

// Keeps the value of the last write; called where a thread gives way, as by then the value is in memory.
void gv_settle(void);

// Does what the next one does, and counts the rows as their thread's.
void gv_mark_made(void);

// Writes block, thread, phase and turn into the rows since the last call; to be called before any of them changes.
void gv_mark(void);

// Runs one block, or those of one cluster, to the end.
void gv_run_block(uint32_t block);

// Runs `body` until it ends or the run is stopped, and returns how.
int gv_guarded(void (*body)(void *), void *what);

// Lets a signal stop this process's run at the deadline.
void gv_deadline(void);

// Says whether an address is on the stack of a thread.
int gv_on_stack(uintptr_t at);

// Runs blocks from `first` on in several processes, where that pays and changes nothing; returns the first not run.
uint32_t gv_run_together(uint32_t first);

// Frees what gv_run_together had taken, and ends processes that it has left.
void gv_end_together(void);

// To be called before anything that only comes out right when all blocks run in this process, one after another.
void gv_alone(void);
void gv_alone_if_global(uintptr_t at);
void gv_hidden_write(uintptr_t at);

// How many asynchronous copies have arrived; forgets those from `count` on, as their blocks will run again.
uint64_t gv_copies_told(void);
void gv_copies_take_back(uint64_t count);

// The number of the running thread's next asynchronous copy; lets those before such a number arrive.
uint32_t gv_copies_end_now(void);
void gv_copies_arrive_up_to(uint32_t end);

// Says that the running block touches these elements of an array in global memory; on the way in and out of sharing.
void gv_claim_elements(uint32_t array, uint64_t first, uint64_t last, int write);
void gv_claim(int on);

// A flag that is not watched is read, or written: see flags.c.
void gv_flag_read(uintptr_t at, uintptr_t pc);
void gv_flag_written(uintptr_t at, uint32_t bytes, uintptr_t pc); // before its value is there
void gv_flags_begin(void);

// Tells of something that a thread does, beside what happens to mbarriers; `number` is a signal's.
enum { GV_WRITTEN = 8, GV_ASKED, GV_GLOBAL_READ, GV_THREAD_FENCE, GV_FLAG_SET, GV_FLAG_SEEN };
void gv_tell(int kind, uint32_t number, uintptr_t pc);

// Says that what an instruction does is atomic.
void gv_site_atomic(uintptr_t pc);

// Writes down one access of the running thread. `how`: GV_WRITE or not, and whether any address will do.
enum { GV_WRITE = 1, GV_ANY_ALIGNMENT = 2 };
void gv_access(void *address, uint32_t bytes, int how, uintptr_t pc);

// What the lanes of a warp do together: `posted` holds what each lane brought; lanes outside the mask brought nothing.
typedef void gv_together(void *posted[32], uint32_t mask);

// Waits until every lane of the mask has come here; the last one does the work for all.
void gv_warp(uint32_t mask, void *mine, gv_together *work, uintptr_t pc);

// Waits until every thread of the running thread's warpgroup has come here; the last one does the work for all 128.
enum { GV_GROUP = 128 };
typedef void gv_by_group(void *posted[GV_GROUP]);
void gv_group(void *mine, gv_by_group *work, uintptr_t pc);

// Gives way until the phase of an mbarrier (a number of barriers.c) has ended.
void gv_wait_for(uint32_t barrier, uint32_t parity, uintptr_t pc);

// The same for who arrives once too often: where nobody else can go on either, that ends the run.
void gv_wait_to_arrive(uint32_t barrier, uint32_t parity, uintptr_t pc);

// Does something in the name of another thread, of the running block's cluster.
void gv_in_name_of(uint32_t member, uint32_t thread, void (*what)(void *), void *with);

// How many accesses the running thread has made in this phase.
uint32_t gv_made(void);

// What the scheduler asks of barriers.c, boxes.c and wgmma.c.
void gv_barriers_reset(void);
int gv_barrier_open(uint32_t barrier, uint32_t parity);     // whether it lets pass who waits for this parity
int gv_barrier_lacks_copies(uint32_t barrier);               // nothing but what is being copied is missing
void gv_barrier_stuck(uint32_t barrier, uint32_t parity, uintptr_t pc);
void gv_barrier_too_often(uint32_t barrier) __attribute__((noreturn));
void gv_barriers_cluster_met(void);                          // its blocks have met
void gv_barriers_left(void);                                 // all of its threads have left the kernel
void gv_barrier_passed(uint32_t barrier, uintptr_t pc);
void gv_barrier_bytes(uint32_t barrier, int64_t bytes, uintptr_t pc);
uint32_t gv_barrier_at(void *at, uint32_t member, uintptr_t pc);
void gv_barrier_reached(uint32_t barrier, uintptr_t pc);     // what the running thread does counts in its phase
void gv_boxes_reset(void);
void gv_copies_arrive(uint32_t barrier);                     // what is being copied and the barrier waits for
void gv_boxes_arrive(uint32_t barrier);                      // its boxes
void gv_all_copies_arrive(void);                             // all copies that a barrier is told of
void gv_all_boxes_arrive(void);                              // its boxes
void gv_boxes_left(void);                                    // the running thread has left the kernel
void gv_products_reset(void);
void gv_check_operands(uintptr_t at, uint64_t bytes, uint32_t member, uintptr_t pc);

// What was told of boxes and barriers up to now, and to forget what came later; see gv_copies_told.
typedef struct { uint64_t boxes, events; } gv_hopper_told;
gv_hopper_told gv_told_hopper(void);
void gv_take_back_hopper(gv_hopper_told told);

// Ends the run: the running thread's warp has fewer than 32 lanes, and the instruction needs them all.
void gv_no_warp(uintptr_t pc);

// The running thread's number in its warp, and the lanes that its warp has.
uint32_t gv_lane(void);
uint32_t gv_lanes(void);

// The address of the caller, for the source line. Only in functions that are never inlined.
#define GV_PC ((uintptr_t)__builtin_return_address(0) - 1)
