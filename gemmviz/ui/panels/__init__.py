"""The panels around the stage: the ladder, the controls, messages, help."""
