"""The sentence about a kernel whose picture is that of another one: it makes the same accesses."""

from collections.abc import Sequence

from gemmviz.catalogue.same_accesses import likeness
from gemmviz.language import trn
from gemmviz.trace.playable import Playable


def likeness_text(playable: Playable) -> str:
    """Say which kernel makes the same accesses, and which lines of the source differ; empty for other kernels."""
    found = likeness(playable.recording.kernel, playable.recording.text)
    if found is None:
        return ""
    return trn(
        "Same accesses as {kernel}: only line {lines} differs",
        "Same accesses as {kernel}: only lines {lines} differ",
        len(found.lines),
        kernel=found.kernel,
        lines=spans(found.lines),
    )


def spans(lines: Sequence[int]) -> str:
    """Write line numbers: neighbours as the first and the last one."""
    groups: list[list[int]] = []
    for line in lines:
        if groups and line == groups[-1][-1] + 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return ", ".join(str(of[0]) if len(of) == 1 else f"{of[0]}–{of[-1]}" for of in groups)
