"""The child process that compiles, records and times, and the supervisor that drives it."""
