"""Lessons and stops: their files, and their places in a recording."""
