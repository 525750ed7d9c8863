"""The main window, its actions, and what connects it with the engines."""
