"""Copies A and B to rows that begin at lines of L2, for the copy engine (TMA), through a CuPy that is passed.

The copy engine takes rows of multiples of 16 bytes. Rows that begin at multiples of 128 bytes are read faster: each
128 bytes are then one line of L2, not parts of two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.catalogue.dtypes import stored_as
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.tensor_map import UNIT_BYTES

_THREADS = 256
_LINE_BYTES = 128
# A thread writes one piece of 16 bytes. Both matrices in one launch: each launch costs some microseconds.
_SOURCE = """
struct rows { const TYPE *from; uint4 *to; int count, columns, pieces; };
static __device__ void copy(const rows &m, long long piece)
{
    enum { EACH = 16 / sizeof(TYPE) };
    union { TYPE one[EACH]; uint4 all; } v;
    int row = (int)(piece / m.pieces), column = (int)(piece - (long long)row * m.pieces) * EACH;
    const TYPE *from = m.from + (long long)row * m.columns + column;
    #pragma unroll
    for (int i = 0; i < EACH; i++)
        v.one[i] = column + i < m.columns ? from[i] : (TYPE)0;
    m.to[piece] = v.all;
}
extern "C" __global__ void pad(rows a, rows b)
{
    long long piece = blockIdx.x * (long long)blockDim.x + threadIdx.x, of_a = (long long)a.count * a.pieces;
    if (piece < of_a)
        copy(a, piece);
    else if ((piece -= of_a) < (long long)b.count * b.pieces)
        copy(b, piece);
}
"""
_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


def padded_row_bytes(row_bytes: int) -> int:
    """Return the bytes of a row and of the padding after it: whole lines of L2 if the copy engine needs any padding."""
    return row_bytes if row_bytes % UNIT_BYTES == 0 else -(-row_bytes // _LINE_BYTES) * _LINE_BYTES


@dataclass(frozen=True)
class _Rows:
    source: Any
    target: Any
    count: int
    columns: int

    @property
    def pieces(self) -> int:
        return int(self.target.nbytes) // UNIT_BYTES // self.count

    def packed(self, np: Any) -> Any:
        form = np.dtype(
            [("from", "u8"), ("to", "u8"), ("count", "i4"), ("columns", "i4"), ("pieces", "i4")], align=True
        )
        address = self.source.data.ptr, self.target.data.ptr
        return np.array([(*address, self.count, self.columns, self.pieces)], form)[0]


class Padding:
    """The padded copies of A and B that a launch needs, if any.

    Parameters
    ----------
    cp
        The module ``cupy``.
    launch
        The launch.
    matrices
        A and B in the device's memory, by name.
    """

    def __init__(self, cp: Any, launch: Launch, matrices: dict[str, Any]) -> None:
        kernel, itemsize = launch.kernel, 1
        self.copies: dict[str, Any] = {}
        needed = []
        for matrix in sorted(kernel.padded & matrices.keys()):
            rows, columns = launch.problem.shape(matrix)
            if matrix in kernel.column_major:
                rows, columns = columns, rows
            itemsize = np.dtype(kernel.dtype_of(matrix)).itemsize
            row_bytes = columns * itemsize
            if row_bytes % UNIT_BYTES == 0:
                continue
            copy = cp.empty(rows * padded_row_bytes(row_bytes) // itemsize, stored_as(kernel.dtype_of(matrix)))
            self.copies[matrix] = copy
            needed.append(_Rows(matrices[matrix], copy, rows, columns))
        self._kernel = cp.RawKernel(_SOURCE.replace("TYPE", _TYPES[itemsize]), "pad") if needed else None
        pieces = sum(one.count * one.pieces for one in needed)
        none = np.zeros((), needed[0].packed(np).dtype)[()] if needed else None
        self._arguments = (*(one.packed(np) for one in needed), none)[:2]
        self._grid = (-(-pieces // _THREADS),)

    def start(self) -> None:
        """Queue the copies."""
        if self._kernel is not None:
            self._kernel(self._grid, (_THREADS,), self._arguments)

    def close(self) -> None:
        """Free the device memory."""
        self.copies, self._arguments, self._kernel = {}, (), None
