// Shares the blocks of a grid between processes. Blocks share only global memory, and seldom an element there.
//
// The first block runs in the parent and gives the number of rows per block. So every block has its place in the
// columns before it runs: forked workers fill the places in any order, and the parent closes the gaps, which are rare.
// The result has the same bytes as if the blocks run one after another. An operation that could change the result (an
// element that two blocks access and one writes, an atomic operation, a write to memory that is not watched) stops the
// workers. Then the blocks run one after another.
#define _GNU_SOURCE
#include "workers.h"
#include "access.h"
#include "async_copies.h"
#include "events.h"
#include "fibres.h"
#include "found_tiles.h"
#include "ownership.h"
#include "scheduler.h"
#include "stop.h"
#include "tma_boxes.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORKERS = 64, WORTH_IT = 500 * 1000 /* accesses: some 20 ms */, GRACE_S = 2 };
enum { C_ARRAY = 2 };

// Memory that the parent and its workers share.
typedef struct {
    uint32_t next;        // the next block to run
    uint32_t stop;        // no block from here on needs to run
    uint32_t one_process; // a worker has found that the blocks must run one after another
    gv_run run[MAX_WORKERS];
} shared_state;
typedef struct {
    uint64_t rows, more;
    uint32_t worker;
} block_size;

static struct {
    shared_state *shared;
    block_size *size; // of each block, from the one after the first
    size_t size_bytes;
    char *c; // C after the first block
    pid_t child[MAX_WORKERS];
    uint32_t first, rows_each, more_each;
    uint64_t rows_before, more_before;
} s;

static void *shared_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void run_places(void *what)
{
    gv_run *r = what;
    gv_deadline();
    for (;;) {
        uint32_t block = __atomic_fetch_add(&s.shared->next, 1, __ATOMIC_RELAXED);
        if (block >= r->end_block || block >= __atomic_load_n(&s.shared->stop, __ATOMIC_RELAXED)) break;
        uint64_t place = block - s.first;
        block_size *size = &s.size[place];
        uint64_t row = s.rows_before + place * s.rows_each, more = s.more_before + place * s.more_each;
        r->count = gv_now.marked = row;
        r->more_count = more;
        r->capacity = row + s.rows_each;
        r->more_capacity = more + s.more_each;
        gv_now.rows_room = gv_now.more_room = 0;
        gv_run_block(block);
        *size = (block_size){r->count - row, r->more_count - more, (uint32_t)(r - s.shared->run)};
    }
    gv_fibres_check();
}

