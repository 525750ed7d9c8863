"""The intended element of an access to memory far from every array."""

import re
import signal

from gemmviz.catalogue.device_code import device_code
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.simt.arguments import FAR_BYTES
from gemmviz.simt.layout import RecorderRun, WatchedArray

NULL_PAGES = 1 << 16  # a lower address comes from a null pointer, not from an index
_LOCAL = re.compile(
    r"(?<![\w:])(?:float|double|int|unsigned|uint\w*|half2?|__half2?|__nv_bfloat162?|float[234]|u?int[234]|T|char|short)"
    r"\s+(\w+)\s*\[[^\]]*\](?:\s*\[[^\]]*\])*\s*(?=[;=,])"
)
_SHARED = re.compile(r"__shared__[^;]*;|__constant__[^;]*;|extern[^;]*;")
_INDEXED = re.compile(r"\b(\w+)\s*\[")
_MOST_NAMES = 6
_NEAR_STACKS = 2  # see runtime/recording.h


def meant(job: RecorderRun, launch: Launch, line: int) -> tuple[str, int] | None:
    """Return the element that a faulting access meant, and the number of elements of its matrix; None if unknown.

    It belongs to the matrix that is near the address. Where this process may not reserve the addresses around A, B and
    C, they are close together: then it is known only if the source line indexes one of them.

    Parameters
    ----------
    job
        The job after a run that ended with a signal.
    launch
        The launch.
    line
        The line of the kernel's file, from 1; 0 if it is not known.
    """
    if job.signal not in (signal.SIGSEGV, signal.SIGBUS) or job.fault_address < NULL_PAGES:
        return None
    near = [which for which in range(len(MATRICES)) if _is_near(job.array[which], job.fault_address)]
    if len(near) > 1:
        near = [which for which in near if _indexes(launch, line, MATRICES[which])]
    if len(near) != 1:
        return None
    array = job.array[near[0]]
    index = (job.fault_address - array.start) // array.itemsize
    return f"{MATRICES[near[0]]}[{index}]", array.bytes // array.itemsize


def _is_near(array: WatchedArray, address: int) -> bool:
    reach = array.guard + FAR_BYTES
    return bool(-reach <= address - array.start < array.bytes + reach)


def _indexes(launch: Launch, line: int, matrix: str) -> bool:
    """Return whether a line of the kernel's file, from 1, indexes a matrix by the entry's name of it."""
    text = plain_code(launch.kernel.text).split("\n")[line - 1] if line else ""
    return any(re.search(rf"\b{name}\s*[\[+]", text) for name in _parameters(launch, matrix))


def local_arrays(launch: Launch) -> list[str]:
    """Return the names of a kernel's local arrays, as far as its text shows them."""
    return _locals(launch)[:_MOST_NAMES]


def meant_local(job: RecorderRun, launch: Launch, line: int) -> str:
    """Return the local array that a faulting access near the stacks meant; empty if unknown.

    It is known if the source line indexes no other array.

    Parameters
    ----------
    job
        As for `meant`.
    launch
        The launch.
    line
        The line of the kernel's file, from 1; 0 if it is not known.
    """
    if job.fault_bytes != _NEAR_STACKS:
        return ""
    indexed = _indexed(launch, line)
    return next((name for name in _locals(launch) if {name} == indexed), "")


def locals_of_line(launch: Launch, line: int) -> list[str]:
    """Return the local arrays that a line of the kernel's file, from 1, names; none for line 0."""
    lines = plain_code(launch.kernel.text).split("\n")
    words = {*re.findall(r"\w+", lines[line - 1])} if 0 < line <= len(lines) else set[str]()
    return [name for name in _locals(launch) if name in words]


def _indexed(launch: Launch, line: int) -> set[str]:
    lines = plain_code(launch.kernel.text).split("\n")
    return {*_INDEXED.findall(lines[line - 1])} if 0 < line <= len(lines) else set()


def _locals(launch: Launch) -> list[str]:
    code = plain_code(device_code(launch.kernel.text, launch.kernel.entry), directives=False)
    return list(dict.fromkeys(_LOCAL.findall(_SHARED.sub("", code))))


def _parameters(launch: Launch, matrix: str) -> list[str]:
    """Return the entry's name of a matrix in a list, which is empty when its head cannot be parsed."""
    function = re.split(r"[\s<]", launch.kernel.entry)[0].rpartition("::")[2]
    head = re.search(rf"\b{function}\s*\(([^()]*)\)\s*{{", plain_code(launch.kernel.text))
    parameters = head[1].split(",") if head else []
    if matrix not in launch.kernel.args:
        return []
    place = launch.kernel.args.index(matrix)
    return re.findall(r"(\w+)\s*$", parameters[place]) if place < len(parameters) else []
