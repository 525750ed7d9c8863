// The interface between the recorder's C side and its Python side: their common structures and numbers, and the
// functions that Python calls. Plain C.
//
// simt/layout.py has the same description. layout.c passes this one to Python, which compares both for each recorder.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { GV_MAX_ARRAYS = 32, GV_MAX_SITES = 4096, GV_MAX_NOTES = 32, GV_PANEL_NAME = 32, GV_PTX_NAME = 104 };
enum { GV_WARP = 32, GV_WARPGROUP = 128 };

// One watched array. The `guard` bytes on both sides belong to it, too: an access there is out of bounds.
typedef struct {
    uintptr_t start;
    uint64_t bytes;
    uint64_t guard;
    uint32_t itemsize;
    uint32_t shared;
    uint32_t number; // gv_number_kind: how the bits of an element become a float
    uint32_t inside;  // a part of a later array, with its own elements
    uint32_t scratch; // gv_scratch_kind
    const uint32_t *floats; // GV_NUMBER_SMALL: for all bits of an element, the bits of the float
} gv_array;

// Variables of the device are recorded only for the checker. One that is also a flag is no scratch memory: its accesses
// are events. The recorder changes `scratch` at the first of them, and no longer records accesses.
enum gv_scratch_kind { GV_SCRATCH_NONE = 0, GV_SCRATCH_DATA = 1, GV_SCRATCH_FLAGS = 2 };

// Values are kept as floats. Elements of 1 and 2 bytes are looked up in a table; an unknown type becomes NaN.
enum gv_number_kind {
    GV_NUMBER_FLOAT = 0,
    GV_NUMBER_DOUBLE = 1,
    GV_NUMBER_SMALL = 2,
    GV_NUMBER_INT = 3,
    GV_NUMBER_UNSIGNED = 4,
    GV_NUMBER_UNKNOWN = 5,
    GV_NUMBER_LONG = 6,
};

// Defects of a kernel that do not end the run.
enum gv_note_kind {
    GV_NOTE_OUT_OF_BOUNDS = 1,
    GV_NOTE_BARRIER_LEFT = 2,      // a thread waits at __syncthreads, and others have left the kernel
    GV_NOTE_BARRIERS_DIFFER = 3,   // threads wait at different __syncthreads
    // No thread can continue; this one waits for the end of a phase of `barrier`, where `other` arrivals and (write)
    // some bytes have come before.
    GV_NOTE_STUCK_AT_MBARRIER = 4,
    GV_NOTE_STUCK_AT_BARRIER = 5,  // no thread can continue; it waits for `other` threads, or (0) for the cluster
    GV_NOTE_OPERAND = 6,           // a box is copied to memory that a wgmma still reads (offset: in the array)
    GV_NOTE_EARLY = 7,             // `barrier` of block `other` is used, and may still be uninitialised
    GV_NOTE_LATE = 8,              // `barrier` of block `other` is used, and the block may have left already
    GV_NOTE_CROWDED = 9,           // more threads than a named barrier counts (offset: the count) wait there
    GV_NOTE_COUNTS_DIFFER = 10,    // threads wait at a named barrier with different counts (offset: the first one's)
    GV_NOTE_MADE_TWICE = 11,       // `barrier` is initialised, and thread `other` has done it in the same phase
};

// A defect that the recorder found, once per kind and site; `times` is the number of occurrences.
typedef struct {
    int32_t kind;
    int32_t array;
    int64_t offset; // bytes from the array's start
    uintptr_t pc, other_pc;
    uint32_t block, thread, other, write;
    uint64_t times;
    uintptr_t barrier;         // address of the mbarrier concerned
    int64_t copied;            // GV_NOTE_STUCK_AT_MBARRIER: the number of missing bytes
    uint32_t arrivals, parity; // GV_NOTE_STUCK_AT_MBARRIER: the number of missing arrivals, and the awaited parity
    uintptr_t other_barrier;   // GV_NOTE_STUCK_AT_MBARRIER: one that has `surplus` bytes too many, or 0
    int64_t surplus;
    uintptr_t announced_pc; // GV_NOTE_STUCK_AT_MBARRIER: what announced the last bytes, or 0
} gv_note;

