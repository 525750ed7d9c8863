"""Puts a user's kernel on the list, also where another file of the same name is on it: a name has one kernel."""

from functools import partial
from pathlib import Path

from gemmviz.catalogue.kernel import Kernel
from gemmviz.language import tr
from gemmviz.session import Answer, Message, Session


def add(session: Session, kernel: Kernel, on_file: str | None = None) -> bool:
    """Put a kernel on the list and choose it; where its name is taken by another file, offer to put it in its place.

    Parameters
    ----------
    session
        The session with the list.
    kernel, on_file
        The kernel, and the text in its file if it is not the kernel's text.

    Returns
    -------
    bool
        Whether it is on the list.

    Raises
    ------
    GemmvizError
        When its name is that of a kernel of gemmviz, or of a file with edits that are not saved.
    """
    choice = session.choice
    other = choice.namesake(kernel)
    if other is None or choice.unsaved(other):
        choice.add_kernel(kernel, on_file)
        return True
    text = tr(
        "The list has a kernel named {name} already, of the file in {folder}. The file in {here} can take its place; "
        "or rename one of them to have both.",
        name=kernel.name,
        folder=_short(other.path.parent),
        here=_short(kernel.path.parent),
    )
    instead = Answer(tr("Open it instead"), partial(choice.add_instead, kernel, other, on_file))
    session.messages.tell(Message(text, "warning", answers=(instead,), lasting=True))
    return False


def _short(folder: Path) -> str:
    """Return the last two parts of a folder's path."""
    return "/".join(folder.parts[-2:])
