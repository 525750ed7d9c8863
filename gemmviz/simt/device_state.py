"""Variables of the device that a launch leaves behind for the next one: flags, and the memory beside them."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gemmviz.catalogue.errors import KernelFault
from gemmviz.language import tr, trn
from gemmviz.simt.faults import TooManyBarriers
from gemmviz.simt.layout import ChangedFlag
from gemmviz.simt.shared_array import SharedArray

_MOST = 2048  # flags that a recorder knows


@dataclass(frozen=True)
class FlagState:
    """A flag that a launch has left with another value.

    Attributes
    ----------
    name
        The variable with its index: ``ready[3]``.
    value, before
        Its value after the launch, and before any launch.
    line
        The line that wrote it last; 0 if it is in another file.
    reader_line
        In a later launch: the line of a read that cannot know whether the flag was set in this launch, because the one
        before has left the same value in it; 0 if there is none.
    set_back
        Another element of the variable, which this launch has changed and set back; empty if there is none, or if no
        block has waited for the flag.
    """

    name: str
    value: int
    before: int
    line: int
    reader_line: int = 0
    set_back: str = ""


@dataclass(frozen=True)
class DeviceState:
    """What a later launch finds of the ones before.

    Attributes
    ----------
    variables
        The variables of the device, in the order of their numbers in the trace, after those of the shared arrays.
    are_flags
        For each variable whether it is a flag: blocks wait for each other by it.
    left, again
        The flags that the launch before and the launch itself have left with another value than before any launch.
    """

    variables: list[SharedArray]
    are_flags: list[bool]
    left: list[FlagState]
    again: list[FlagState]


def flags_left(
    code: ctypes.CDLL, variables: Sequence[SharedArray], base: int, line_of: Callable[[int], int]
) -> list[FlagState]:
    """Return the flags that the last run of a recorder has left with another value than at load time.

    Parameters
    ----------
    code
        The recorder.
    variables
        The variables of the device.
    base
        The load address of the recorder.
    line_of
        Returns the line of an instruction's address.
    """
    raw = (ChangedFlag * _MOST)()
    code.gv_flags_changed.restype = ctypes.c_uint32
    count = min(_MOST, code.gv_flags_changed(raw, _MOST))
    changed = sorted(raw[:count], key=lambda one: one.at)
    names = [_named(variables, flag.at - base) for flag in changed]
    back = {name.partition("[")[0]: name for flag, (name, _) in zip(changed, names, strict=True) if not _is_left(flag)}
    found = []
    for flag, (name, signed) in zip(changed, names, strict=True):
        if not _is_left(flag):
            continue
        value, before = (_number(number, flag.bytes, signed) for number in (flag.value, flag.before))
        read = line_of(flag.reader_pc) if flag.reader_pc else 0
        beside = back.get(name.partition("[")[0], "") if flag.seen else ""
        found.append(FlagState(name, value, before, line_of(flag.writer_pc), read, beside))
    return found


def in_later_launch(fault: KernelFault | TooManyBarriers, earlier: int, left: Sequence[FlagState]) -> Exception:
    """Return the fault of a launch after earlier ones, with the flags that the one before has left."""
    place, colon, text = str(fault).partition(": ")  # FILE:LINE
    text = tr("in {launch}: {what}", launch=launch_text(earlier), what=text)
    if left:
        text = f"{text}. {left_text(left)}"
    if isinstance(fault, KernelFault):
        return type(fault)(place + colon + text, fault.line, "state left behind", fault.array)
    return TooManyBarriers(place + colon + text, fault.line)


def launch_text(earlier: int) -> str:
    """Return the name of a launch after earlier ones."""
    return tr("a second launch") if earlier == 1 else tr("a third launch")


def left_text(left: Sequence[FlagState]) -> str:
    """Return a sentence about the flags that the launch before has left."""
    first, more = left[0], len(left) - 1
    values = {"flag": first.name, "value": first.value, "before": first.before, "line": first.line}
    if first.line:
        text = tr("{flag} was left at {value} by the launch before (line {line}), and was {before} at first", **values)
    else:
        text = tr("{flag} was left at {value} by the launch before, and was {before} at first", **values)
    if not more:
        return text
    return trn("{what}, like {count} more flag", "{what}, like {count} more flags", more, what=text, count=more)


def element_text(variable: SharedArray, element: int) -> str:
    """Return the name of an element of a variable: ``ready[3]``."""
    if variable.shape == (1,):
        return variable.name
    return variable.name + "".join(f"[{i}]" for i in np.unravel_index(element, variable.shape))


def _is_left(flag: ChangedFlag) -> bool:
    return bool(flag.value != flag.before)


def _named(variables: Sequence[SharedArray], address: int) -> tuple[str, bool]:
    """Return the name of the variable at an address, and whether its numbers can be below 0."""
    for one in variables:
        size = np.dtype(one.dtype).itemsize
        if 0 <= address - one.offset < size * int(np.prod(one.shape)):
            return element_text(one, (address - one.offset) // size), one.dtype.startswith("int")
    return f"+{address:#x}", False


def _number(value: int, size: int, signed: bool) -> int:
    return value - (1 << 8 * size) if signed and value >> (8 * size - 1) else value
