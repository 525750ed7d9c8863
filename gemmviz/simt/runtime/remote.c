// Loads and stores in the shared memory of another block of the cluster (PTX ISA, "shared::cluster"). The access is
// recorded in that block, by the thread with the same number: there the memory is used.
#include "access.h"
#include "cluster.h"
#include "kernel_calls/hopper.h"
#include "running.h"
#include <string.h>

typedef struct {
    void *to;
    const void *from;
    uint32_t bytes;
    int write;
    uintptr_t pc;
} access;

static void make(void *what)
{
    const access *a = what;
    gv_access(a->write ? a->to : (void *)a->from, a->bytes, a->write ? GV_WRITE : 0, a->pc);
    memcpy(a->to, a->from, a->bytes);
    gv_settle();
    gv_site_is(a->pc, GV_SITE_REMOTE);
}

void gv_remote_load(void *to, const void *from, uint32_t bytes, uint32_t block)
{
    access a = {to, from, bytes, 0, GV_PC};
    gv_catch_up();
    gv_in_name_of(block, gv_now.thread, make, &a);
}

void gv_remote_store(void *to, const void *from, uint32_t bytes, uint32_t block)
{
    access a = {to, from, bytes, 1, GV_PC};
    gv_catch_up();
    gv_in_name_of(block, gv_now.thread, make, &a);
}
