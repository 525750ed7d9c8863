"""What stands around the stage: the ladder, the controls, messages, help."""
