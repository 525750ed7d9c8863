"""What the charts show, without Qt: the compared kernels, curves, samples, ticks, tables."""
