"""The process between the engine and a stranger's text: it starts, watches and ends those that compile or run it.

It is forked from the engine before CUDA is used, and has only its end of a socket to the engine. If Linux allows it, it
is the first process of a new namespace: all processes that a kernel starts end with it at the latest. It does one job
at a time; each job runs in a new process that is confined before it reads any foreign text. The process for the next
kernel is forked while there is no job.
"""

import gc
import os
import pickle
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gemmviz.sandbox import heap, landlock, libc, limits, memory, namespaces, processes, rules, seccomp
from gemmviz.sandbox.landlock import Access
from gemmviz.sandbox.limits import Limits
from gemmviz.sandbox.spare import Spare

LENGTH = struct.Struct("<Q")
# Sent before a job of each kind, and to end the current one.
COMPILE, RUN, END = b"c", b"r", b"e"
_TICK_S = 0.04
# Share of the limit of processor time: the kernel's two clocks differ slightly.
_NEARLY = 0.95
# The limit of the output of a process that runs a kernel.
_MOST_PRINTED = 16 << 20
_MEMORY_SHARE = 0.9
_KEPT_VARIABLES = ("LANG", "LC_", "TZ", "OMP_", "PATH")


@dataclass(frozen=True)
class Compile:
    """A request to start a compiler. Two files are sent with it: for its standard output and error.

    Attributes
    ----------
    command, environment, folder
        The command, its environment variables, its folder.
    access
        The files and folders that it may open.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    access: Access


@dataclass(frozen=True)
class Run:
    """A request to call a function that runs a kernel.

    It is sent to the process itself, through the socket for the answer. The warden gets that socket and a file for the
    output, and memory for large arrays if there is some.

    Attributes
    ----------
    function
        Called as ``function(channel, memory, *arguments)``: the number of the socket, and that of the memory or None.
    arguments
        Plain data.
    library
        The compiled kernel: the only file that it may open beside those of the system.
    forks
        Whether it may make processes.
    before
        Called in the new process before it is confined, with the number of the socket.
    """

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    library: Path
    forks: bool
    before: Callable[[int], object]


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    Attributes
    ----------
    code
        Its exit code; below 0 the signal that ended it.
    why
        The resource whose limit ended it: see `gemmviz.sandbox.ends.too_much`. Or ``"asked"``.
    most
        The limit.
    """

    code: int
    why: str = ""
    most: int = 0


def main(control: socket.socket, given: Limits) -> None:
    """Do jobs until the engine has ended. Call this in a process that was forked for it; it does not return.

    Parameters
    ----------
    control
        This process's end of the socket.
    given
        Limits of each job.
    """
    keep(control.fileno())
    gc.freeze()  # keeps current objects unchanged, so that forked processes share them
    if namespaces.leave(network=not seccomp.offered()):
        first = os.fork()
        if first:
            control.close()
            with suppress(ChildProcessError):
                os.waitpid(first, 0)
            os._exit(0)
    else:
        with suppress(OSError):
            processes.adopt()
    with suppress(OSError):
        limits.drop_capabilities()
    if seccomp.offered():
        for forks in (True, False):
            seccomp.packed(seccomp.Filter.RUNNING, forks)
    rules.running()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    control.sendall(LENGTH.pack(namespaces.is_first()))
    ready = _spare(given)
    with suppress(EOFError, OSError):
        while True:
            _wait(control)
            job, descriptors = _receive(control)
            if job is None:
                pid = _started(ready, descriptors, given)
            else:
                ready.end()
                pid = _compiling(job, descriptors, given)
            ended = _watch(pid, job, control, woken, given)
            if namespaces.is_first():
                processes.end_all_but_first()
            else:
                processes.end_descendants()
            for descriptor in descriptors:
                os.close(descriptor)
            control.sendall(f"{ended.code} {ended.most} {ended.why}\n".encode())
            ready = _spare(given)  # the end of a job ends every other process
    os._exit(0)


def keep(*descriptors: int) -> None:
    """Close every file of this process except its standard ones and those named."""
    last = 2
    for descriptor in sorted(descriptors):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(last + 1, max(os.sysconf("SC_OPEN_MAX"), last + 1))


def _wait(control: socket.socket) -> None:
    """Wait for a message, and give freed memory back if there is none for a while."""
    if not select.select([control], [], [], heap.IDLE_S)[0]:
        heap.collect()


def _receive(control: socket.socket) -> tuple[Compile | None, list[int]]:
    """Return the next job and its files; None for a kernel's run, whose process reads the rest."""
    mark = END
    while mark == END:  # a message about a job that has ended already
        mark, descriptors, _, _ = socket.recv_fds(control, 1, 8)
    if mark == RUN:
        return None, descriptors
    if mark != COMPILE:
        raise EOFError
    job: Compile = message(control)
    return job, descriptors


