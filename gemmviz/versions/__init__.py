"""Two versions of a kernel beside each other: what changed in accesses, findings, machine code and speed."""
