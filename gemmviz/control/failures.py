"""Messages about a failed run of the chosen kernel."""

from gemmviz.engine.messages import Failed
from gemmviz.language import tr
from gemmviz.session import Message
from gemmviz.session.models.choice import Choice


def failure(reply: Failed, choice: Choice) -> Message:
    """Return a message with the reason of a failed run; an edited text is named after its file."""
    if reply.kind == "cancelled":
        return Message(tr("Cancelled. What was finished before is kept."), "info")
    text = reply.message.replace(choice.kernel.path.name, choice.base.path.name)
    named = any(f"{before}{reply.line}" in text for before in ("line ", ":"))
    if reply.line and not named:
        text = tr("line {line}: {what}", line=reply.line, what=text)
    return Message(text, "warning" if reply.kind == "refused" else "error", reply.line)
