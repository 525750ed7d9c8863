"""Structures as parameters of CUDA kernels: the GPU's compiler itself lays out their members.

A launch copies raw bytes. Only the compiler knows the offsets and types of a structure's members. So another kernel is
compiled together with the user's kernel: it makes the structure from the members' values, and writes its bytes. These
bytes are the argument.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, MATRICES, D

_FILL = "gv_fill_struct_"
_MOST_BYTES = 4096  # for all parameters of a kernel together, up to CUDA 12.0
_TYPES = """
#line 1 "gemmviz_arguments"
template <class N> struct gv_number {
    N n;
    template <class T, class = decltype(static_cast<T>(N()))> __device__ operator T() const { return (T) n; }
    template <class T> __device__ operator T *() const { return (T *) (size_t) n; }
};
struct gv_pointer {
    long long p;
    template <class T> __device__ operator T *() const { return (T *) p; }
};
template <int I, class F> struct gv_parameter;
template <class R, class P, class... Q> struct gv_parameter<0, R (*)(P, Q...)> { typedef P type; };
template <int I, class R, class P, class... Q> struct gv_parameter<I, R (*)(P, Q...)>
    : gv_parameter<I - 1, R (*)(Q...)> {};
template <class T> struct gv_struct { typedef T type; };
template <class T> struct gv_struct<const T> : gv_struct<T> {};
template <class T> struct gv_struct<T *> : gv_struct<T> {};
template <class T> struct gv_struct<T *__restrict__> : gv_struct<T> {};
"""
_SOURCE = """
extern "C" __global__ void %(name)s(const long long *v, unsigned char *out, int most)
{
    typedef gv_struct<gv_parameter<%(number)d, decltype(&%(entry)s)>::type>::type made;
    made m = %(members)s;
    *(int *) out = (int) sizeof m;
    for (int i = 0; i < (int) sizeof m && i < most; i++)
        out[16 + i] = ((const unsigned char *) &m)[i];
}
"""
Fill = Callable[[Any, Sequence[Any]], Any]


def filling_source(launch: Launch) -> str:
    """Return CUDA code to append to the user's: a kernel for each structure parameter; empty without structures."""
    kernel = launch.kernel
    parts = [_TYPES] if kernel.structs else []
    members = in_braces([str(n) for n in range(len(kernel.args))], kernel.structs)
    for number, ((first, end), parameter) in enumerate(
        zip(kernel.structs, (n for n, one in enumerate(members) if one.startswith("{")), strict=True)
    ):
        values = [_member(name, at) for at, name in enumerate(kernel.args[first:end])]
        fields = {"name": f"{_FILL}{number}", "number": parameter, "entry": launch.entry}
        parts.append(_SOURCE % {**fields, "members": f"{{{', '.join(values)}}}"})
    return "".join(parts)


def _member(name: str, at: int) -> str:
    if name in (*MATRICES, D, BIAS, *POINTERS):
        return f"gv_pointer{{v[{at}]}}"
    if name in ("alpha", "beta"):
        return f"gv_number<double>{{__longlong_as_double(v[{at}])}}"
    return f"gv_number<long long>{{v[{at}]}}"


def struct_fillers(module: Any, launch: Launch) -> list[Fill]:
    """Return, for each structure, a function that makes the argument from its members' values.

    Parameters
    ----------
    module
        The launch's module (``cupy.RawModule``).
    launch
        The launch.
    """
    pointers = launch.kernel.struct_pointers
    return [_filler(module, f"{_FILL}{number}", is_pointer) for number, is_pointer in enumerate(pointers)]


def _filler(module: Any, name: str, is_pointer: bool) -> Fill:
    def made(cp: Any, values: Sequence[Any]) -> Any:
        words = np.array([_word(value) for value in values], np.int64)
        out = cp.zeros(16 + _MOST_BYTES, np.uint8)
        module.get_function(name)((1,), (1,), (cp.asarray(words), out, np.int32(_MOST_BYTES)))
        if is_pointer:
            return out[16:]
        raw = cp.asnumpy(out)
        size = int(raw[:4].view(np.int32)[0])
        return raw[16 : 16 + size].copy().view(f"V{size}")[0]

    return made


def _word(value: Any) -> int:
    if hasattr(value, "data"):  # an array in the device's memory
        return int(value.data.ptr)
    if isinstance(value, float):
        return int(np.float64(value).view(np.int64))
    return int(value)
