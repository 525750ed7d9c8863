"""Lessons and one's own stops: the bar above the stage, the list, and the box for a sentence."""
