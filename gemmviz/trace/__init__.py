"""The content of a recording: accesses, their lockstep order, the traffic they cause."""
