"""The address of a CUDA kernel in C++, where its file has other functions of the same name."""

import re

from gemmviz.backends.device_source import source_of_device
from gemmviz.backends.entry import in_braces
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code

AMBIGUOUS = "cannot determine which instance of overloaded function"
"""Stands in NVRTC's log where a name alone does not tell which function is meant."""
_QUALIFIERS = re.compile(r"\b(?:__restrict__|__restrict|__grid_constant__)\b")
_NAME = re.compile(r"(?<=[\s*&])[A-Za-z_]\w*\s*$")
_ARRAY = re.compile(r"\[[^][]*\]\s*$")


def address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel: its name alone."""
    return f"&{launch.entry}"


def typed_address_of(launch: Launch) -> str:
    """Return an expression for the address of a launch's kernel, with its type before its name.

    The number of arguments tells which kernel of this name is meant. Empty for a template, and where several kernels of
    the name have as many parameters.
    """
    entry, given = launch.entry, len(in_braces(launch.kernel.args, launch.kernel.structs))
    code = plain_code(source_of_device(launch), directives=False)
    heads = re.finditer(rf"__global__[^;{{}}]*?\b{re.escape(entry.rpartition('::')[2])}\s*\(([^;{{}}]*)\)\s*\{{", code)
    types = {", ".join(map(_type, head[1].split(","))) for head in heads if head[1].count(",") + 1 == given}
    return f"(void (*)({types.pop()})){entry}" if len(types) == 1 and "<" not in entry else ""


def name_of(address: str) -> str:
    """Return an address for NVRTC, which takes a name without ``&``, too."""
    return address.removeprefix("&")


def _type(parameter: str) -> str:
    """Return the type of a parameter, from its declaration: ``const unsigned int n`` is ``const unsigned int``."""
    plain = _QUALIFIERS.sub(" ", parameter.partition("=")[0]).strip()
    array = _ARRAY.search(plain)
    kind = _NAME.sub("", plain[: array.start()] if array else plain)
    return " ".join(kind.split()) + " *" * bool(array)
