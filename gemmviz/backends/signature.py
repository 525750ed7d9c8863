"""The types of a CUDA kernel's parameters, from the compiler itself.

A launch copies raw bytes: an int for a parameter of type size_t would leave half of it undefined. So a second, tiny
kernel is compiled together with the user's kernel; it reports the parameters' types, which the launch uses.
"""

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np

from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import mark, tr

DESCRIBE = "gv_describe"
MOST = 32
_POINTER, _MAP, _MAP_POINTER = 1000, 2000, 3000
_INTEGERS: dict[int, type[np.generic]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_FLOATS: dict[int, type[np.generic]] = {104: np.float32, 108: np.float64}
# The names begin with gv_: what a user's file defines as a macro (T, N) is not touched.
_SOURCE = """
#line 1 "gemmviz_arguments"
template <class gv_T, class = int> struct gv_is_map { static const bool gv_value = false; };
template <class gv_T> struct gv_is_map<gv_T, decltype((int) sizeof(gv_T))> {
    static const bool gv_value = sizeof(gv_T) == 128 && alignof(gv_T) %% 64 == 0;
};
template <class gv_T> struct gv_kind {
    static const int gv_value = gv_is_map<gv_T>::gv_value ? %(map)d : (int) sizeof(gv_T);
};
template <class gv_T> struct gv_kind<gv_T *> {
    static const int gv_value = gv_is_map<gv_T>::gv_value ? %(map_pointer)d : %(pointer)d;
};
template <class gv_T> struct gv_kind<gv_T *__restrict__> : gv_kind<gv_T *> {};
template <> struct gv_kind<float> { static const int gv_value = 104; };
template <> struct gv_kind<double> { static const int gv_value = 108; };
template <class... gv_P> __device__ void gv_kinds(int *gv_out, void (*)(gv_P...))
{
    const int gv_found[] = {gv_kind<gv_P>::gv_value..., 0};
    *gv_out = sizeof...(gv_P);
    for (int gv_i = 0; gv_i < (int) sizeof...(gv_P) && gv_i < %(most)d; gv_i++)
        gv_out[gv_i + 1] = gv_found[gv_i];
}
extern "C" __global__ void %(name)s(int *gv_out) { gv_kinds(gv_out, (decltype(%(address)s)) 0); }
"""


def describing_source(address: str) -> str:
    """Return CUDA code to append to the user's: a kernel that writes the number of parameters and the kind of each.

    Parameters
    ----------
    address
        From `gemmviz.backends.overloads.address_of`.
    """
    kinds = {"pointer": _POINTER, "map": _MAP, "map_pointer": _MAP_POINTER}
    return _SOURCE % {**kinds, "most": MOST, "name": DESCRIBE, "address": address}


def scalar_types(
    answer: Sequence[int],
    args: Sequence[str],
    entry: str,
    structs: Sequence[tuple[int, int]] = (),
    pointers: Sequence[bool] = (),
) -> dict[str, type[np.generic]]:
    """Return the NumPy type of each scalar argument, and that of an address for each tensor map by pointer.

    Parameters
    ----------
    answer
        The output of the describing kernel.
    args
        The parameters as declared in the front matter.
    entry
        The name of the entry, for messages.
    structs, pointers
        The arguments that are members of one parameter, and whether it is a pointer: see
        `gemmviz.catalogue.kernel.Kernel`.

    Raises
    ------
    BuildError
        When the front matter does not fit the parameters: the kernel would crash, or compute something else.
    """
    count = int(answer[0])
    given = in_braces(args, structs)
    if count != len(given):
        raise BuildError(
            tr(
                "{entry} takes {taken} parameters, but args lists {listed}: {args}",
                entry=entry,
                taken=count,
                listed=len(given),
                args=f"[{', '.join(given)}]",
            )
        )
    types: dict[str, type[np.generic]] = {}
    by_pointer = chain(pointers, repeat(False))
    for number, (name, kind) in enumerate(zip(given, map(int, answer[1 : count + 1]), strict=True), 1):
        where = tr("parameter {number} of {entry}", number=number, entry=entry)
        if name.startswith("{"):
            if next(by_pointer) != (kind in (_POINTER, _MAP_POINTER)):
                if kind not in (_POINTER, _MAP_POINTER):
                    raise _misfit(
                        mark("{where} is no pointer, but args says that it points to a structure: {name}"), where, name
                    )
                raise _misfit(mark("{where} is a pointer, but args says that it is a structure: {name}"), where, name)
            continue
        if name.endswith(SUFFIX):
            if kind not in (_MAP, _MAP_POINTER):
                text = mark(
                    "{where} is no tensor_map (128 bytes, aligned to 64) and no pointer to one, but args says that it "
                    "is {name}"
                )
                raise _misfit(text, where, name)
            if kind == _MAP_POINTER:
                types[name] = np.uint64
            continue
        if name in (*MATRICES, D, BIAS, *POINTERS):
            if kind != _POINTER:
                if kind in (_MAP, _MAP_POINTER):
                    text = mark("{where} is no pointer, but a tensor map; args says that it is matrix {name}")
                    raise _misfit(text, where, name)
                raise _misfit(mark("{where} is no pointer; args says that it is matrix {name}"), where, name)
            continue
        if name.isdecimal():
            types[f"{name} as parameter {number}"] = (
                np.uint64 if kind in (_POINTER, _MAP_POINTER) else _known(kind, where, name)
            )
            continue
        if kind == _POINTER:
            raise _misfit(mark("{where} is a pointer, but args says that it is the scalar {name}"), where, name)
        if kind in (_MAP, _MAP_POINTER):
            raise _misfit(mark("{where} is a tensor map, but args says that it is the scalar {name}"), where, name)
        types[name] = np.float16 if name in ("alpha", "beta") and kind == 2 else _known(kind, where, name)
    return types


def _misfit(text: str, where: str, name: str) -> BuildError:
    """Return the error about a parameter that is not what args says, from a marked text."""
    return BuildError(tr(text, where=where, name=name))


def _known(kind: int, where: str, name: str) -> type[np.generic]:
    if kind in _FLOATS:
        return _FLOATS[kind]
    if kind in _INTEGERS:
        return _INTEGERS[kind]
    text = tr(
        "{where} ({name}) has a type of {bytes} bytes, which gemmviz cannot fill in", where=where, name=name, bytes=kind
    )
    raise BuildError(text)
