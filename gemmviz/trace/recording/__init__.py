"""A recording: the rows that a run wrote down, and the copy or box that each belongs to."""
