"""Charts of measured and modelled figures, and of references from other machines."""
