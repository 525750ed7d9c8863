"""The origin of values: paths to an element of C, the state of threads, fragments and arrays at a step."""
