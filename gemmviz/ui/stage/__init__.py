"""The stage: the picture of a recording, its caption and its transport."""
