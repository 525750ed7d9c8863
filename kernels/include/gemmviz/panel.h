// Memory for packed copies of parts of a matrix: panels that a kernel reads from front to back.
#pragma once
#include <stdlib.h>

// Returns memory for panels[count][depth][width] that begins with a line of the cache. It is uninitialised.
// The recorder shows it by this name.
static inline float *panels_new(const char *name, int count, int depth, int width)
{
    (void)name;
    size_t bytes = ((size_t)count * depth * width * sizeof(float) + 63) / 64 * 64;
    float *memory = aligned_alloc(64, bytes);
    if (!memory)
        abort();
    return memory;
}

static inline void panels_free(float *memory) { free(memory); }
