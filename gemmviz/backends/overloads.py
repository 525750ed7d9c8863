"""The address of a CUDA kernel in C++, where a file has several kernels of one name."""

import re

from gemmviz.backends.device_source import source_of_device
from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.guessing.cxx import read_source
from gemmviz.catalogue.guessing.functions import Parameter
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code


def address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel.

    Where the file has several kernels of its name, the number of arguments tells which one is meant: its type stands
    before the name, instead of ``&``.
    """
    entry = launch.entry
    code = source_of_device(launch)
    heads = re.findall(rf"__global__[^;{{}}]*?\b{re.escape(entry)}\s*\(", plain_code(code))
    if len(heads) < 2:
        return f"&{entry}"
    given = len(in_braces(launch.kernel.args, launch.kernel.structs))
    same = [one.parameters for one in read_source(code).kernels if one.name == entry and not one.template]
    meant = [one for one in same if len(one) == given]
    if len(same) < 2 or len(meant) != 1:
        return f"&{entry}"
    return f"(void (*)({', '.join(map(_type, meant[0]))})){entry}"


def name_of(launch: Launch) -> str:
    """Return `address_of` for NVRTC, which takes a name without ``&``, too."""
    return address_of(launch).removeprefix("&")


def _type(parameter: Parameter) -> str:
    return f"{'const ' * parameter.const}{parameter.type}{' *' * parameter.pointer}"
