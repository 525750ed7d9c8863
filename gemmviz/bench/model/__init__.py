"""What published limits of devices imply: occupancy, roofline, peaks. *Modelled*."""
