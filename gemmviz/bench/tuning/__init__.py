"""The search for the fastest parameters of a kernel, and those that were found."""
