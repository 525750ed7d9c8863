// Each thread runs to its end when it is started; the timeline shows the threads in parallel.
#include "pthreads.h"
#include "access.h"
#include "kernel_calls/c_kernels.h"

static uint32_t created;
static int creating; // since the last join

void gv_pthreads_begin(void)
{
    created = 0;
    creating = 0;
}

int gv_thread_create(size_t *handle, const void *attributes, void *(*start)(void *), void *argument)
{
    (void)attributes;
    uint32_t me = gv_now.thread;
    gv_settle();
    gv_mark();
    if (!creating) gv_now.phase++;
    creating = 1;
    gv_now.thread = ++created;
    *handle = gv_now.thread;
    start(argument);
    gv_settle();
    gv_mark();
    gv_now.thread = me;
    return 0;
}

int gv_thread_join(size_t handle, void **result)
{
    (void)handle;
    (void)result;
    gv_settle();
    gv_mark();
    if (creating) gv_now.phase++;
    creating = 0;
    return 0;
}

// The threads of a recording are equally fast: none has to help another one.
void gv_threads_run(int jobs, int parts, void (*work)(void *what, int thread, int job, int part), void *what)
{
    uint32_t me = gv_now.thread;
    gv_settle();
    gv_mark();
    gv_now.phase++;
    for (int job = 0; job < jobs; job++) {
        gv_now.thread = job; // the calling thread, 0, does the first job
        for (int part = 0; part < parts; part++) work(what, job, job, part);
        gv_settle();
        gv_mark();
    }
    if (created + 1 < (uint32_t)jobs) created = jobs - 1; // a thread that is started later has a number of its own
    gv_now.thread = me;
    gv_now.phase++;
}
