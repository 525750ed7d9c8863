"""Where values come from and who holds them: ways to an element of C, threads, fragments, arrays at a step."""
