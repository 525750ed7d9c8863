"""Finds what a launch leaves behind for the next one, and waits that are missing around variables of the device.

A flag that is not set back lets the next launch begin with it: a wait that is passed at once, a counter that is too
high. So a kernel with variables of the device is launched twice, as every host program does that repeats it, and a
third time if a flag keeps another value; between the launches A, B and C are set, and nothing else. In a later launch
the accesses to these variables are recorded, too: sums that one block leaves for another one race if no flag orders
them.

In the recorder blocks run one after another, and so a block that passes a wait too early finds its data nevertheless. A
read of a flag that still has the value of the launch before therefore orders nothing: see `runtime/sync_flags.c`.
"""

import re
from collections.abc import Callable

import numpy as np

from gemmviz import data
from gemmviz.backends.toolchain import included, with_own_headers
from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.simt.device_state import FlagState, launch_text, left_text
from gemmviz.simt.faults import TooManyBarriers
from gemmviz.trace.hazards import Finding
from gemmviz.trace.hazards.access_index import access_index
from gemmviz.trace.hazards.hazard_text import element_name, who
from gemmviz.trace.hazards.races import races
from gemmviz.trace.recording.later_launch import LaterLaunch
from gemmviz.trace.recording.recording import Recording

_ATTRIBUTE = re.compile(r"\b(?:__align__|alignas|__attribute__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
# Up to a value, an index or the end: a bracket would be that of a function.
_VARIABLE = re.compile(r"\b__(?:device|managed)__\b(?P<type>[^;{}()=\[\]]*)[;={\[]")
# Host code that sets variables of the device, perhaps before each launch: what it writes is not known here.
_SET_BY_HOST = re.compile(r"\b(?:cudaMemcpyToSymbol(?:Async)?|cudaGetSymbolAddress|cuModuleGetGlobal)\b")
_CONSTANT = re.compile(r"\b(?:const|constexpr|__constant__|__shared__)\b")


def later_launch_findings(job: Launch, again: Callable[[Launch, int], LaterLaunch]) -> list[Finding]:
    """Return the defects that a second launch shows, or a third.

    There are none for a kernel without variables of the device, or with variables that its file's host code sets.

    Parameters
    ----------
    job
        A CUDA launch without a defect.
    again
        Records a launch after a number of earlier ones.

    Raises
    ------
    KernelFault
        From `again`.
    """
    if not _has_variables(job) or _SET_BY_HOST.search(plain_code(job.kernel.text)):
        return []
    for earlier in (1, 2):
        try:
            later = again(job, earlier)
        except TooManyBarriers as error:
            # At the sizes of a check this means a loop that does not end.
            text = str(error).removeprefix(f"{job.kernel.path.name}:{error.line}: ")
            return [Finding("state left behind", error.line or 0, text)]
        except (BuildError, ConstraintError):
            return []
        found = _findings(later)
        if found or not later.again:
            return found
    return []


def _findings(later: LaterLaunch) -> list[Finding]:
    if later.recording.wrong:
        return [_wrong(later)]
    found = list(races(later.recording, access_index(later.recording)))
    stale = next((flag for flag in later.again if flag.reader_line), None)
    if stale and found:
        return [_passed(later, stale, found[0])]
    forgotten = [flag for flag in later.left if flag.set_back]
    if not found and forgotten:
        flag = forgotten[0]
        text = tr("{why}, although {other} is set back", why=left_text(forgotten), other=flag.set_back)
        return [Finding("state left behind", flag.line, text, len(forgotten))]
    return found


def _has_variables(job: Launch) -> bool:
    """Return whether a kernel's file, or a header of it, has variables of the device that can be written."""
    kernel = job.kernel
    headers = included(kernel.text, data.root("kernels") / "include")
    for text in (with_own_headers(kernel.text, kernel.path), *headers):
        code = _ATTRIBUTE.sub(" ", plain_code(text))
        if any(not _CONSTANT.search(found["type"]) for found in _VARIABLE.finditer(code)):
            return True
    return False


def _wrong(later: LaterLaunch) -> Finding:
    """Return the finding about a wrong C of a later launch."""
    recording, count = later.recording, later.recording.wrong
    row = None if later.left else _read_before_written(recording)
    line = other_line = 0
    if later.left:
        flag = next((flag for flag in later.again if flag.reader_line), later.left[0])
        line, other_line = flag.line, flag.reader_line
        why = left_text([flag, *(one for one in later.left if one.name != flag.name)])
    elif row is not None:
        line = recording.sites[int(recording.accesses.site[row])].line
        values = {"thread": who(recording, row), "element": element_name(recording, row)}
        why = tr("{thread} reads {element}, which the launch before has left", **values)
    else:
        why = tr("the launch before leaves something behind")
    text = trn(
        "{launch} gives a wrong C ({count} element): {why}",
        "{launch} gives a wrong C ({count} elements): {why}",
        count,
        launch=launch_text(later.earlier),
        count=thousands(count),
        why=why,
    )
    return Finding("state left behind", line, text, count, other_line)


def _passed(later: LaterLaunch, flag: FlagState, race: Finding) -> Finding:
    """Return the finding about a wait that a later launch passes at once, and the race that follows."""
    text = tr(
        "{why}. So line {line} does not wait in {launch}: {race}",
        why=left_text([flag]),
        line=flag.reader_line,
        launch=launch_text(later.earlier),
        race=race.text,
    )
    return Finding("state left behind", flag.line, text, race.count, flag.reader_line, race.array)


def _read_before_written(recording: Recording) -> int | None:
    """Return the first row that reads an element of a variable before any row writes it; None if there is none."""
    log = recording.accesses
    spaces = np.array([array.space == "device" for array in recording.arrays])
    rows = np.flatnonzero(spaces[log.array])
    position, element = recording.elements(rows)
    key = np.stack([log.array[rows[position]].astype(np.int64), element])
    _, first = np.unique(key, axis=1, return_index=True)
    reads = rows[position[first]]
    reads = reads[~log.write[reads]]
    return int(reads.min()) if len(reads) else None
