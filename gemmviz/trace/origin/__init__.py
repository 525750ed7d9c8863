"""The origin of values and the threads with them: ways to an element of C, threads, fragments, arrays at a step."""
