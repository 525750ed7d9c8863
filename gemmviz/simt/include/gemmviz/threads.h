// gemmviz/threads.h for the recorder: the threads of one call are recorded side by side.
#pragma once
#include "../../runtime/kernel_calls/c_kernels.h"

enum { THREADS_MOST = 256 };

#define threads_run gv_threads_run

// As many in each recording, whatever the machine.
static inline int threads_cores(void) { return 4; }
