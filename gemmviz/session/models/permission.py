"""Whether the chosen text may run, and the question about it: foreign text is shown, but not run."""

from collections.abc import Callable
from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.session.trust.source_hash import own_headers
from gemmviz.session.trust.trust import Trust
from gemmviz.session.values.chosen import Chosen


class Permission:
    """Asks once for each text. Until the answer, and after "only look", the text is neither compiled nor run.

    Parameters
    ----------
    choice
        The chosen kernel.
    trust
        Decides which texts may run, and keeps answers.
    """

    changed = Signal()
    """Whether the chosen text may run, or whether the question is open."""
    granted = Signal()
    """Emitted when the chosen text may run from now on, and has to be recorded."""

    failed = Signal(str)
    """Emitted with the reason when an answer cannot be kept."""

    def __init__(self, choice: Chosen, trust: Trust) -> None:
        self._choice, self.trust = choice, trust
        self.held = False
        """Whether the chosen text may not run."""
        self._looked: set[tuple[Path, str]] = set()

    @property
    def asks(self) -> bool:
        """Whether the question is open."""
        return self.held and self._key not in self._looked

    @property
    def file(self) -> str:
        """The name of the file that the question is about."""
        return self._choice.base.shown_file

    @property
    def folder(self) -> Path | None:
        """The folder that could be trusted instead; None if the text differs from the file's."""
        return self.trust.folder_of(*self._subject) if self.held else None

    @property
    def headers(self) -> list[str]:
        """The headers that the text includes from its folder."""
        return own_headers(*self._subject)

    @property
    def changed_outside(self) -> bool:
        """Whether another text of the file was allowed before."""
        return self.trust.allowed_before(self._choice.base.path)

    def refresh(self) -> bool:
        """Check again whether the chosen text may run; return the result."""
        kernel, before = self._choice.kernel, (self.held, self.asks)
        self.held = kernel.recordable and not self.trust.allows(kernel.path, kernel.text)
        if self.held or before != (self.held, self.asks):
            self.changed.emit()
        return not self.held

    def ask(self) -> None:
        """Ask again about a text that is open for reading only."""
        self._looked.discard(self._key)
        self.refresh()

    def only_look(self) -> None:
        """Show the text without running it."""
        if self.held:
            self._looked.add(self._key)
            self.changed.emit()

    def run(self) -> None:
        """Allow the text to run, now and later."""
        self._grant(lambda: self.trust.allow(*self._subject))

    def trust_folder(self) -> None:
        """Allow the text, and all current and later files of its folder, to run."""
        folder = self.folder
        if folder is not None:
            self._grant(lambda: self.trust.allow_folder(folder))

    @property
    def _subject(self) -> tuple[Path, str]:
        """The text that the question is about; for a kernel with declared changes, the text of its base."""
        kernel = self._choice.base if self._choice.breaks else self._choice.kernel
        return kernel.path, kernel.text

    @property
    def _key(self) -> tuple[Path, str]:
        """Identifies a question: for a text that is open for reading only, edits do not cause a new question."""
        return self._choice.base.path, self._choice.base.text

    def _grant(self, act: Callable[[], None]) -> None:
        if not self.held:
            return
        try:
            act()
        except GemmvizError as error:
            self.failed.emit(str(error))
        if self.refresh():
            self.granted.emit()
