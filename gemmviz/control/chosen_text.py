"""Whether the chosen text can be recorded or measured at all; where it cannot, a message gives the reason."""

from gemmviz.session import Message, Session


def is_kernel(session: Session) -> bool:
    """Return whether the text is a kernel; show a message with the reason where it is none."""
    fault = session.choice.fault
    if fault is not None:
        session.messages.tell(Message(str(fault), line=fault.line))
    return fault is None


def may_run(session: Session) -> bool:
    """Return whether the text may run; where it is open for reading only, put the question again."""
    if not session.permission.refresh():
        session.permission.ask()
    return not session.permission.held
