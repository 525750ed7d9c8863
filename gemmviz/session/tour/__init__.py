"""Lessons, teaching stops and demos."""
