"""The arrays of every kernel: their names, and their numbers in a recording; shared arrays are numbered after them."""

from typing import Final, Literal

MatrixName = Literal["A", "B", "C"]
MATRICES: Final = ("A", "B", "C")
# No IntEnum: NumPy compares a column of bytes with one of its members 20 times as slowly as with an int.
D: Final = "D"
"""The result of a kernel that reads C and writes D = alpha A B + beta C; it is array C of a recording."""
BIAS: Final = "bias"
"""A row of N elements, of C's type, that a kernel adds to each row of its result."""
A: Final = 0
B: Final = 1
C: Final = 2
