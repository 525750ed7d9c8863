"""Two rungs side by side: the second stage, their counters, and the choice of the rung beside."""
