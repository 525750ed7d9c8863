// The interface between the headers of C kernels and the runtime. It includes nothing: see threads.h.
#pragma once

// An access by a vector of the CPU, at any address; see gemmviz/simd.h.
void gv_vector_access(const void *at, unsigned bytes, int write, __UINTPTR_TYPE__ pc);

// Returns memory for an array of panels[number][depth][width], which is watched under its name; see gemmviz/panel.h.
float *gv_panels_new(const char *name, unsigned number, unsigned depth, unsigned width);
void gv_panels_free(float *memory);

// Calls work(what, job, job, part) for each part of each job, as threads 0 to jobs - 1; see gemmviz/threads.h.
void gv_threads_run(int jobs, int parts, void (*work)(void *what, int thread, int job, int part), void *what);
