"""Guesses the call of a kernel without front matter: entry, arguments, parameters, launch."""
