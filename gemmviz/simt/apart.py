"""Runs a recorder in a separate process: a faulty kernel may end it, and a hostile kernel cannot leave it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt

from gemmviz.catalogue.errors import ConstraintError, GemmvizError, KernelTimeout
from gemmviz.catalogue.launch import Launch
from gemmviz.sandbox import confined
from gemmviz.simt import recorder
from gemmviz.simt.code_places import code_places
from gemmviz.simt.device_state import DeviceState, FlagState
from gemmviz.simt.diagnostics import Diagnostic
from gemmviz.simt.faults import TooManyAccesses, TooManyBarriers
from gemmviz.simt.layout import MAX_ACCESSES
from gemmviz.simt.recorder import AccessCount, RawTrace
from gemmviz.simt.shared_array import SharedArray
from gemmviz.simt.tma_boxes import TmaReport

# A recording of so few products is copied in less time than its process needs to end.
_FEW_PRODUCTS = 20_000
_CLASSES = (
    *(RawTrace, AccessCount, SharedArray, Diagnostic, TmaReport, DeviceState, FlagState),
    *(GemmvizError, ConstraintError, KernelTimeout, TooManyAccesses, TooManyBarriers),
)


def run(
    library: Path,
    launch: Launch,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    *,
    deadline_s: float,
    capacity: int,
    blocks: tuple[int, int] | None = None,
    earlier: int = 0,
) -> RawTrace:
    """Run a recorder like `gemmviz.simt.recorder.run`, in the sandbox; without a sandbox, in this process.

    Raises
    ------
    KernelFault
        Also when the process ends without an answer.
    """
    here = partial(recorder.run, deadline_s=deadline_s, capacity=capacity, blocks=blocks, earlier=earlier)
    if not confined.active():
        return here(library, launch, a, b)
    few = launch.problem.flops < 2 * _FEW_PRODUCTS
    raw = confined.call(
        here,
        (library, launch, a, b),
        library,
        _CLASSES,
        forks=recorder.most_workers(launch) > 1,
        before=partial(code_places, library, launch.kernel.path.name),
        result_bytes=0 if few else recorder.result_bytes(min(capacity, MAX_ACCESSES)),
    )
    assert isinstance(raw, RawTrace)
    return raw


class Counting:
    """Counts accesses of launches of one library, all in one process of the sandbox; without a sandbox, in this one.

    Parameters
    ----------
    library
        The compiled recorder.
    file_name
        The name of the kernel's file.
    """

    def __init__(self, library: Path, file_name: str) -> None:
        self.library = library
        self._session: confined.Session | None = None
        if confined.active():
            before = partial(code_places, library, file_name)
            self._session = confined.Session(_counting, (library,), library, _CLASSES, before=before)

    def count(
        self, launch: Launch, *, deadline_s: float, limit: int, blocks: tuple[int, int] | None = None
    ) -> AccessCount:
        """Count like `gemmviz.simt.recorder.count`.

        Raises
        ------
        KernelFault
            Also when the process ends without an answer.
        """
        if self._session is None:
            return recorder.count(self.library, launch, deadline_s=deadline_s, limit=limit, blocks=blocks)
        counted = self._session.ask("", launch, deadline_s, limit, blocks)
        assert isinstance(counted, AccessCount)
        return counted

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()


def _counting(library: Path) -> Callable[..., AccessCount]:
    def count(name: str, launch: Launch, deadline_s: float, limit: int, blocks: tuple[int, int] | None) -> AccessCount:
        return recorder.count(library, launch, deadline_s=deadline_s, limit=limit, blocks=blocks)

    return count
