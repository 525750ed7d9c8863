"""The roles of the parameters of a kernel that copies the rows of other GPUs itself."""

from typing import Final

from gemmviz.catalogue.batch import SUFFIX

NUMBER: Final = "GPU"
"""The number of the GPU that launches, from 0."""
ROWS: Final = "A" + SUFFIX
"""An array of pointers to the rows of A that each GPU owns, in its memory."""