// Kinds of instructions that access memory. The operands of a product are read by tensor cores, in shared memory.
// A remote access is one to the shared memory of another block.
enum gv_site_kind { GV_SITE_PLAIN = 0, GV_SITE_ATOMIC = 1, GV_SITE_PRODUCT = 2, GV_SITE_REMOTE = 3 };

// The end of a run.
enum gv_status {
    GV_OK = 0,
    GV_FULL = 1,
    GV_SIGNAL = 2,
    GV_DEADLINE = 3, // it took deadline_s of processor time
    GV_TOO_MANY_SITES = 4,
    GV_NO_MEMORY = 5,
    GV_TOO_MANY_PHASES = 6,
    GV_WARP_WAITS = 7,         // a lane waits for lanes of its warp that never arrive
    GV_PART_OF_WARP = 8,       // an instruction for a whole warp ran in a warp of fewer than 32 threads
    GV_MISALIGNED = 9,         // fault_address is no multiple of the access's width
    GV_TOO_MANY_COPIES = 10,   // a thread has more asynchronous copies in flight than are kept
    GV_ONE_PROCESS = 11,       // only between processes: these blocks must run one after another
    GV_ASSERTION = 12,         // an assertion of the kernel is false
    GV_BARRIER_NOT_READY = 13, // fault_address is not an initialised mbarrier
    GV_ARRIVES_TOO_OFTEN = 14, // at the mbarrier fault_address, whose phase has all of its arrivals
    GV_PART_OF_GROUP = 15,     // an instruction for a warpgroup ran in fewer than 128 threads
    GV_GROUP_WAITS = 16,       // a thread waits for threads of its warpgroup that never arrive
    GV_ADDS_NO_FLOATS = 17,    // a box is added to a matrix (fault_other) with elements that are no floats
    GV_FLAG_NEVER_SET = 18,    // a thread waits for a flag that no other thread can set any more
    GV_STACK_OVERFLOW = 19,    // fault_address is in the guard page below a thread's stack
    GV_UNKNOWN_PTX = 20,       // `instruction` of inline PTX is unknown
    GV_NOT_SHARED = 21,        // `instruction` needs shared memory, and fault_address is elsewhere
    GV_WAITS = 22,             // it sleeps or waits, or has not ended after passed_s
    GV_AGAIN = 23,             // to be run again with each instruction at once: see postponed.h
    GV_BOX_BETWEEN_UNITS = 24, // a box of matrix fault_other begins between units of 16 bytes, at column fault_address
    GV_TRAP = 25,              // the kernel ends itself
};

typedef struct {
    // in
    uint32_t block[3], grid[3];
    uint32_t arrays;
    gv_array array[GV_MAX_ARRAYS];
    uint64_t capacity, more_capacity; // rows, words of further elements
    uint64_t stack_bytes;
    double deadline_s, clock_s; // the most processor time, and the most time by the clock
    uint32_t first_block, end_block; // the part of the grid to run
    uint32_t cluster;                // blocks that run together, neighbours along x
    uint32_t workers;                // the number of processes that share the blocks; 1: this process only
    uint32_t count_only;             // count the accesses and keep none
    uint32_t huge_pages;             // whether the columns may have pages of 2 MiB
    uint32_t no_turns;               // turn_of has zeros only, which are not written again; the run may change this
    uint32_t at_once;                // postpone no instruction: see postponed.h
    uint32_t keep_flags;             // begin with the flags as the run before has left them
    int (*first_ended)(void); // called once after the first block or cluster, if not NULL: see found_tiles.h
    void (*entry)(void **arguments);
    void **arguments;
    // out: one column per field of an access, `capacity` rows each
    uint16_t *site;
    uint8_t *which;
    uint8_t *write;
    uint8_t *bytes;
    uint32_t *element;
    uint32_t *value; // the first element as a float
    uint32_t *block_of;
    uint16_t *thread_of;
    uint16_t *phase_of;
    uint16_t *turn_of; // __syncwarp that the thread had passed in the phase
    // The further elements of accesses wider than one, in the order of the rows: those of 1 and 2 bytes as they are,
    // from a new word on for each access, the others as a float each.
    uint32_t *more;
    uint64_t count, more_count;
    uint32_t shared_by; // processes that ran the blocks
    uint32_t together;  // threads that exchange values by one instruction: 0, GV_WARP or GV_WARPGROUP
    uint32_t sites;
    uintptr_t site_pc[GV_MAX_SITES];
    uint8_t site_kind[GV_MAX_SITES];
    uint32_t notes;
    gv_note note[GV_MAX_NOTES];
    // the end of the run
    int32_t status, signal;
    double passed_s; // by the clock
    uintptr_t fault_pc, last_pc, fault_address;
    uint32_t fault_block, fault_thread, fault_other;
    // The access at fault_address: its width where it is misaligned; after a signal 0 if the address is not known,
    // and 2 if it is near the stacks.
    uint32_t fault_bytes, fault_write;
    char instruction[GV_PTX_NAME];
} gv_run;

