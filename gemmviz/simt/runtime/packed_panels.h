// Arrays that a kernel makes while it runs; its calls are in kernel_calls/c_kernels.h.
#pragma once
#include "running.h"

// Forgets those of the last run. For record.c.
void gv_panels_begin(void);
