"""Rules that read or change several models, one job per file."""