def message(source: socket.socket) -> Any:
    """Read a job: its length, and the job as the engine has pickled it."""
    (length,) = LENGTH.unpack(_exactly(source, LENGTH.size))
    return pickle.loads(_exactly(source, length))


def _exactly(source: socket.socket, count: int) -> bytearray:
    body = bytearray(count)
    left = memoryview(body)
    while left:
        got = source.recv_into(left)
        if not got:
            raise EOFError
        left = left[got:]
    return body


def _started(ready: Spare[landlock.Rules | None], descriptors: Sequence[int], given: Limits) -> int:
    try:
        return ready.start(descriptors)
    except OSError:  # something has ended it
        ready.end()
        return _spare(given).start(descriptors)


def _spare(given: Limits) -> Spare[landlock.Rules | None]:
    return Spare(_waiting, partial(_run, given))


def _compiling(job: Compile, descriptors: Sequence[int], given: Limits) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            _compile(job, descriptors, given)
        finally:
            os._exit(127)
    return pid


def _watch(pid: int, job: Compile | None, control: socket.socket, woken: int, given: Limits) -> Ended:
    """Wait until a process ends, and end it when it exceeds a limit. `job` is None for a kernel's run."""
    most = given.memory_bytes or int(limits.free_memory() * _MEMORY_SHARE)
    until = time.monotonic() + given.compile_s if job else float("inf")
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    me = processes.own_listed_number()
    while True:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            cpu_s = given.compile_s if job else given.run_s
            # The limit may end a child of the compiler: then the compiler itself fails.
            of_child = job and code != 0 and used.ru_utime + used.ru_stime > _NEARLY * cpu_s
            return Ended(code, "processor time", cpu_s) if of_child or code == -signal.SIGXCPU else Ended(code)
        for descriptor, _ in poll.poll(_TICK_S * 1e3):
            if descriptor == woken:
                os.read(woken, 4096)
            elif control.recv(1) == END:
                return _end(pid, Ended(-signal.SIGKILL, "asked"))
            else:  # the engine has ended
                os._exit(0)
        below = processes.descendants(me)
        if len(below) > given.processes:
            return _end(pid, Ended(-signal.SIGKILL, "processes", given.processes))
        if memory.resident(below, most) > most:
            return _end(pid, Ended(-signal.SIGKILL, "memory", most))
        if time.monotonic() > until:
            return _end(pid, Ended(-signal.SIGKILL, "time", given.compile_s))


def _end(pid: int, ended: Ended) -> Ended:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    # It may have ended successfully in the meantime. If it failed, the limit is the reason, as it was exceeded before.
    return ended if code != 0 else Ended(code)


def _compile(job: Compile, descriptors: Sequence[int], given: Limits) -> None:
    output, errors = descriptors
    _stand_alone()
    _print_to(output, errors)
    try:
        os.chdir(job.folder)
        limits.lower(given.compile_s, given.file_bytes)
        confine(_rules(job.access), seccomp.Filter.COMPILING)
        os.execve(job.command[0], job.command, job.environment)
    except OSError as error:
        os.write(2, f"{job.command[0]}: {error.strerror}\n".encode())


def _waiting() -> landlock.Rules | None:
    """Prepare a process that will run a kernel, and return its rules; only the kernel's library is missing in them."""
    _stand_alone()
    for name in os.environ:
        if not name.startswith(_KEPT_VARIABLES):
            del os.environ[name]
    return _rules(rules.running())


def _rules(access: Access) -> landlock.Rules | None:
    if not landlock.version():
        return None
    allowed = landlock.Rules()
    allowed.allow(access)
    return allowed


def _run(given: Limits, allowed: landlock.Rules | None, descriptors: Sequence[int]) -> None:
    channel, printed, *memories = descriptors
    _print_to(printed, printed)
    keep(channel, *memories, *([] if allowed is None else [allowed.descriptor]))
    with socket.socket(fileno=os.dup(channel)) as asked:
        job: Run = message(asked)
    job.before(channel)
    limits.lower(given.run_s, min(_MOST_PRINTED, given.file_bytes))
    if allowed is not None:
        allowed.allow(Access(read=[job.library]))
    confine(allowed, seccomp.Filter.RUNNING, forks=job.forks)
    job.function(channel, memories[0] if memories else None, *job.arguments)
    os._exit(0)


def _stand_alone() -> None:
    """Leave the engine's session, input and signals, so that neither its terminal nor its group can be reached."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    with suppress(OSError):
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _print_to(output: int, errors: int) -> None:
    os.dup2(output, 1)
    os.dup2(errors, 2)


def confine(allowed: landlock.Rules | None, which: seccomp.Filter, *, forks: bool = True) -> None:
    """Confine this process with the mechanisms that Linux has. Missing mechanisms are in the report."""
    with suppress(OSError):
        limits.no_new_privs()
    if allowed is not None:
        allowed.apply()
    if seccomp.offered():
        seccomp.restrict(which, forks=forks)
