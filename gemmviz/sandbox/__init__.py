"""What keeps a stranger's kernel in: each mechanism of the kernel in a file, and the processes that they are put on."""
