// The interface of the recorder's C side and its Python side: every structure that both read, every number of both,
// and the functions that Python calls. Plain C.
//
// simt/layout.py describes the same. layout.c hands it to Python, which compares when it loads a recorder.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { GV_MAX_ARRAYS = 32, GV_MAX_SITES = 4096, GV_MAX_NOTES = 32, GV_PANEL_NAME = 32, GV_PTX_NAME = 104 };
enum { GV_WARP = 32, GV_WARPGROUP = 128 };

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

// Defects of a kernel that do not end the run.
enum gv_note_kind {
    GV_NOTE_OUT_OF_BOUNDS = 1,
    GV_NOTE_BARRIER_LEFT = 2,      // a thread waits at __syncthreads, and others have left the kernel
    GV_NOTE_BARRIERS_DIFFER = 3,   // threads wait at different __syncthreads
    GV_NOTE_STUCK_AT_MBARRIER = 4, // no thread can go on, and this one waits for a phase of `barrier` to end
    GV_NOTE_STUCK_AT_BARRIER = 5,  // no thread can go on; it waits for `other` threads, or (0) for the whole cluster
    GV_NOTE_OPERAND = 6,           // a box is copied to where a wgmma still reads (offset: in the array)
    GV_NOTE_EARLY = 7,             // `barrier` of block `other` is used, and may not be initialised by then
    GV_NOTE_LATE = 8,              // the same, and the block may have left by then
};

// Something that the recorder noticed, once per kind and site; `times` counts how often it came about.
typedef struct {
    int32_t kind;
    int32_t array;
    int64_t offset; // bytes from the array's start
    uintptr_t pc, other_pc;
    uint32_t block, thread, other, write;
    uint64_t times;
    uintptr_t barrier;         // address of the mbarrier that the note is about
    int64_t copied;            // GV_NOTE_STUCK_AT_MBARRIER: bytes that are still to be copied
    uint32_t arrivals, parity; // GV_NOTE_STUCK_AT_MBARRIER: arrivals that are missing, and the parity waited for
} gv_note;

// Kinds of instructions that access memory. The operands of a product are read by tensor cores, in shared memory.
enum gv_site_kind { GV_SITE_PLAIN = 0, GV_SITE_ATOMIC = 1, GV_SITE_PRODUCT = 2 };

// How a run ended.
enum gv_status {
    GV_OK = 0,
    GV_FULL = 1,
    GV_SIGNAL = 2,
    GV_DEADLINE = 3,
    GV_TOO_MANY_SITES = 4,
    GV_NO_MEMORY = 5,
    GV_TOO_MANY_PHASES = 6,
    GV_WARP_WAITS = 7,         // a lane waits for lanes of its warp that never come
    GV_PART_OF_WARP = 8,       // an instruction for a whole warp met a warp of fewer than 32 threads
    GV_MISALIGNED = 9,         // fault_address is no multiple of the access's width
    GV_TOO_MANY_COPIES = 10,   // a thread has more asynchronous copies under way than are kept
    GV_ONE_PROCESS = 11,       // only between processes: these blocks must run one after another
    GV_ASSERTION = 12,         // an assertion of the kernel is false
    GV_BARRIER_NOT_READY = 13, // fault_address is no mbarrier that was initialised
    GV_ARRIVES_TOO_OFTEN = 14, // at the mbarrier fault_address, whose phase has all of its arrivals
    GV_PART_OF_GROUP = 15,     // an instruction for a warpgroup met fewer than 128 threads
    GV_GROUP_WAITS = 16,       // a thread waits for threads of its warpgroup that never come
    GV_ADDS_NO_FLOATS = 17,    // a box is added to a matrix (fault_other) whose elements are no floats
    GV_FLAG_NEVER_SET = 18,    // a thread waits for a flag that no other can set any more
    GV_STACK_OVERFLOW = 19,    // fault_address is in the forbidden page below a thread's stack
    GV_UNKNOWN_PTX = 20,       // `instruction` of inline PTX is none that is known
    GV_NOT_SHARED = 21,        // `instruction` works on shared memory, and fault_address is elsewhere
};

typedef struct {
    // in
    uint32_t block[3], grid[3];
    uint32_t arrays;
    gv_array array[GV_MAX_ARRAYS];
    uint64_t capacity, more_capacity; // rows, further elements
    uint64_t stack_bytes;
    double deadline_s;
    uint32_t first_block, end_block; // the part of the grid to run
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
    uint32_t *more;    // the bits of the further elements of accesses wider than one, in the order of the rows
    uint64_t count, more_count;
    uint32_t unordered; // rows do not stand by block, phase and thread
    uint32_t shared_by; // processes that ran the blocks
    uint32_t together;  // threads that handed each other values by one instruction: 0, GV_WARP or GV_WARPGROUP
    uint32_t sites;
    uintptr_t site_pc[GV_MAX_SITES];
    uint8_t site_kind[GV_MAX_SITES];
    uint32_t notes;
    gv_note note[GV_MAX_NOTES];
    // how it ended
    int32_t status, signal;
    uintptr_t fault_pc, last_pc, fault_address;
    uint32_t fault_block, fault_thread, fault_other;
    uint32_t fault_bytes, fault_write; // the access at fault_address, where this is misaligned
    char instruction[GV_PTX_NAME];
} gv_run;