// Events of an mbarrier; the events from GV_EVENT_FENCE on belong to no mbarrier.
enum gv_event_kind {
    GV_EVENT_INIT = 0,
    GV_EVENT_ARRIVE = 1,
    GV_EVENT_EXPECT = 2, // an arrival that announces bytes
    GV_EVENT_WAIT = 3,
    GV_EVENT_PASS = 4,
    GV_EVENT_BYTES = 5,        // a box has arrived
    GV_EVENT_COMPLETE = 6,     // the phase has ended
    GV_EVENT_FENCE = 7,        // the thread's writes to shared memory are visible to the copy engine
    GV_EVENT_WRITTEN = 8,      // the thread has waited until its stores are written to the matrix
    GV_EVENT_ASKED = 9,        // the thread issues a store of a box, or the addition of a box
    GV_EVENT_GLOBAL_READ = 10, // a fence between its reads of global memory and the copy engine's accesses there
    GV_EVENT_THREAD_FENCE = 11,
    GV_EVENT_FLAG_SET = 12,
    GV_EVENT_FLAG_SEEN = 13,
    // The access of a thread of block `number` to the shared memory of the event's block, in a cluster of `arrivals`
    // blocks; `parity`: the thread has arrived at a cluster barrier, and has not waited there yet.
    GV_EVENT_REMOTE = 14,
    // The thread waits at a cluster barrier; it arrived in phase `number`, after `arrivals` accesses in that phase, and
    // has made accesses since.
    GV_EVENT_CLUSTER_ARRIVED = 15,
    // All threads of the cluster have met in phase `number`; `parity`: an arrival was relaxed and shows no data.
    // Reported only for blocks with remote accesses.
    GV_EVENT_CLUSTER_MET = 16,
};

// One event, in the form of `trace.recording.tma_boxes.Events`. During the run `line` and `barrier` are the places of
// events.h, and `row` is the number of accesses of its thread in the phase before. `arrivals` and
// `bytes`: missing at the barrier after it; `number`: completed phases of the barrier (for a wait, the number of the
// awaited phase), or the number of the signal; `turn`: __syncwarp that its thread had passed in the phase; `remote`:
// whether the thread is in another block than the barrier.
typedef struct {
    int32_t barrier, block, kind, number, parity, arrivals, bytes, thread, phase, line, row, turn, remote;
} gv_event;

// The different addresses of barriers and of instructions.
typedef struct {
    const uint64_t *barrier, *line;
    uint64_t barriers, lines;
} gv_event_addresses;

// `gv_box.store`, and `gv_box.arrived` of a box that never arrived.
enum gv_box_kind { GV_BOX_LOAD = 0, GV_BOX_STORE = 1, GV_BOX_ADD = 2 };
enum { GV_NEVER = UINT16_MAX };
// `gv_box.swizzle` of adjacent bytes that are no box, and `gv_box.matrix` of bytes that are in no matrix.
enum { GV_NO_BOX = 1, GV_NO_MATRIX = 3 };

