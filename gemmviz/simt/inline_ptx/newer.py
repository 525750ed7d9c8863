"""Instructions of compute capability 10.0 and later, which the recorder does not know."""

import re

# PTX ISA, "Target ISA Notes" of each: tensor memory, products with scales or of 4 and 6 bits, and 32 bytes at once.
_NEWER = re.compile(
    r"tcgen05\.|.*(?:\.kind::|\.cta_group::|\.block_scale|\.e2m1|\.e2m3|\.e3m2|\.ue8m0|\.m16n16\.|\.b8x16)"
    r"|(?:ld|st)\..*\.v8\.|clusterlaunchcontrol\."
)


def is_newer(instruction: str) -> bool:
    """Return whether an instruction needs compute capability 10.0 or later."""
    return _NEWER.match(instruction) is not None
