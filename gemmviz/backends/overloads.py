"""The address of a CUDA kernel in C++, where its file has other functions of the same name."""

from gemmviz.backends.device_source import source_of_device
from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.guessing.cxx import kernels_of
from gemmviz.catalogue.launch import Launch

AMBIGUOUS = "cannot determine which instance of overloaded function"
"""Stands in NVRTC's log where a name alone does not tell which function is meant."""


def address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel: its name alone."""
    return f"&{launch.entry}"


def typed_address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel, with its type before its name.

    The number of arguments tells which kernel of this name is meant. Empty for a template, and where several kernels of
    the name have as many parameters.
    """
    entry, given = launch.entry, len(in_braces(launch.kernel.args, launch.kernel.structs))
    name = entry.rpartition("::")[2]
    kernels = [one for one in kernels_of(source_of_device(launch)) if one.name.rpartition("::")[2] == name]
    heads = [[p.declared for p in one.parameters] for one in kernels if not one.template]
    types = {", ".join(head) for head in heads if len(head) == given}
    return f"(void (*)({types.pop()})){entry}" if len(types) == 1 and "<" not in entry else ""


def name_of(address: str) -> str:
    """Return an address for NVRTC, which takes a name without ``&``, too."""
    return address.removeprefix("&")
