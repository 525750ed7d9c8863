"""The kernel's text beside the stage: editing, breaking, what the checker found, files."""
