"""Consequences of the published limits of devices: occupancy, roofline, peaks. *Modelled*."""
