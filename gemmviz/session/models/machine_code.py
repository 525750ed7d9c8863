"""The machine code of the chosen launch: its architecture, its listing, and the chosen line."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from psygnal import Signal

from gemmviz.assembly.listing import NO_PLACE, Listing
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr

if TYPE_CHECKING:
    from gemmviz.assembly.summary import Summary

Form = Literal["sass", "ptx"]
_Key = tuple[str, str, str, tuple[tuple[str, int], ...], int, int, str]


class MachineCode:
    """Machine code that is compiled only while its tab is visible, and again after a change of the launch.

    Parameters
    ----------
    on_stage, for_measuring
        Return the chosen kernel's launch on the stage, and the one for measurements. They raise a `GemmvizError` when
        size and parameters do not fit the kernel.
    """

    changed = Signal()
    """The listing, the reason why there is none, or its architecture and parameters have changed."""
    pointed = Signal()
    """The chosen line or instruction."""
    wanted = Signal()
    """Emitted when it has to be compiled."""
    dropped = Signal()
    """Emitted when the requested listing is no longer needed."""

    def __init__(self, on_stage: Callable[[], Launch], for_measuring: Callable[[], Launch]) -> None:
        self._on_stage, self._for_measuring = on_stage, for_measuring
        self.architecture = ""
        """The architecture that the user chose; empty: that of the GPU, else one that suits the kernel."""
        self.as_measured = False
        """Whether the launch for measurements is compiled, or the launch on the stage."""
        self.form: Form = "sass"
        self.listing: Listing | None = None
        self.summary: Summary | None = None
        self.fault, self.fault_line = "", 0
        """The reason why there is no listing, and its line in the kernel's file."""
        self.busy = ""
        """The current work as text; empty if there is none."""
        self.file, self.line = 0, 0
        """The chosen line (0: none) of one of the listing's files."""
        self.index = NO_PLACE
        """The chosen instruction, or the line of PTX; `NO_PLACE`: none."""
        self._viewers: set[int] = set()
        self._key: _Key | None = None

    def watch(self, viewer: int, on: bool) -> None:
        """Set whether a window shows the machine code: only then it is compiled.

        Parameters
        ----------
        viewer
            Identifies the window: for a moment there may be two.
        on
            Whether the window shows the machine code.
        """
        if on:
            self._viewers.add(viewer)
            self.refresh()
        else:
            self._viewers.discard(viewer)

    def choose(
        self, architecture: str | None = None, as_measured: bool | None = None, form: Form | None = None
    ) -> None:
        """Choose the architecture, the parameters (measured or on the stage), or SASS or PTX; None: unchanged."""
        self.architecture = self.architecture if architecture is None else architecture
        self.as_measured = self.as_measured if as_measured is None else as_measured
        if form is not None and form != self.form:
            self.form, self.index = form, NO_PLACE
        self.changed.emit()
        self.refresh()

    def refresh(self, *, again: bool = False) -> None:
        """Request the listing if it differs from the current one.

        Parameters
        ----------
        again
            Also if the answer is known: a missing tool may have been installed.
        """
        if not self._viewers:
            return
        try:
            made = self.launch()
        except GemmvizError as error:
            self._key = None
            self.dropped.emit()
            self._settle(None, None, str(error))
            return
        key = self._key_of(made)
        if key == self._key and not again:
            return
        self._key = key
        if made.kernel.backend != "cuda" or not made.kernel.recordable:
            self.dropped.emit()
            self._settle(None, None, tr("Only CUDA kernels have SASS and PTX: choose one."))
            return
        self.wanted.emit()

    def launch(self) -> Launch:
        """Return the launch that is compiled.

        Raises
        ------
        GemmvizError
            When size and parameters do not fit the kernel.
        """
        return self._for_measuring() if self.as_measured else self._on_stage()

    def _key_of(self, made: Launch) -> _Key:
        kernel, macros = made.kernel, (*made.macros.items(), *made.constants.items())
        return str(kernel.path), kernel.text, made.entry, macros, made.shared_bytes, made.threads, self.architecture

    def begin(self, text: str) -> None:
        """Set the text about the current work; the previous listing stays visible."""
        self.busy = text
        self.changed.emit()

    def show(self, listing: Listing, summary: "Summary") -> None:
        """Take a listing."""
        self._settle(listing, summary, "")

    def fail(self, why: str, line: int = 0) -> None:
        """Take the reason why there is no listing."""
        self._settle(None, None, why, line)

    def _settle(self, listing: Listing | None, summary: "Summary | None", fault: str, line: int = 0) -> None:
        before = self.listing
        self.listing, self.summary, self.fault, self.fault_line, self.busy = listing, summary, fault, line, ""
        self.index = NO_PLACE
        if listing is None or before is None or listing.files[: self.file + 1] != before.files[: self.file + 1]:
            self.file = self.line = 0
        self.changed.emit()
        self.pointed.emit()

    # The chosen line

    def choose_file(self, file: int) -> None:
        """Show another file of the listing."""
        if file != self.file:
            self.file, self.line = file, 0
            self.pointed.emit()

    def choose_line(self, line: int) -> None:
        """Choose a line of the shown file: its instructions are marked."""
        self.line, self.index = line, NO_PLACE
        self.pointed.emit()

    def choose_index(self, index: int) -> None:
        """Choose an instruction, or a line of PTX: its source line is marked."""
        self.index = index
        if self.listing is not None and index >= 0:
            place = self._places()[index]
            self.line = self.listing.line(place, self.file)
            if not self.line and place >= 0:
                frame = next((f for f in self.listing.places[place] if self.listing.files[f.file].text), None)
                if frame is not None:
                    self.file, self.line = frame.file, frame.line
        self.pointed.emit()

    @property
    def marked(self) -> set[int]:
        """The rows of the listing that belong to the chosen line."""
        if self.listing is None or not self.line:
            return set()
        lines = (self.listing.line(place, self.file) for place in self._places())
        return {at for at, line in enumerate(lines) if line == self.line}

    def _places(self) -> list[int]:
        """Return the place of each visible row."""
        if self.listing is None:
            return []
        if self.form == "sass":
            return [one.place for one in self.listing.instructions]
        return [one.place for one in self.listing.ptx]

    def counts(self) -> dict[int, dict[str, int]]:
        """Return the counts of each line of the shown file."""
        if self.listing is None:
            return {}
        from gemmviz.assembly.counts import by_line  # late: the first picture has no machine code

        return {line: dict(found) for line, found in by_line(self.listing, self.file).items()}
