"""Charts of what was measured, modelled and measured elsewhere."""
