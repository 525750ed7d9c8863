"""gemmviz: how a matrix-multiplication kernel really works, and how fast it really is."""

__version__ = "0.1.0"
