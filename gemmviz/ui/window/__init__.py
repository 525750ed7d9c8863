"""The main window, its actions, and its connections with the engines."""
