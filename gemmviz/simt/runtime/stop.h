// How a run ends before its end: by a signal, at its deadline, or because it cannot be recorded. Every file may call
// this.
#pragma once
#include "running.h"

// Ends the run from wherever it is, with a gv_status. Its details stand in gv_now.run->fault_*, and last_pc.
void gv_stop(int status) __attribute__((noreturn));

// Ends the run: an instruction accesses `bytes` at once, and `at` is no multiple of that.
void gv_stop_misaligned(uintptr_t at, uint32_t bytes, int write) __attribute__((noreturn));

// Catches signals from now on, and counts the time; gives them back. For record.c.
void gv_guard_begin(void);
void gv_guard_end(void);

// Runs `body` until it ends or the run is stopped, and returns how.
int gv_guarded(void (*body)(void *), void *what);

// Lets a signal stop this process's run at the deadline; or does not.
void gv_deadline(void);
void gv_deadline_off(void);
