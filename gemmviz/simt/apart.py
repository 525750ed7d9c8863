"""Runs a recorder in a separate process: a faulty kernel may end it, and a hostile kernel cannot leave it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

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

_CLASSES = (
    *(RawTrace, AccessCount, SharedArray, Diagnostic, TmaReport, DeviceState, FlagState),
    *(GemmvizError, ConstraintError, KernelTimeout, TooManyAccesses, TooManyBarriers),
)


class Process:
    """A process of the sandbox in which launches of one library are counted, and at last one is recorded.

    Without a sandbox it is this process. It starts with the first count, or the recording.

    Parameters
    ----------
    library
        The compiled recorder.
    launch
        The launch that is recorded.
    capacity
        The largest number of accesses of the recording; with 0 there are only counts.
    """

    def __init__(self, library: Path, launch: Launch, capacity: int = 0) -> None:
        self.library = library
        self._launch = launch
        self._capacity = capacity
        self._session: confined.Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def count(
        self, launch: Launch, *, deadline_s: float, limit: int, blocks: tuple[int, int] | None = None
    ) -> AccessCount:
        """Count like `gemmviz.simt.recorder.count`. After an error the next question starts another process.

        Raises
        ------
        KernelFault
            Also when the process ends without an answer.
        """
        if not confined.active():
            return recorder.count(self.library, launch, deadline_s=deadline_s, limit=limit, blocks=blocks)
        try:
            counted = self._started().ask("count", launch, deadline_s, limit, blocks)
        except BaseException:
            self.close()
            raise
        assert isinstance(counted, AccessCount)
        return counted

    def run(
        self,
        a: npt.NDArray[Any],
        b: npt.NDArray[Any],
        *,
        deadline_s: float,
        blocks: tuple[int, int] | None = None,
        earlier: int = 0,
    ) -> RawTrace:
        """Record the launch like `gemmviz.simt.recorder.run`, and end the process.

        Raises
        ------
        KernelFault
            Also when the process ends without an answer.
        """
        here = partial(recorder.run, deadline_s=deadline_s, capacity=self._capacity, blocks=blocks, earlier=earlier)
        if not confined.active():
            return here(self.library, self._launch, a, b)
        session, self._session = self._started(), None
        raw = session.ask_last("run", here, self._launch, a, b)
        assert isinstance(raw, RawTrace)
        return raw

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _started(self) -> confined.Session:
        if self._session is None:
            self._session = confined.Session(
                _answering,
                (self.library,),
                self.library,
                _CLASSES,
                forks=self._capacity > 0 and recorder.most_workers(self._launch) > 1,
                before=partial(code_places, self.library, self._launch.kernel.path.name),
                result_bytes=recorder.result_bytes(min(self._capacity, MAX_ACCESSES)),
            )
        return self._session


def _answering(library: Path) -> Callable[..., AccessCount | RawTrace]:
    def count(launch: Launch, deadline_s: float, limit: int, blocks: tuple[int, int] | None) -> AccessCount:
        return recorder.count(library, launch, deadline_s=deadline_s, limit=limit, blocks=blocks)

    def run(here: Callable[..., RawTrace], *arguments: Any) -> RawTrace:
        return here(library, *arguments)

    known: dict[str, Callable[..., AccessCount | RawTrace]] = {"count": count, "run": run}
    return lambda name, *arguments: known[name](*arguments)
