"""Messages about runs that have failed, or that cannot begin."""

from gemmviz.engine.messages import Failed
from gemmviz.language import tr
from gemmviz.session import Message
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.messages import Messages


def failure(reply: Failed, choice: Choice) -> Message:
    """Return a message with the reason of a failed run; an edited text is named after its file."""
    if reply.kind == "cancelled":
        return Message(tr("Cancelled. What was finished before is kept."), "info")
    text = reply.message.replace(choice.kernel.path.name, choice.base.path.name)
    return Message(with_line(text, reply.line), "warning" if reply.kind == "refused" else "error", reply.line)


def with_line(text: str, line: int | None) -> str:
    """Return a text that begins with its line, unless the line is unknown or the text names it."""
    if not line or any(f"{before}{line}" in text for before in ("line ", ":")):
        return text
    return tr("line {line}: {what}", line=line, what=text)


def tell_busy(messages: Messages) -> None:
    """Show a message that another measurement is in progress."""
    messages.tell(Message(tr("Something is being measured: wait for it, or cancel it first."), "info"))
