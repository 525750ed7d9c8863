// Gives Python the layout of the structures and the common numbers; simt/layout.py compares them.
#include "kernel_calls/hopper.h"
#include "recording.h"

#define SIZE(type) {"sizeof " #type, sizeof(type)}
#define PLACE(type, field) {#type "." #field, offsetof(type, field)}
#define WIDTH(what, type, field) {"sizeof " #what #type "." #field, sizeof(what((type *)0)->field)}
#define FIELD(type, field) PLACE(type, field), WIDTH(, type, field)
#define COLUMN(field) FIELD(gv_run, field), WIDTH(*, gv_run, field)
#define NUMBER(name) {#name, (uint64_t)(name)}

// clang-format off: grouped by structure, in the order of its fields.
static const gv_layout_line lines[] = {
    NUMBER(GV_MAX_ARRAYS), NUMBER(GV_MAX_SITES), NUMBER(GV_MAX_NOTES), NUMBER(GV_NEVER), NUMBER(GV_PIECE_BYTES),
    NUMBER(GV_NO_BOX), NUMBER(GV_NO_MATRIX), NUMBER(GV_PANEL_NAME), NUMBER(GV_PTX_NAME), NUMBER(GV_WARP),
    NUMBER(GV_WARPGROUP),
    // gv_note_kind
    NUMBER(GV_NOTE_OUT_OF_BOUNDS), NUMBER(GV_NOTE_BARRIER_LEFT), NUMBER(GV_NOTE_BARRIERS_DIFFER),
    NUMBER(GV_NOTE_STUCK_AT_MBARRIER), NUMBER(GV_NOTE_STUCK_AT_BARRIER), NUMBER(GV_NOTE_OPERAND), NUMBER(GV_NOTE_EARLY),
    NUMBER(GV_NOTE_LATE), NUMBER(GV_NOTE_CROWDED), NUMBER(GV_NOTE_COUNTS_DIFFER),
    NUMBER(GV_NOTE_MADE_TWICE),
    // gv_number_kind
    NUMBER(GV_NUMBER_FLOAT), NUMBER(GV_NUMBER_DOUBLE), NUMBER(GV_NUMBER_SMALL), NUMBER(GV_NUMBER_INT),
    NUMBER(GV_NUMBER_UNSIGNED), NUMBER(GV_NUMBER_UNKNOWN), NUMBER(GV_NUMBER_LONG),
    // gv_scratch_kind
    NUMBER(GV_SCRATCH_NONE), NUMBER(GV_SCRATCH_DATA), NUMBER(GV_SCRATCH_FLAGS),
    // gv_site_kind
    NUMBER(GV_SITE_PLAIN), NUMBER(GV_SITE_ATOMIC), NUMBER(GV_SITE_PRODUCT), NUMBER(GV_SITE_REMOTE),
    // gv_status
    NUMBER(GV_OK), NUMBER(GV_FULL), NUMBER(GV_SIGNAL), NUMBER(GV_DEADLINE), NUMBER(GV_TOO_MANY_SITES),
    NUMBER(GV_NO_MEMORY), NUMBER(GV_TOO_MANY_PHASES), NUMBER(GV_WARP_WAITS), NUMBER(GV_PART_OF_WARP),
    NUMBER(GV_MISALIGNED), NUMBER(GV_TOO_MANY_COPIES), NUMBER(GV_ONE_PROCESS), NUMBER(GV_ASSERTION),
    NUMBER(GV_BARRIER_NOT_READY), NUMBER(GV_ARRIVES_TOO_OFTEN), NUMBER(GV_PART_OF_GROUP), NUMBER(GV_GROUP_WAITS),
    NUMBER(GV_ADDS_NO_FLOATS), NUMBER(GV_FLAG_NEVER_SET), NUMBER(GV_STACK_OVERFLOW), NUMBER(GV_UNKNOWN_PTX),
    NUMBER(GV_NOT_SHARED), NUMBER(GV_WAITS), NUMBER(GV_AGAIN), NUMBER(GV_BOX_BETWEEN_UNITS), NUMBER(GV_TRAP),
    // gv_event_kind
    NUMBER(GV_EVENT_INIT), NUMBER(GV_EVENT_ARRIVE), NUMBER(GV_EVENT_EXPECT), NUMBER(GV_EVENT_WAIT),
    NUMBER(GV_EVENT_PASS), NUMBER(GV_EVENT_BYTES), NUMBER(GV_EVENT_COMPLETE), NUMBER(GV_EVENT_FENCE),
    NUMBER(GV_EVENT_WRITTEN), NUMBER(GV_EVENT_ASKED), NUMBER(GV_EVENT_GLOBAL_READ), NUMBER(GV_EVENT_THREAD_FENCE),
    NUMBER(GV_EVENT_FLAG_SET), NUMBER(GV_EVENT_FLAG_SEEN),
    NUMBER(GV_EVENT_REMOTE), NUMBER(GV_EVENT_CLUSTER_ARRIVED), NUMBER(GV_EVENT_CLUSTER_MET),
    // gv_box_kind
    NUMBER(GV_BOX_LOAD), NUMBER(GV_BOX_STORE), NUMBER(GV_BOX_ADD),

    SIZE(gv_array), FIELD(gv_array, start), FIELD(gv_array, bytes), FIELD(gv_array, guard), FIELD(gv_array, itemsize),
    FIELD(gv_array, shared), FIELD(gv_array, number), FIELD(gv_array, inside),
    FIELD(gv_array, scratch), FIELD(gv_array, floats),

    SIZE(gv_note), FIELD(gv_note, kind), FIELD(gv_note, array), FIELD(gv_note, offset), FIELD(gv_note, pc),
    FIELD(gv_note, other_pc), FIELD(gv_note, block), FIELD(gv_note, thread), FIELD(gv_note, other),
    FIELD(gv_note, write), FIELD(gv_note, times), FIELD(gv_note, barrier), FIELD(gv_note, copied),
    FIELD(gv_note, arrivals), FIELD(gv_note, parity), FIELD(gv_note, other_barrier), FIELD(gv_note, surplus),
    FIELD(gv_note, announced_pc),

    SIZE(gv_run), FIELD(gv_run, block), FIELD(gv_run, grid), FIELD(gv_run, arrays), FIELD(gv_run, array),
    FIELD(gv_run, capacity), FIELD(gv_run, more_capacity), FIELD(gv_run, stack_bytes), FIELD(gv_run, deadline_s),
    FIELD(gv_run, clock_s),
    FIELD(gv_run, first_block), FIELD(gv_run, end_block), FIELD(gv_run, cluster), FIELD(gv_run, workers),
    FIELD(gv_run, count_only), FIELD(gv_run, huge_pages), FIELD(gv_run, no_turns),
    FIELD(gv_run, at_once),
    FIELD(gv_run, keep_flags), FIELD(gv_run, first_ended), FIELD(gv_run, entry),
    FIELD(gv_run, arguments), COLUMN(site), COLUMN(which),
    COLUMN(write), COLUMN(bytes), COLUMN(element), COLUMN(value), COLUMN(block_of), COLUMN(thread_of), COLUMN(phase_of),
    COLUMN(turn_of), COLUMN(more), FIELD(gv_run, count), FIELD(gv_run, more_count),
    FIELD(gv_run, shared_by), FIELD(gv_run, together), FIELD(gv_run, sites), FIELD(gv_run, site_pc),
    FIELD(gv_run, site_kind), FIELD(gv_run, notes), FIELD(gv_run, note), FIELD(gv_run, status), FIELD(gv_run, signal),
    FIELD(gv_run, passed_s),
    FIELD(gv_run, fault_pc), FIELD(gv_run, last_pc), FIELD(gv_run, fault_address), FIELD(gv_run, fault_block),
    FIELD(gv_run, fault_thread), FIELD(gv_run, fault_other), FIELD(gv_run, fault_bytes), FIELD(gv_run, fault_write),
    FIELD(gv_run, instruction),

    SIZE(gv_event), FIELD(gv_event, barrier), FIELD(gv_event, block), FIELD(gv_event, kind), FIELD(gv_event, number),
    FIELD(gv_event, parity), FIELD(gv_event, arrivals), FIELD(gv_event, bytes), FIELD(gv_event, thread),
    FIELD(gv_event, phase), FIELD(gv_event, line), FIELD(gv_event, row), FIELD(gv_event, turn),
    FIELD(gv_event, remote),

    SIZE(gv_event_addresses), FIELD(gv_event_addresses, barrier), FIELD(gv_event_addresses, line),
    FIELD(gv_event_addresses, barriers), FIELD(gv_event_addresses, lines),

    SIZE(gv_box), FIELD(gv_box, shared), FIELD(gv_box, barrier), FIELD(gv_box, pc), FIELD(gv_box, block),
    FIELD(gv_box, to_block), FIELD(gv_box, number), FIELD(gv_box, read_at), FIELD(gv_box, write_at),
    FIELD(gv_box, reads), FIELD(gv_box, writes), FIELD(gv_box, row), FIELD(gv_box, column), FIELD(gv_box, rows),
    FIELD(gv_box, pieces), FIELD(gv_box, first_row), FIELD(gv_box, end_row), FIELD(gv_box, first_piece),
    FIELD(gv_box, end_piece), FIELD(gv_box, order), FIELD(gv_box, thread), FIELD(gv_box, issued),
    FIELD(gv_box, arrived), FIELD(gv_box, matrix), FIELD(gv_box, store), FIELD(gv_box, swizzle),
    FIELD(gv_box, padding),

    SIZE(gv_changed), FIELD(gv_changed, at), FIELD(gv_changed, value), FIELD(gv_changed, before),
    FIELD(gv_changed, writer_pc), FIELD(gv_changed, reader_pc), FIELD(gv_changed, bytes), FIELD(gv_changed, seen),

    SIZE(gv_panels), FIELD(gv_panels, name), FIELD(gv_panels, shape), FIELD(gv_panels, array),

    SIZE(gv_tensor_map), FIELD(gv_tensor_map, matrix), FIELD(gv_tensor_map, index), FIELD(gv_tensor_map, itemsize),
    FIELD(gv_tensor_map, rows), FIELD(gv_tensor_map, columns), FIELD(gv_tensor_map, box_rows),
    FIELD(gv_tensor_map, box_columns), FIELD(gv_tensor_map, swizzle),
};
// clang-format on

uint32_t gv_layout(const gv_layout_line **all)
{
    *all = lines;
    return sizeof lines / sizeof *lines;
}
