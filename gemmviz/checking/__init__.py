"""Looks for defects in a kernel: the sizes, the findings at each, and the class of a crash."""
