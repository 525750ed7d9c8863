// Defects of a kernel that do not end the run. Every file in a later layer than stop.h may call this.
#pragma once
#include "running.h"

// Reports a defect (a gv_note_kind), once per kind, instruction and array. `array` is -1 if no array is concerned.
void gv_notice(int kind, int array, int64_t offset, uintptr_t pc, uint32_t other, uintptr_t other_pc, int write);
