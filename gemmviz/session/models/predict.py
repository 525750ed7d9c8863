"""Predict mode: the audience guesses the next event before it is shown."""

from psygnal import Signal

from gemmviz.trace.quiz.questions import Question


class Predict:
    """Holds a question about the next event, and its answer; `gemmviz.session.rules.asking.Asking` makes questions."""

    changed = Signal()
    """The question, the answer, or its reveal."""
    toggled = Signal()
    """The questions have started or ended: `on`."""
    wanted = Signal()
    """Emitted when another question is wanted."""
    revealing = Signal(int)
    """The answer is revealed: the step of the event. Emitted before `changed`."""

    def __init__(self) -> None:
        self.on = False
        self.question: Question | None = None
        """The question; None while the session plays, and if no suitable event follows."""
        self.chosen: int | None = None
        """The answer that was chosen, from 0."""
        self.revealed = False
        self.right = self.answered = 0
        """Counts since the mode was turned on. They are not kept."""

    def toggle(self) -> None:
        """Start the questions, with counts from 0, or end them."""
        self.on = not self.on
        if self.on:
            self.right = self.answered = 0
        else:
            self.put(None)
        self.toggled.emit()

    def put(self, question: Question | None) -> None:
        """Ask a question without an answer; None: there is no question."""
        self.question, self.chosen, self.revealed = question, None, False
        self.changed.emit()

    def translate(self, question: Question | None) -> None:
        """Take the same question in another language; its answer stays."""
        self.question = question
        self.changed.emit()

    def answer(self, index: int) -> None:
        """Choose an answer, from 0; another one may be chosen until it is revealed."""
        if self.question is not None and not self.revealed and 0 <= index < len(self.question.answers):
            self.chosen = index
            self.changed.emit()

    def reveal(self) -> None:
        """Show the right answer at the event's step; if it is shown already, request a new question."""
        if self.question is None:
            return
        if self.revealed:
            self.wanted.emit()
            return
        self.revealed = True
        if self.chosen is not None:
            self.answered += 1
            self.right += self.chosen == self.question.right
        self.revealing.emit(self.question.step)
        self.changed.emit()
