"""Values and rules without state, used by the models."""