static void stop_at(uint32_t block)
{
    uint32_t now = __atomic_load_n(&s.shared->stop, __ATOMIC_RELAXED);
    while (block < now &&
           !__atomic_compare_exchange_n(&s.shared->stop, &now, block, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// A worker allocates nothing and calls no Python: its parent may have had other threads when it forked.
static void worker(uint32_t me, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    gv_run *r = &s.shared->run[me];
    *r = *gv_now.run;
    r->notes = 0;
    gv_now.run = r;
    gv_now.sharing = GV_IN_WORKER;
    gv_in_worker();
    int status = gv_guarded(run_places, r);
    // A block that is larger than its place, or has more notes than can be kept, is run by the parent.
    if (status == GV_FULL || status == GV_ONE_PROCESS || r->notes == GV_MAX_NOTES) {
        __atomic_store_n(&s.shared->one_process, 1, __ATOMIC_RELAXED);
        stop_at(0);
    } else if (status != GV_OK) {
        stop_at(r->fault_block);
    }
    _exit(0);
}

static void end_workers(void)
{
    for (uint32_t w = 0; w < MAX_WORKERS; w++) {
        if (!s.child[w]) continue;
        kill(s.child[w], SIGKILL);
        waitpid(s.child[w], NULL, 0);
        s.child[w] = 0;
    }
}

// Starts the workers and waits for them; returns whether all ended normally.
static int run_workers(uint32_t workers)
{
    pid_t me = getpid();
    // If a process cannot be started, the others run its blocks; if none can be started, no worker would run them.
    int well = 0;
    gv_before_workers();
    for (uint32_t w = 0; w < workers; w++) {
        pid_t pid = fork();
        if (pid == 0) worker(w, me);
        if (pid > 0) s.child[w] = pid, well = 1;
    }
    // Each worker has its own deadline, so that it can report its place; the deadline of this process is later.
    gv_deadline_of_workers(GRACE_S);
    for (uint32_t w = 0; w < workers; w++) {
        int status = 0;
        if (!s.child[w]) continue;
        if (waitpid(s.child[w], &status, 0) != s.child[w] || !WIFEXITED(status) || WEXITSTATUS(status)) well = 0;
        s.child[w] = 0;
    }
    // A deadline that a worker reported has priority over the deadline of this process.
    gv_deadline_off();
    return well && !__atomic_load_n(&s.shared->one_process, __ATOMIC_RELAXED);
}

// Ends the run with the status of the lowest stopped block.
static void pass_on_fault(uint32_t workers)
{
    const gv_run *worst = NULL;
    for (uint32_t w = 0; w < workers; w++) {
        const gv_run *r = &s.shared->run[w];
        if (r->status != GV_OK && (!worst || r->fault_block < worst->fault_block)) worst = r;
    }
    if (!worst) return;
    gv_run *r = gv_now.run;
    r->signal = worst->signal;
    r->passed_s = worst->passed_s;
    r->fault_pc = worst->fault_pc;
    r->last_pc = worst->last_pc;
    r->fault_address = worst->fault_address;
    r->fault_other = worst->fault_other;
    r->fault_bytes = worst->fault_bytes;
    r->fault_write = worst->fault_write;
    gv_now.block = worst->fault_block;
    gv_now.thread = worst->fault_thread;
    gv_stop(worst->status);
}

#define MOVE(column, to, from, n) memmove((column) + (to), (column) + (from), (n) * sizeof *(column))

static void close_gaps(void)
{
    gv_run *r = gv_now.run;
    r->count = s.rows_before;
    r->more_count = s.more_before;
    for (uint64_t place = 0; place < r->end_block - s.first; place++) {
        uint64_t from = s.rows_before + place * s.rows_each, to = r->count, n = s.size[place].rows;
        uint64_t more = s.more_before + place * s.more_each;
        if (from != to) {
            MOVE(r->site, to, from, n);
            MOVE(r->which, to, from, n);
            MOVE(r->write, to, from, n);
            MOVE(r->bytes, to, from, n);
            MOVE(r->element, to, from, n);
            MOVE(r->value, to, from, n);
            MOVE(r->block_of, to, from, n);
            MOVE(r->thread_of, to, from, n);
            MOVE(r->phase_of, to, from, n);
            if (!r->no_turns) MOVE(r->turn_of, to, from, n);
        }
        if (more != r->more_count) MOVE(r->more, r->more_count, more, s.size[place].more);
        r->count += n;
        r->more_count += s.size[place].more;
    }
    gv_now.marked = r->count;
}

// Each worker numbers the instructions that the first block did not execute in its own order: gives them new numbers.
static void number_sites(uint32_t workers)
{
    static uint16_t number[GV_MAX_SITES]; // + 1, of the site of one worker
    gv_run *r = gv_now.run;
    uint32_t before = r->sites, found = 0;
    for (uint32_t w = 0; w < workers; w++) found |= s.shared->run[w].sites > before;
    uint64_t row = s.rows_before;
    for (uint64_t place = 0; found && place < r->end_block - s.first; place++) {
        const gv_run *w = &s.shared->run[s.size[place].worker];
        memset(number, 0, sizeof number);
        for (uint64_t end = row + s.size[place].rows; row < end; row++) {
            uint16_t site = r->site[row];
            if (site < before) continue;
            if (!number[site]) {
                uint32_t n = before;
                while (n < r->sites && r->site_pc[n] != w->site_pc[site]) n++;
                if (n == GV_MAX_SITES) gv_stop(GV_TOO_MANY_SITES);
                r->site_pc[n] = w->site_pc[site];
                if (n == r->sites) r->sites++;
                number[site] = (uint16_t)(n + 1);
            }
            r->site[row] = number[site] - 1;
        }
    }
    for (uint32_t w = 0; w < workers; w++)
        for (uint32_t site = 0; site < s.shared->run[w].sites; site++)
            for (uint32_t n = 0; s.shared->run[w].site_kind[site] && n < r->sites; n++)
                if (r->site_pc[n] == s.shared->run[w].site_pc[site]) r->site_kind[n] = s.shared->run[w].site_kind[site];
}

// Adds the workers' notes, in the order that they would have if the blocks ran one after another.
static void merge_notes(uint32_t workers)
{
    uint32_t at[MAX_WORKERS] = {0};
    gv_run *r = gv_now.run;
    for (;;) {
        uint32_t next = workers;
        for (uint32_t w = 0; w < workers; w++) {
            const gv_run *v = &s.shared->run[w];
            if (at[w] == v->notes) continue;
            if (next == workers || v->note[at[w]].block < s.shared->run[next].note[at[next]].block) next = w;
        }
        if (next == workers) return;
        const gv_note *note = &s.shared->run[next].note[at[next]++];
        uint32_t i = 0;
        while (i < r->notes &&
               !(r->note[i].kind == note->kind && r->note[i].pc == note->pc && r->note[i].array == note->array))
            i++;
        if (i < r->notes) r->note[i].times += note->times;
        else if (i < GV_MAX_NOTES) r->note[r->notes++] = *note;
    }
}

static int make_room(void)
{
    gv_run *r = gv_now.run;
    s.size_bytes = (r->end_block - r->first_block) * sizeof *s.size;
    s.shared = shared_memory(sizeof *s.shared);
    s.size = shared_memory(s.size_bytes);
    return gv_ownership_begin() && s.shared && s.size;
}

uint32_t gv_share_blocks(uint32_t first)
{
    gv_run *r = gv_now.run;
    uint32_t workers = r->workers < MAX_WORKERS ? r->workers : MAX_WORKERS;
    r->shared_by = 1;
    memset(&s, 0, sizeof s);
    // The blocks of a cluster share shared memory, too.
    if (workers < 2 || r->count_only || r->cluster > 1) return first;
    // A time limit must not leave malloc or fork: their locks would never be free again.
    gv_deadline_off();
    int has_room = make_room();
    gv_deadline();
    if (!has_room) return first;
    gv_now.sharing = GV_FIRST_BLOCK;
    gv_watch_ownership(1);
    gv_access_forget();
    gv_run_block(first);
    gv_first_ended();
    int one_process = gv_now.sharing != GV_FIRST_BLOCK;
    gv_watch_ownership(0);
    gv_now.sharing = GV_ONE_AFTER_ANOTHER;
    s.first = first + 1;
    s.rows_each = (uint32_t)r->count;
    s.more_each = (uint32_t)r->more_count;
    s.rows_before = r->count;
    s.more_before = r->more_count;
    uint64_t blocks = r->end_block - first;
    // If the rows do not fit, a run of the blocks one after another shows the block at which the limit is reached.
    if (one_process || r->count * blocks < WORTH_IT || r->count * blocks > r->capacity ||
        r->more_count * blocks > r->more_capacity)
        return s.first;
    const gv_array *c = &r->array[C_ARRAY];
    gv_deadline_off();
    s.c = malloc(c->bytes);
    if (!s.c) {
        gv_deadline();
        return s.first;
    }
    memcpy(s.c, (void *)c->start, c->bytes);
    s.shared->next = s.first;
    s.shared->stop = r->end_block;
    gv_watch_ownership(1);
    gv_access_forget();
    uint64_t copies = gv_copies_reported(), boxes = gv_boxes_reported(), events = gv_events_reported();
    int well = run_workers(workers);
    gv_watch_ownership(0);
    if (!well) {
        end_workers();
        gv_deadline();
        r->no_turns = 0; // a worker may have written some
        gv_copies_take_back(copies);
        gv_boxes_take_back(boxes);
        gv_events_take_back(events);
        memcpy((void *)c->start, s.c, c->bytes);
        return s.first;
    }
    pass_on_fault(workers);
    for (uint32_t w = 0; w < workers; w++) r->no_turns &= s.shared->run[w].no_turns;
    close_gaps();
    number_sites(workers);
    merge_notes(workers);
    for (uint32_t w = 0; w < workers; w++) {
        gv_work_together(s.shared->run[w].together);
    }
    r->shared_by = workers;
    return r->end_block;
}

void gv_workers_end(void)
{
    end_workers();
    free(s.c);
    if (s.shared) munmap(s.shared, sizeof *s.shared);
    gv_ownership_end();
    if (s.size) munmap(s.size, s.size_bytes);
    memset(&s, 0, sizeof s);
}
