#include "notes.h"
#include "stop.h"

void gv_notice(int kind, int array, int64_t offset, uintptr_t pc, uint32_t other, uintptr_t other_pc, int write)
{
    gv_run *r = gv_now.run;
    for (uint32_t i = 0; i < r->notes; i++) {
        gv_note *n = &r->note[i];
        if (n->kind == kind && n->pc == pc && n->array == array) {
            n->times++;
            return;
        }
    }
    if (gv_now.looks_ahead || gv_now.lanes_ahead) gv_stop(GV_AGAIN); // otherwise another thread may be the first
    if (r->notes == GV_MAX_NOTES) return;
    r->note[r->notes++] = (gv_note){.kind = kind,
        .array = array,
        .offset = offset,
        .pc = pc,
        .other_pc = other_pc,
        .block = gv_now.block,
        .thread = gv_now.thread,
        .other = other,
        .write = (uint32_t)write,
        .times = 1};
}
