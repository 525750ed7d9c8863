"""Whether the host sets C before the launch of a kernel that reads it or adds to it."""

from itertools import pairwise

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.indexing import Pointer
from gemmviz.catalogue.guessing.roles import Roles
from gemmviz.catalogue.matrices import D

_ZEROES = {"cudaMemset", "cudaMemsetAsync", "memset", "calloc", "zeros", "zeros_like", "new_zeros", "zero_"}
_COPIES, _TO_DEVICE = {"cudaMemcpy", "cudaMemcpyAsync"}, "cudaMemcpyHostToDevice"


def adds(result: Pointer | None, name: str, function: Function, source: ParsedSource, roles: Roles) -> bool:
    """Return whether a kernel reads a C of known values.

    It adds to C with atomicAdd, or with += where the host code sets C; or it reads C and the host copies C to the GPU;
    or it adds a C of its own to the product, without a beta.

    Parameters
    ----------
    result, name
        How the kernel uses C, and the parameter's name.
    function, source
        The kernel, and its file.
    roles
        The roles of the parameters.
    """
    has_beta = "beta" in roles.of.values()
    if D in roles.of.values() and not has_beta:
        return True
    if result is None or result.added:
        return result is not None
    if not 0 < result.sums == result.writes:
        # A kernel may read C and not use it: with the host's values that is no read of memory that nobody wrote.
        return not has_beta and result.reads > result.sums and _is_copied(name, function, source)
    words = source.words | {word for one in source.callers for word in one.body}
    return not _ZEROES.isdisjoint(words) or _is_copied(name, function, source)


def _is_copied(name: str, function: Function, source: ParsedSource) -> bool:
    """Return whether the host code copies a matrix into the array that a launch gives for a parameter."""
    place = next((at for at, one in enumerate(function.parameters) if one.name == name), -1)
    plain = function.name.rpartition("::")[2]
    given = {
        one.arguments[place][0]
        for one in source.launches
        if one.name == plain and 0 <= place < len(one.arguments) and len(one.arguments[place]) == 1
    }
    return any(_copies(one.body, given) for one in source.callers)


def _copies(body: tuple[str, ...], arrays: set[str]) -> bool:
    for at, (word, bracket) in enumerate(pairwise(body)):
        if word in _COPIES and bracket == "(" and body[at + 2 : at + 3] and body[at + 2] in arrays:
            end = next((i for i in range(at, len(body)) if body[i] == ";"), len(body))
            if _TO_DEVICE in body[at:end]:
                return True
    return False
