"""The question whether a text from another source may run. It covers the stage until it is answered."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.language import tr, trn
from gemmviz.session import Answer, Message
from gemmviz.session.models.messages import Messages
from gemmviz.session.models.permission import Permission
from gemmviz.ui.connections import listen
from gemmviz.ui.look.style import scaled

_WIDTH = 560
_MOST_NAMES = 6
_BEGIN, _END = 22, 14  # letters of a long file name that are shown


class RunQuestion(QFrame):
    """Covers the stage while the chosen text may not run. It shows the question, or the note "only looked at".

    Parameters
    ----------
    permission
        The permission in question.
    messages
        The message bar for replies to menu commands.
    stage
        The stage under it, which is empty as long as no text has run.
    is_guessed
        Returns whether the launch of the text in question is a guess.
    """

    def __init__(
        self, permission: Permission, messages: Messages, stage: QWidget, is_guessed: Callable[[], bool]
    ) -> None:
        super().__init__(stage)
        self._permission, self._messages, self._stage = permission, messages, stage
        self._is_guessed = is_guessed
        self.setObjectName("question")
        self.setAccessibleName(tr("May this text run?"))
        self.title, self.text, self.details = QLabel(), QLabel(), QLabel()
        self.title.setObjectName("title")
        self.details.setObjectName("muted")
        self.look_button, self.run_button = QPushButton(tr("Only look")), QPushButton(tr("Run it"))
        self.folder_button = QPushButton(tr("Trust this folder"))
        self.run_button.setObjectName("primary")
        self._read_out = ""
        self._arrange()
        self.run_button.clicked.connect(lambda *_: self._run())
        self.look_button.clicked.connect(lambda *_: self._look())
        self.folder_button.clicked.connect(lambda *_: self._trust_folder())
        listen(self, permission.changed, self._show)
        self._show()

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        for button in (self.run_button, self.look_button, self.folder_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        middle = QWidget()
        middle.setMaximumWidth(round(scaled(_WIDTH)))
        column = QVBoxLayout(middle)
        column.setSpacing(6)
        column.addStretch(1)
        for label in (self.title, self.text, self.details):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        column.addLayout(buttons)
        column.addStretch(2)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.addStretch(1)
        row.addWidget(middle, 8)
        row.addStretch(1)
        self.setGeometry(self._stage.rect())
        self._stage.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cover the stage at any size."""
        if event.type() == QEvent.Type.Resize and watched is self._stage:
            self.setGeometry(self._stage.rect())
        return False

    def ask(self) -> None:
        """Repeat the question about a text that is only looked at."""
        permission = self._permission
        if permission.refresh():
            self._messages.tell(Message(tr("The chosen text may already run."), "info"))
            return
        permission.ask()
        self.look_button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def tell_trusted(self) -> None:
        """List the texts that may run besides those of gemmviz, and offer to forget them."""
        kept = self._permission.trust.kept
        if kept.fault:
            self._messages.tell(Message(kept.fault, "warning", lasting=True))
            return
        if not kept.texts and not kept.folders:
            message = tr("Only the texts that come with gemmviz, and those that you type in this window, are trusted.")
            self._messages.tell(Message(message, "info", lasting=True))
            return
        count = trn("{count} text may run", "{count} texts may run", len(kept.texts))
        folders = trn("and {count} trusted folder", "and {count} trusted folders", len(kept.folders))
        names = [*map(str, kept.folders), *(text.file for text in kept.texts)]
        more = "…" if len(names) > _MOST_NAMES else ""
        message = f"{count}, {folders}: {', '.join(names[:_MOST_NAMES])}{more}\n"
        message += tr("`gemmviz trust` lists them, and forgets single ones.")
        forget = Answer(tr("Forget all"), self._forget)
        self._messages.tell(Message(message, "info", answers=(forget,), lasting=True))

    def _forget(self) -> None:
        self._permission.trust.forget()
        self._permission.refresh()
        self._messages.tell(
            Message(tr("Forgotten. gemmviz asks again before it runs a text that you open."), "info", lasting=True)
        )

    def _run(self) -> None:
        self._permission.run()

    def _look(self) -> None:
        permission = self._permission
        if permission.asks:
            permission.only_look()
            self._stage.setFocus(Qt.FocusReason.OtherFocusReason)

    def _trust_folder(self) -> None:
        self._permission.trust_folder()

    def _show(self) -> None:
        permission = self._permission
        focus = self.window().focusWidget()  # also while a dialog has the keyboard: the window gets it back afterwards
        had_focus = focus is not None and self.isAncestorOf(focus)
        self.setVisible(permission.held)
        if not permission.held:
            self._read_out = ""
            if had_focus:
                self._stage.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.raise_()
        self._say()
        if self.accessibleDescription() != self._read_out:
            self._read_out = self.accessibleDescription()
            self._take_focus()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def _take_focus(self) -> None:
        """Put the focus on the answer without an effect, unless the user is typing."""
        if self._permission.asks and not isinstance(QApplication.focusWidget(), QPlainTextEdit):
            self.look_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say(self) -> None:
        permission = self._permission
        file, folder, asks = _in_a_line(permission.file), permission.folder, permission.asks
        self.look_button.setVisible(asks)
        self.folder_button.setVisible(asks and folder is not None)
        if not asks:
            self.title.setText(tr("Only looked at: {file}", file=file))
            self.text.setText(tr("It was neither compiled nor run. Its source is on the right."))
            self.details.setText(tr("“Run it” compiles it and runs it on this machine."))
        else:
            self.title.setText(tr("{file} has not run yet", file=file))
            self.text.setText(self._reason())
            self.details.setText("\n".join(self._details()))
        self.details.setVisible(bool(self.details.text()))
        text = " ".join((self.title.text() + ".", self.text.text(), self.details.text()))
        self.setAccessibleDescription(text)
        for button in (self.run_button, self.look_button, self.folder_button):
            button.setAccessibleDescription(text)

    def _reason(self) -> str:
        permission = self._permission
        if permission.changed_outside:
            why = tr("Its text has changed since you allowed it to run.")
        else:
            why = tr("It does not come with gemmviz, and you have not allowed it before.")
        return (
            why
            + " "
            + tr(
                "“Run it” compiles this text and runs it on this machine, now and later. "
                "“Only look” shows the source and runs nothing."
            )
        )

    def _details(self) -> list[str]:
        permission, texts = self._permission, []
        if permission.headers:
            names = ", ".join(permission.headers[:_MOST_NAMES]) + ("…" if len(permission.headers) > _MOST_NAMES else "")
            texts.append(tr("It includes from its folder: {files}.", files=names))
        folder = permission.folder
        if folder is None and self._is_guessed():
            text = tr(
                "The guess of its launch is shown below the text, and is not in the file. So only this text can be "
                "allowed. To allow its folder, and each later change, save the guess in the file: Ctrl+G, then "
                "Ctrl+Alt+S."
            )
            texts.append(text)
        elif folder is None:
            texts.append(
                tr(
                    "This text differs from the file: it was changed here, front matter was added, or it came with a "
                    "saved state. So only this text can be allowed, not its whole folder."
                )
            )
        else:
            texts.append(
                tr(
                    "“Trust this folder”: every file in {folder} may run without a question, also after it changes.",
                    folder=folder,
                )
            )
        return texts


def _in_a_line(name: str) -> str:
    """Return the name of a file, without its middle where it is long: a word without spaces has no second line."""
    return name if len(name) <= _BEGIN + _END else f"{name[:_BEGIN]}…{name[-_END:]}"
