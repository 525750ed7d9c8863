"""The order of a recording's events: lockstep steps, warp requests, the purpose of each step, progress."""
