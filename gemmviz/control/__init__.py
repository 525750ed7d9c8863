"""Drives the engines for a session, without widgets: records, measures, checks, tunes, judges claims."""
