// Ends a run early: after a signal, at its deadline, or because it cannot be recorded. Every file may call this.
#pragma once
#include "running.h"

// Ends the run from any place, with a gv_status. The details are in gv_now.run->fault_* and last_pc.
void gv_stop(int status) __attribute__((noreturn));

// Ends the run: an instruction accesses `bytes` at once, and `at` is no multiple of that.
void gv_stop_misaligned(uintptr_t at, uint32_t bytes, int write) __attribute__((noreturn));

// Installs the signal handlers and starts the timer; removes both. For record.c.
void gv_guard_begin(void);
void gv_guard_end(void);

// Calls a function in the middle of a run, which no signal ends until it returns; returns its result.
int gv_unguarded(int (*what)(void));

// Runs `body` until it ends or the run is stopped, and returns the status.
int gv_guarded(void (*body)(void *), void *what);

// Switches on, or off, that a signal stops the run of this process: when it has worked for `deadline_s`, when it sleeps
// for so long, and when `clock_s` have passed.
void gv_deadline(void);
void gv_deadline_off(void);

// The same for a process that waits for its workers: it stops `more_s` later than they do by the clock.
void gv_deadline_of_workers(double more_s);

// Before workers are started, and in each of them: its processor time is added to that of the process before.
void gv_before_workers(void);
void gv_in_worker(void);
