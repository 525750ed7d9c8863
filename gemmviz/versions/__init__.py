"""Compares two versions of a kernel: the changes in accesses, findings, machine code and speed."""
