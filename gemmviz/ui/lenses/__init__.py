"""Lenses: pictures of one idea, drawn in the free quadrant of the stage and in presenter mode."""
