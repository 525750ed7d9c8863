#define _GNU_SOURCE
#include "shared_memory.h"
#include "kernel_calls/async_copies.h"
#include "stop.h"
#include <link.h>
#include <string.h>

static struct {
    uintptr_t start;
    uint64_t bytes;
} segment;

// Finds the library of the process that contains this code.
static int look_at(struct dl_phdr_info *library, size_t size, void *what)
{
    (void)size;
    (void)what;
    uintptr_t here = (uintptr_t)gv_shared_begin;
    uint64_t bytes = 0;
    int found = 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && here - (library->dlpi_addr + part->p_vaddr) < part->p_memsz) found = 1;
        if (part->p_type == PT_TLS) bytes = part->p_memsz;
    }
    if (!found) return 0;
    segment.start = (uintptr_t)library->dlpi_tls_data;
    segment.bytes = segment.start ? bytes : 0;
    return 1;
}

void gv_shared_begin(void)
{
    segment.bytes = 0;
    dl_iterate_phdr(look_at, NULL);
}

uintptr_t gv_shared_start(void) { return segment.start; }

int gv_in_shared_zone(uintptr_t at)
{
    uint64_t place = at - segment.start;
    return place < segment.bytes && (place < GV_ZONE_BYTES || place >= segment.bytes - GV_ZONE_BYTES);
}

int gv_is_shared(const void *at) { return !segment.bytes || (uintptr_t)at - segment.start < segment.bytes; }

int gv_is_global(const void *at) { return !gv_is_shared(at) && !gv_on_stack((uintptr_t)at); }

void gv_must_be_shared(const void *at, const char *instruction, uintptr_t pc)
{
    if (gv_is_shared(at)) return;
    gv_run *r = gv_now.run;
    r->last_pc = pc;
    r->fault_address = (uintptr_t)at;
    strncpy(r->instruction, instruction, sizeof r->instruction - 1);
    gv_stop(GV_NOT_SHARED);
}
