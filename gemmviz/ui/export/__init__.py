"""Pictures and films of recordings, as files."""
