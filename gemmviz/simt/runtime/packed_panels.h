// Arrays that a kernel allocates while it runs; its calls are in kernel_calls/c_kernels.h.
#pragma once
#include "running.h"

// Removes the arrays of the last run. For record.c.
void gv_panels_begin(void);
