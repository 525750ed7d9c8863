"""The inspector: counters, the frozen warp, a thread's registers, and where an element of C comes from."""
