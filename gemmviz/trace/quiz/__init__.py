"""Questions about the next event of a recording, for an audience to answer."""
