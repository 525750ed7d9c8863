"""Whether the chosen text can be recorded or measured; if not, a message gives the reason."""

from gemmviz.session import Message, Session


def is_kernel(session: Session) -> bool:
    """Return whether the text is a kernel; if not, show a message with the reason."""
    fault = session.choice.fault
    if fault is not None:
        session.messages.tell(Message(str(fault), line=fault.line))
    return fault is None


def may_run(session: Session) -> bool:
    """Return whether the text may run; if it is open for reading only, ask the question again."""
    if not session.permission.refresh():
        session.permission.ask()
    return not session.permission.held
