// Memory before a kernel's shared arrays, and memory after them. The C library takes the thread-local segment from its
// heap: a write out of bounds of the first or the last array would change the heap's own data.
// build.py links this file twice, before the kernel and after all other files.
#include "shared_memory.h"

static _Thread_local char zone[GV_ZONE_BYTES] __attribute__((used, retain));
