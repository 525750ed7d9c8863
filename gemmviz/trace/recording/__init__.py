"""A recording: the recorded rows of a run, and the copy or box of each row."""
