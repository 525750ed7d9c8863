"""Confinement of a stranger's kernel: each mechanism of the kernel in a file, and the processes that have them."""
