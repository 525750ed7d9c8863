"""The content of the charts, without Qt: the compared kernels, curves, samples, ticks, tables."""
