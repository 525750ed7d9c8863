"""Reports which mechanisms are in force."""

from dataclasses import dataclass

from gemmviz.language import tr
from gemmviz.sandbox import confined, landlock
from gemmviz.sandbox.engine import applied


@dataclass(frozen=True)
class Mechanism:
    """One mechanism that confines a stranger's kernel.

    Attributes
    ----------
    name
        Its name.
    on
        Whether it is in force.
    says
        Its effect, or the consequence without it, as text for people.
    """

    name: str
    on: bool
    says: str


def report() -> list[Mechanism]:
    """Return the mechanisms in force in this process and in those that compile and run kernels for it."""
    if not confined.active():
        text = tr("none: a kernel runs with all rights of this user; open only files of people you trust")
        return [Mechanism(tr("Sandbox"), False, text)]
    keeps = landlock.keeps()
    files = Mechanism(
        tr("Sandbox, files"),
        applied.files,
        tr(
            "Landlock {version}: a kernel changes no file and reads only its own library and the system's",
            version=landlock.version(),
        )
        if applied.files
        else tr("this Linux has no Landlock: a kernel can read and change all files of this user"),
    )
    calls = Mechanism(
        tr("Sandbox, system calls"),
        applied.calls,
        tr("seccomp: no sockets, no other programs, no changes to other processes")
        if applied.calls
        else tr("this Linux has no system call filters: a kernel can start programs"),
    )
    namespace = confined.has_namespace()
    sockets = applied.calls or namespace
    if not sockets and keeps["tcp"] and applied.files:
        text = tr("Landlock refuses TCP; other sockets are open")
    elif sockets:
        text = tr("refused")
    else:
        text = tr("a kernel can open connections")
    network = Mechanism(tr("Sandbox, network"), sockets, text)
    ends = Mechanism(
        tr("Sandbox, processes"),
        True,
        tr("a separate namespace: processes that a kernel starts end with its run")
        if namespace
        else tr("processes that a kernel starts are found and ended with its run (this Linux has no namespaces)"),
    )
    signals = Mechanism(
        tr("Sandbox, signals"),
        namespace or (keeps["signals"] and applied.files),
        tr("a kernel can send signals to its own processes only")
        if namespace or (keeps["signals"] and applied.files)
        else tr("a kernel can end other programs of this user"),
    )
    text = tr("memory, processes, processor time and file size are limited")
    memory = Mechanism(tr("Sandbox, memory and time"), True, text)
    return [files, calls, network, ends, signals, memory]
