"""The state of the screen, the preferences and unsaved texts as files."""
