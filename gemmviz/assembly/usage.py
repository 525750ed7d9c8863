"""Reads the assembler's report on a kernel's registers and memory (``--ptxas-options=-v``)."""

import re

from gemmviz.assembly.listing import Usage

_KERNEL = re.compile(r"Compiling entry function '([^']*)'")
_FIGURES = {
    "registers": re.compile(r"Used (\d+) registers"),
    "shared_bytes": re.compile(r"(\d+)(?:\+\d+)? bytes smem"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "spill_store_bytes": re.compile(r"(\d+) bytes spill stores"),
    "spill_load_bytes": re.compile(r"(\d+) bytes spill loads"),
    "barriers": re.compile(r"used (\d+) barriers"),
}


def usage(log: str, entry: str, dynamic_bytes: int) -> Usage:
    """Return the resources of one kernel.

    Parameters
    ----------
    log
        The compiler's log.
    entry
        The kernel's name in the machine code.
    dynamic_bytes
        The shared memory that the launch adds.
    """
    parts = _KERNEL.split(log)
    report = next((after for name, after in zip(parts[1::2], parts[2::2], strict=True) if name == entry), "")
    figures = {name: int(found[1]) if (found := form.search(report)) else 0 for name, form in _FIGURES.items()}
    return Usage(**figures | {"shared_bytes": figures["shared_bytes"] + dynamic_bytes})
