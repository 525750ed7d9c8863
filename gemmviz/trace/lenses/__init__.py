"""Figures that lenses show, from recordings."""
