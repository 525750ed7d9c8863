"""The kernel's text beside the stage: editing, breaking, the checker's findings, files."""
