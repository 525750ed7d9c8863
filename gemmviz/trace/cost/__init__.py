"""What accesses cost: sectors, wavefronts, levels of memory (all of it *recorded*)."""
