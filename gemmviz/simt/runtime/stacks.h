// The memory of the stacks of all fibres.
#pragma once
#include <stdint.h>

// Whether a stack of so many bytes has a guard page.
int gv_has_guards(uint64_t each);

// Returns the stacks of all threads, `each` of so many bytes; NULL without memory.
char *gv_new_stacks(uint64_t bytes, uint64_t each);

// Gives them back; with `keep` the next run of the same size takes them.
void gv_end_stacks(char *at, uint64_t bytes, uint64_t each, int keep);

// So many addresses before and after the stacks have no memory.
uint64_t gv_stacks_apart(void);
