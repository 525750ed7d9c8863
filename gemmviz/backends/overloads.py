"""The address of a CUDA kernel in C++, where its file has other functions of the same name."""

import re

from gemmviz.backends.device_source import source_of_device
from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.guessing.cxx import kernels_of
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.launch import Launch

AMBIGUOUS = "cannot determine which instance of overloaded function"
"""Stands in NVRTC's log where a name alone does not tell which function is meant."""


def address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel: its name alone."""
    return f"&{launch.entry}"


def typed_address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel, with its type before its name.

    The number of arguments tells which kernel of this name is meant. Empty where several kernels of the name have as
    many parameters, and for a template whose types are not among its arguments.
    """
    entry, given = launch.entry, len(in_braces(launch.kernel.args, launch.kernel.structs))
    name, values = _parts(entry)
    kernels = [one for one in kernels_of(source_of_device(launch)) if one.name.rpartition("::")[2] == name]
    types = {
        _typed(", ".join(p.declared for p in one.parameters), one, values)
        for one in kernels
        if len(one.parameters) == given and bool(one.template) == bool(values)
    }
    return f"(void (*)({types.pop()})){entry}" if len(types) == 1 and types != {""} else ""


def _parts(entry: str) -> tuple[str, list[str]]:
    """Return the name of a kernel, and its template arguments."""
    name, _, rest = entry.partition("<")
    values, depth = [""], 0
    for letter in rest.rpartition(">")[0]:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            values.append("")
        else:
            values[-1] += letter
    return name.rpartition("::")[2].strip(), [one.strip() for one in values if one.strip()]


def _typed(head: str, kernel: Function, values: list[str]) -> str:
    """Return the types of a kernel's parameters with its template arguments in them; empty if one is not given."""
    for at, (_, name, _) in enumerate(kernel.template):
        named = re.compile(rf"\b{re.escape(name)}\b")
        if at < len(values):
            head = named.sub(values[at].replace("\\", ""), head)
        elif named.search(head):
            return ""
    return head


def name_of(address: str) -> str:
    """Return an address for NVRTC, which takes a name without ``&``, too."""
    return address.removeprefix("&")
