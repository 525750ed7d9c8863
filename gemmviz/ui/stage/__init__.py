"""The stage: the picture of a recording, its caption, its transport and its counters."""
