"""The cost of accesses: sectors, wavefronts, levels of memory (all of it *recorded*)."""
