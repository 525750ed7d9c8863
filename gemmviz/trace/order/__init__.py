"""The order of a recording's events: lockstep steps, warp requests, what each step is for, how far it has got."""
