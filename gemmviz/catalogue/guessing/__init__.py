"""Guesses how a kernel without front matter is called: entry, arguments, parameters, launch."""
