// The threads of a C kernel. Its program calls these in place of pthread_create and pthread_join: see simt/build.py.
#pragma once
#include "running.h"

int gv_thread_create(size_t *handle, const void *attributes, void *(*start)(void *), void *argument);
int gv_thread_join(size_t handle, void **result);

// Removes the threads of the last run. For record.c.
void gv_pthreads_begin(void);
