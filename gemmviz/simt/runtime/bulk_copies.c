// Copies of adjacent bytes by the copy engine (PTX ISA, "cp.async.bulk"). Such a copy is a box with one row: the matrix
// is taken for one long row. Python finds the rows of the matrix.
#include "flights.h"
#include "kernel_calls/hopper.h"
#include "kernel_calls/threads.h"
#include "running.h"
#include "stop.h"
#include "tma_boxes.h"

enum { WIDTH = 16, MATRICES = 3 };

// Describes the matrix that contains an address, or just the bytes; returns the column at which they begin.
static int32_t described(gv_tensor_map *map, uintptr_t at, uint32_t bytes, uintptr_t pc)
{
    gv_run *r = gv_now.run;
    r->last_pc = pc;
    if (at % WIDTH) gv_stop_misaligned(at, WIDTH, 0);
    if (bytes % WIDTH || bytes > GV_LARGEST_FLIGHT)
        gv_unknown_ptx("cp.async.bulk (of no multiple of 16 bytes, or too many)");
    for (uint32_t i = 0; i < MATRICES; i++) {
        const gv_array *a = &r->array[i];
        if (at - a->start >= a->bytes) continue;
        uint64_t columns = a->bytes / a->itemsize;
        *map = (gv_tensor_map){a->start, i, a->itemsize, 1, (int32_t)columns, 1, bytes / a->itemsize, GV_NO_BOX};
        return (int32_t)((at - a->start) / a->itemsize);
    }
    *map = (gv_tensor_map){at, GV_NO_MATRIX, 1, 1, (int32_t)bytes, 1, bytes, GV_NO_BOX};
    return 0;
}

void gv_bulk_load(void *shared, const void *from, uint32_t bytes, void *barrier, uint32_t blocks)
{
    gv_tensor_map map;
    int32_t column = described(&map, (uintptr_t)from, bytes, GV_PC);
    gv_ask_to_load(shared, &map, column, 0, barrier, blocks, GV_PC);
}

void gv_bulk_store(void *to, const void *shared, uint32_t bytes)
{
    gv_tensor_map map;
    int32_t column = described(&map, (uintptr_t)to, bytes, GV_PC);
    gv_ask_to_store(&map, column, 0, shared, GV_BOX_STORE, GV_PC);
}

void gv_bulk_add(void *to, const void *shared, uint32_t bytes)
{
    gv_tensor_map map;
    int32_t column = described(&map, (uintptr_t)to, bytes, GV_PC);
    gv_ask_to_store(&map, column, 0, shared, GV_BOX_ADD, GV_PC);
}
