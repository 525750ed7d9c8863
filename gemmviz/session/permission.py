"""Whether what is chosen may run, and the question about it: text from elsewhere is shown and not run."""

from collections.abc import Callable
from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.session.choice import Choice
from gemmviz.session.message import Message
from gemmviz.session.messages import Messages
from gemmviz.session.source_hash import own_headers
from gemmviz.session.trust import Trust


class Permission:
    """Asks once for each text; until it is answered, and after "only look", nothing of the text is compiled or run.

    Parameters
    ----------
    choice
        Whose kernel.
    messages
        Where it is said that an answer cannot be kept.
    trust
        What may run, and where answers are kept.
    """

    changed = Signal()
    """Whether the chosen text may run, or whether it is asked about."""
    granted = Signal()
    """The chosen text may run since now, and should be recorded."""

    def __init__(self, choice: Choice, messages: Messages, trust: Trust) -> None:
        self._choice, self._messages, self.trust = choice, messages, trust
        self.held = False
        """Whether the chosen text may not run."""
        self._looked: set[tuple[Path, str]] = set()
        choice.chosen.connect(self.refresh)

    @property
    def asks(self) -> bool:
        """Whether the question is open."""
        return self.held and self._key not in self._looked

    @property
    def path(self) -> Path:
        """The file that the question is about."""
        return self._choice.base.path

    @property
    def folder(self) -> Path | None:
        """The folder that could be trusted instead; None where the text is not what the file holds."""
        return self.trust.folder_of(*self._subject) if self.held else None

    @property
    def headers(self) -> list[str]:
        """The headers that the text includes from its folder."""
        return own_headers(*self._subject)

    @property
    def changed_outside(self) -> bool:
        """Whether another text of the file was allowed before."""
        return self.trust.allowed_before(self.path)

    def refresh(self) -> bool:
        """Look again whether the chosen text may run; return that."""
        kernel, before = self._choice.kernel, (self.held, self.asks)
        self.held = kernel.recordable and not self.trust.allows(kernel.path, kernel.text)
        if self.held or before != (self.held, self.asks):
            self.changed.emit()
        return not self.held

    def ask(self) -> None:
        """Ask again about a text that is only looked at."""
        self._looked.discard(self._key)
        self.refresh()

    def only_look(self) -> None:
        """Show the text, and run nothing of it."""
        if self.held:
            self._looked.add(self._key)
            self.changed.emit()

    def run(self) -> None:
        """Let the text run, now and later."""
        self._grant(lambda: self.trust.allow(*self._subject))

    def trust_folder(self) -> None:
        """Let the text run, with whatever stands in its folder now and later."""
        folder = self.folder
        if folder is not None:
            self._grant(lambda: self.trust.allow_folder(folder))

    @property
    def _subject(self) -> tuple[Path, str]:
        """What is asked about: the whole text, of which a declared change is a part."""
        kernel = self._choice.base if self._choice.breaks else self._choice.kernel
        return kernel.path, kernel.text

    @property
    def _key(self) -> tuple[Path, str]:
        """Once for each text of a file: edits of one that is only looked at are not asked about."""
        return self._choice.base.path, self._choice.base.text

    def _grant(self, act: Callable[[], None]) -> None:
        if not self.held:
            return
        try:
            act()
        except GemmvizError as error:
            self._messages.tell(Message(str(error), "warning", lasting=True))
        if self.refresh():
            self.granted.emit()
