// Records one run of a kernel, from its arguments to its end.
#include "access.h"
#include "block_memory.h"
#include "fibres.h"
#include "foreseen.h"
#include "found_tiles.h"
#include "packed_panels.h"
#include "pages.h"
#include "postponed.h"
#include "pthreads.h"
#include "rows.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "stop.h"
#include "sync_flags.h"
#include "tma_boxes.h"
#include "watched.h"
#include "workers.h"

gv_running gv_now;

// A thread's code.
static void run_thread(void)
{
    gv_now.run->entry(gv_now.run->arguments);
    gv_catch_up();
    gv_boxes_left();
}

void gv_leave(void)
{
    gv_catch_up();
    gv_boxes_left();
    gv_end_fibre();
}

static void run_blocks(void *what)
{
    gv_run *r = what;
    gv_deadline();
    uint32_t block = r->first_block;
    if (block < r->end_block) block = gv_share_blocks(block);
    for (; block < r->end_block; block += r->cluster) {
        gv_run_block(block);
        if (block == r->first_block) gv_first_ended();
    }
    gv_fibres_check();
}

int gv_record(gv_run *run)
{
    gv_flags_begin(run->keep_flags);
    gv_now = (gv_running){.run = run};
    gv_access_begin();
    gv_pages_begin();
    gv_rows_forget();
#ifndef __clang__
    run->at_once = 1; // see postponed.h
#endif
    gv_postponed_begin();
    gv_foreseen_begin();
    gv_pthreads_begin();
    gv_panels_begin();
    gv_shared_begin();
    gv_watch_none();
    for (uint32_t i = 0; i < run->arrays; i++) gv_watch(i);
    if (!gv_fibres_begin(run_thread) || !gv_block_memory_begin()) return run->status = GV_NO_MEMORY;

    gv_guard_begin();
    gv_guarded(run_blocks, run);
    gv_postponed_begin(); // a run that ended early leaves some; code of the library may be called before the next run
    gv_workers_end();
    gv_guard_end();
    gv_rows_close();
    gv_block_memory_end();
    gv_fibres_end();
    return run->status;
}