// One cp.async that arrived: how many rows it made, and in the how manieth place of its thread's copies.
typedef struct {
    uint32_t block, order;
    uint16_t thread, phase; // phase: when it was issued
    uint16_t reads, writes;
} gv_copy;

// Events of an mbarrier; from GV_EVENT_FENCE on of none.
enum gv_event_kind {
    GV_EVENT_INIT = 0,
    GV_EVENT_ARRIVE = 1,
    GV_EVENT_EXPECT = 2, // an arrival that announces bytes
    GV_EVENT_WAIT = 3,
    GV_EVENT_PASS = 4,
    GV_EVENT_BYTES = 5,        // a box has arrived
    GV_EVENT_COMPLETE = 6,     // the phase has ended
    GV_EVENT_FENCE = 7,        // the copy engine sees the thread's writes to shared memory
    GV_EVENT_WRITTEN = 8,      // the thread has waited until its stores are in the matrix
    GV_EVENT_ASKED = 9,        // it asks for a store, or to add a box
    GV_EVENT_GLOBAL_READ = 10, // a fence between its reads of global memory and the copy engine's accesses there
    GV_EVENT_THREAD_FENCE = 11,
    GV_EVENT_FLAG_SET = 12,
    GV_EVENT_FLAG_SEEN = 13,
};

// One event. `made`: accesses that its thread had made in the phase; `arrivals` and `bytes`: those the barrier still
// lacks after it; `number`: phases of the barrier that had ended (of a wait, the one that is waited for), or the
// signal's number.
typedef struct {
    uint64_t barrier, pc;
    int64_t bytes;
    uint32_t block, made, number;
    int32_t arrivals;
    uint16_t thread, phase, kind, parity;
} gv_event;

// `gv_box.store`, and `gv_box.arrived` of one that never did.
enum gv_box_kind { GV_BOX_LOAD = 0, GV_BOX_STORE = 1, GV_BOX_ADD = 2 };
enum { GV_NEVER = UINT16_MAX };

// One box that the copy engine was asked for. `issued` and `arrived` are phases; `*_at`: accesses that the thread had
// made in the phase before those of the box. Of `rows` times `pieces` pieces of GV_PIECE_BYTES those from first to end
// lie in the matrix: the others are zeros.
enum { GV_PIECE_BYTES = 16 };
typedef struct {
    uint64_t shared, barrier, pc;
    uint32_t block, to_block, number, read_at, write_at, reads, writes;
    int32_t row, column;
    uint32_t rows, pieces, first_row, end_row, first_piece, end_piece, order;
    uint16_t thread, issued, arrived, matrix, store, swizzle, padding[2];
} gv_box;

// An array of packed panels that a C kernel made, in the order of the watched arrays; `array` is its number there.
typedef struct {
    char name[GV_PANEL_NAME];
    uint32_t shape[3];
    uint32_t array;
} gv_panels;

// One line of the description that Python compares with its own: the size of a structure, the place of a field, a
// number.
typedef struct {
    const char *name;
    uint64_t value;
} gv_layout_line;

// ==== Called by Python.

// `*_begin` gets ready for a run of at most `capacity` accesses and returns 0 when there is no memory; the function
// without a suffix hands out the report since then, `*_end` gives its memory back.
#define GV_PYTHON __attribute__((visibility("default")))

GV_PYTHON int gv_record(gv_run *run); // returns run->status
GV_PYTHON uint32_t gv_layout(const gv_layout_line **lines);

GV_PYTHON int gv_copies_begin(uint64_t capacity);
// Also the addresses of the instructions: a copy's write stands at one, its read one byte before.
GV_PYTHON uint64_t gv_copies(const gv_copy **log, const uintptr_t **pc, uint64_t *instructions);
GV_PYTHON void gv_copies_end(void);

GV_PYTHON int gv_events_begin(uint64_t capacity);
GV_PYTHON uint64_t gv_events(const gv_event **log);
GV_PYTHON void gv_events_end(void);

GV_PYTHON int gv_boxes_begin(uint64_t capacity);
GV_PYTHON uint64_t gv_boxes(const gv_box **log);
GV_PYTHON void gv_boxes_end(void);

GV_PYTHON uint32_t gv_panels_made(const gv_panels **all); // of the last run