// One box that a thread requested from the copy engine. `issued` and `arrived` are phases; `*_at`: accesses of the
// thread in the phase before those of the box, or rows, after gv_rows_found. A box has `rows` times `pieces` pieces of
// GV_PIECE_BYTES. Those from first to end are in the matrix, the others are zeros.
enum { GV_PIECE_BYTES = 16 };
typedef struct {
    uint64_t shared, barrier, pc;
    uint32_t block, to_block, number, read_at, write_at, reads, writes;
    int32_t row, column;
    uint32_t rows, pieces, first_row, end_row, first_piece, end_piece, order;
    uint16_t thread, issued, arrived, matrix, store, swizzle, padding[2];
} gv_box;

// A flag between blocks that had another value than at load time: `value` after the run and `before` any run, of
// `bytes` bytes; its last write; and the last read in which it had the value that the run before has left there,
// although another block had written that value again (0: none). `seen`: a block has read it after another wrote it.
typedef struct {
    uint64_t at, value, before, writer_pc, reader_pc;
    uint32_t bytes, seen;
} gv_changed;

// An array of packed panels that a C kernel allocated, in the order of the watched arrays; `array` is its number there.
typedef struct {
    char name[GV_PANEL_NAME];
    uint32_t shape[3];
    uint32_t array;
} gv_panels;

// One line of the description that Python compares with its own: the size of a structure, the offset of a field, or a
// number.
typedef struct {
    const char *name;
    uint64_t value;
} gv_layout_line;

// ==== Called by Python.

// `*_begin` prepares for a run of at most `capacity` accesses by at most `processes` processes, and returns 0 without
// memory; the function without a suffix returns the report since then, `*_end` frees its memory.
#define GV_PYTHON __attribute__((visibility("default")))

GV_PYTHON int gv_record(gv_run *run); // returns run->status
// Only in a call of first_ended: the arrays of the run are new, and the first `tiles` of the shared ones lie in others.
// Returns 0 if the rows cannot be changed.
GV_PYTHON int gv_tiles_found(uint32_t tiles);
GV_PYTHON uint32_t gv_layout(const gv_layout_line **lines);

GV_PYTHON int gv_copies_begin(uint64_t capacity, uint32_t processes);
GV_PYTHON uint64_t gv_copies(void);
// After a complete run: the rows of the write and of the first read (-1: none) of each cp.async that arrived, and the
// phase in which it was issued. They are sorted by block and thread. Returns 0 without memory.
GV_PYTHON int gv_copies_found(const gv_run *run, int64_t *found);
GV_PYTHON void gv_copies_end(void);

// The log of events, and their number, are in memory of Python.
GV_PYTHON void gv_events_begin(uint64_t *count, gv_event *log, uint64_t capacity, uint32_t processes);
// In place of the addresses of events, their numbers among the different ones; -1 where there is no barrier. Returns 0
// without memory. The addresses are there until gv_events_numbered_end.
GV_PYTHON int gv_events_numbered(uint64_t count, gv_event *log, gv_event_addresses *found);
GV_PYTHON void gv_events_numbered_end(void);
// After a complete run: in place of these numbers, the numbers of barriers and the lines that Python knows; rows in
// place of the numbers of accesses, of events and boxes. The events of a cluster become sorted by block. Returns 0
// without memory.
GV_PYTHON int gv_rows_found(const gv_run *run, uint64_t event_count, gv_event *events, const int64_t *barrier_of,
    const int64_t *line_of, uint64_t box_count, gv_box *boxes);

// The pieces of boxes that were loaded to shared memory: of each the rows of its write and of its read (-1: none), and
// the phase in which its box was requested. Returns their number; `found` may be NULL.
GV_PYTHON uint64_t gv_pieces_found(uint64_t box_count, const gv_box *boxes, int64_t *found);

GV_PYTHON int gv_boxes_begin(uint64_t capacity, uint32_t processes);
GV_PYTHON uint64_t gv_boxes(const gv_box **log);
GV_PYTHON void gv_boxes_end(void);

// Fills in at most `most` flags that had another value after or during the last run; returns the number of all.
GV_PYTHON uint32_t gv_flags_changed(gv_changed *all, uint32_t most);
GV_PYTHON uint32_t gv_panels_made(const gv_panels **all); // of the last run
