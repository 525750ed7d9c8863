"""The search for the fastest parameters of a kernel, and the kept results."""
