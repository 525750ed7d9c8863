"""Movement between two steps: a pure function of the position, which is a recorded step and a fraction of the next."""
