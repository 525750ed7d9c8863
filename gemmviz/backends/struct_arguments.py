"""Structures as parameters of CUDA kernels: the GPU's compiler itself lays out their members.

A launch copies raw bytes. Only the compiler knows the offsets and types of a structure's members. So another kernel is
compiled together with the user's kernel: it makes the structure from the members' values, and writes its bytes. These
bytes are the argument.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gemmviz.backends.entry import in_braces
from gemmviz.backends.overloads import address_of
from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, MATRICES, D

_FILL = "gv_fill_struct_"
_MOST_BYTES = 4096  # for all parameters of a kernel together, up to CUDA 12.0
_TYPES = """
#line 1 "gemmviz_arguments"
template <class gv_N> struct gv_number {
    gv_N gv_n;
    template <class gv_T, class = decltype(static_cast<gv_T>(gv_N()))> __device__ operator gv_T() const
    {
        return (gv_T) gv_n;
    }
    template <class gv_T> __device__ operator gv_T *() const { return (gv_T *) (size_t) gv_n; }
};
struct gv_pointer {
    long long gv_p;
    template <class gv_T> __device__ operator gv_T *() const { return (gv_T *) gv_p; }
};
template <int gv_I, class gv_F> struct gv_parameter;
template <class gv_R, class gv_P, class... gv_Q> struct gv_parameter<0, gv_R (*)(gv_P, gv_Q...)> {
    typedef gv_P gv_type;
};
template <int gv_I, class gv_R, class gv_P, class... gv_Q> struct gv_parameter<gv_I, gv_R (*)(gv_P, gv_Q...)>
    : gv_parameter<gv_I - 1, gv_R (*)(gv_Q...)> {};
template <class gv_T> struct gv_struct { typedef gv_T gv_type; };
template <class gv_T> struct gv_struct<const gv_T> : gv_struct<gv_T> {};
template <class gv_T> struct gv_struct<gv_T *> : gv_struct<gv_T> {};
template <class gv_T> struct gv_struct<gv_T *__restrict__> : gv_struct<gv_T> {};
"""
_SOURCE = """
extern "C" __global__ void %(name)s(const long long *gv_v, unsigned char *gv_out, int gv_most)
{
    typedef gv_struct<gv_parameter<%(number)d, decltype(%(address)s)>::gv_type>::gv_type gv_made;
    gv_made gv_m = %(members)s;
    *(int *) gv_out = (int) sizeof gv_m;
    for (int gv_i = 0; gv_i < (int) sizeof gv_m && gv_i < gv_most; gv_i++)
        gv_out[16 + gv_i] = ((const unsigned char *) &gv_m)[gv_i];
}
"""
Fill = Callable[[Any, Sequence[Any]], Any]


def filling_source(launch: Launch, address: str = "") -> str:
    """Return CUDA code to append to the user's: a kernel for each structure parameter; empty without structures.

    Parameters
    ----------
    launch, address
        As for `gemmviz.backends.nvrtc.program_text`.
    """
    kernel = launch.kernel
    parts = [_TYPES] if kernel.structs else []
    members = in_braces([str(n) for n in range(len(kernel.args))], kernel.structs)
    for number, ((first, end), parameter) in enumerate(
        zip(kernel.structs, (n for n, one in enumerate(members) if one.startswith("{")), strict=True)
    ):
        values = [_member(name, at) for at, name in enumerate(kernel.args[first:end])]
        fields = {"name": f"{_FILL}{number}", "number": parameter, "address": address or address_of(launch)}
        parts.append(_SOURCE % {**fields, "members": f"{{{', '.join(values)}}}"})
    return "".join(parts)


def _member(name: str, at: int) -> str:
    if name in (*MATRICES, D, BIAS, *POINTERS):
        return f"gv_pointer{{gv_v[{at}]}}"
    if name in ("alpha", "beta"):
        return f"gv_number<double>{{__longlong_as_double(gv_v[{at}])}}"
    return f"gv_number<long long>{{gv_v[{at}]}}"


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
