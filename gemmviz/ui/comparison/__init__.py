"""Two rungs side by side: the second stage, the race of their counters, and the choice of the rung beside."""
