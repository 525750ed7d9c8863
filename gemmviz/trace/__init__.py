"""What a recording says: accesses, their lockstep order, the traffic they cause."""
