"""A recording: the rows that a run wrote down, and what belongs to which copy or box."""
