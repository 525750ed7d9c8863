"""The engine's side of the sandbox: passes texts to the compiler, and libraries to processes that run them.

If no warden was started (macOS, Windows, a test that calls the recorder itself) the work is done in the caller's
process: `active` returns whether there is a warden.
"""

import gc
import os
import pickle
import secrets
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import BuildError, KernelFault
from gemmviz.language import language, tr
from gemmviz.sandbox import answering, libc, output, processes, warden, wire
from gemmviz.sandbox.ends import by_signal, too_much
from gemmviz.sandbox.landlock import Access
from gemmviz.sandbox.limits import Limits
from gemmviz.sandbox.result_memory import NotSealed, ResultMemory
from gemmviz.sandbox.warden import LENGTH, Ended

_MOST_SHOWN = 1 << 20
_MOST_CARRIED = 8 << 30


class Died(KernelFault):
    """A process that ran a kernel ended without an answer."""


@dataclass
class _State:
    control: socket.socket | None = None
    scratch: Path = Path()
    first: bool | None = None
    running: int = 0
    ending: "Session | None" = None


_state = _State()


def start(scratch: Path, given: Limits) -> None:
    """Start the warden, once. Call it before this process uses CUDA: after that it must not be forked.

    Parameters
    ----------
    scratch
        A folder that belongs to this process alone.
    given
        Limits of each job.
    """
    if _state.control is not None or not libc.LINUX:
        return
    with suppress(OSError):  # if the warden ends first, its children become children of this process
        processes.adopt()
    ours, theirs = socket.socketpair()
    gc.freeze()  # a collection would write to every object, and Linux copies each page that is then written
    if os.fork() == 0:
        try:
            warden.main(theirs, given)
        finally:
            os._exit(1)
    theirs.close()
    _state.control, _state.scratch = ours, scratch


def active() -> bool:
    """Whether there is a warden, so that foreign text is neither compiled nor run in this process."""
    return _state.control is not None


def has_namespace() -> bool:
    """Whether the warden's processes have a namespace of their own."""
    _ready()
    return bool(_state.first)


def _ready() -> socket.socket:
    """Wait until the warden has started, and return the socket to it. Until then this process can do other work."""
    control = _state.control
    assert control is not None
    if _state.first is None:
        (first,) = LENGTH.unpack(_exactly(control, LENGTH.size))
        _state.first = bool(first)
    if _state.ending is not None:
        _state.ending.close()
    return control


def running() -> list[int]:
    """Return the processes that currently run a kernel for this process, by their numbers in /proc."""
    return [_state.running] if _state.running else []


def scratch() -> Path | None:
    """Return the folder for temporary files of this process; None if there is no warden."""
    return _state.scratch if active() else None


@dataclass(frozen=True)
class Compiled:
    """A compiler's output, and its exit status."""

    code: int
    output: str
    errors: str
    stopped: str = ""


def compile_with(
    command: Sequence[str], environment: dict[str, str], folder: Path, access: Access, most: int = _MOST_SHOWN
) -> Compiled:
    """Start a compiler on a stranger's text.

    Parameters
    ----------
    command
        The program, by its path, and its arguments.
    environment
        Its environment variables.
    folder
        Its working folder.
    access
        The files and folders that it may open.
    most
        The largest number of bytes that are read of its output, and of its errors.
    """
    with tempfile.TemporaryFile(dir=_state.scratch) as output, tempfile.TemporaryFile(dir=_state.scratch) as errors:
        job = warden.Compile(tuple(command), environment, str(folder), access)
        _submit(warden.COMPILE, [output.fileno(), errors.fileno()]).sendall(_packed(job))
        ended = _ended()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read(most).decode(errors="replace"))
    return Compiled(ended.code, texts[0], texts[1], too_much(ended.why, ended.most) if ended.why else "")


class Session:
    """A process that runs a kernel and answers questions until it is closed.

    Parameters
    ----------
    answer
        Called in that process with `arguments`; returns the function that answers questions: it takes a name and
        further arguments.
    arguments
        Plain data.
    library
        The compiled kernel.
    classes
        The dataclasses and exceptions that an answer may contain.
    forks
        Whether the process may create child processes.
    before
        Called in that process before it is confined.
    result_bytes
        The size of memory for large arrays of the last answer, which `result_memory.zeros` makes in that process. They
        are not copied. With 0 all arrays are copied.
    """

    def __init__(
        self,
        answer: Callable[..., Callable[..., Any]],
        arguments: tuple[Any, ...],
        library: Path,
        classes: Sequence[type],
        *,
        forks: bool = False,
        before: Callable[[], object] | None = None,
        result_bytes: int = 0,
    ) -> None:
        self._left: ResultMemory | None = None
        if result_bytes:
            with suppress(OSError):  # then arrays are copied
                self._left = ResultMemory.of(result_bytes)
        self._classes = {kind.__name__: kind for kind in (*classes, *_FAULTS)}
        self._token = secrets.token_bytes(wire.TOKEN_BYTES)
        self._memory: wire.Memory | None = None
        self._printed = tempfile.TemporaryFile(dir=_state.scratch)  # noqa: SIM115 (closed with the session)
        self._ended: Ended | None = None
        ours, theirs = socket.socketpair()
        self._channel = ours
        given = self._token, language(), tuple(self._classes.values()), answer, arguments
        introduce = partial(answering.introduce, self._token, before)
        job = warden.Run(answering.serve, given, library, forks, introduce)
        left_at = [] if self._left is None else [self._left.descriptor]
        with theirs:
            _submit(warden.RUN, [theirs.fileno(), self._printed.fileno(), *left_at])
        try:
            ours.sendall(_packed(job))
        except OSError:
            raise self._cause_of_end() from None
        _state.running, address = self._receive()
        memory = wire.Memory(_state.running)
        with suppress(OSError):  # if Linux does not allow it, arrays are sent through the pipe
            if memory.read(address, wire.TOKEN_BYTES).tobytes() == self._token:
                self._memory = memory

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question.

        Raises
        ------
        Died
            When the process ended by itself, or was killed.
        Exception
            The exception that was raised there.
        """
        try:
            self._channel.sendall(_packed((self._memory is not None, name, arguments)))
        except OSError:
            raise self._cause_of_end() from None
        answer = self._receive()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask_last(self, name: str, *arguments: Any) -> Any:
        """Return the answer to the last question, and end the process. Its end is usually not waited for.

        Raises
        ------
        Died, Exception
            See `ask`; also when a process that it started could not be ended.
        """
        try:
            answer = self.ask(name, *arguments)
        except BaseException:
            self.close()
            raise
        self.leave()
        if self._left is not None:
            self._seal(self._left)
        return answer

    def _seal(self, left: ResultMemory) -> None:
        try:
            try:
                left.seal()
            except NotSealed:  # a process of the run still has the memory
                self.close()
                left.seal()
        except NotSealed:
            text = tr("a process that it started could not be ended: no part of this run can be trusted")
            raise Died(text) from None
        finally:
            left.close()

    def close(self) -> None:
        """End the process, and all processes that it has started."""
        self._settle()

    def leave(self) -> None:
        """End the process, and all processes that it has started, but do not wait for that: the next job does."""
        if self._ended is None:
            self._ask_to_end()
            self._pass_on()
            _state.ending = self

    def _receive(self) -> Any:
        try:
            return wire.receive(
                self._channel.fileno(), self._token, self._classes, _MOST_CARRIED, self._memory, self._left
            )
        except wire.Malformed:
            self.close()
            raise Died(tr("it wrote to the channel for its result: no part of this run can be trusted")) from None
        except (EOFError, OSError):
            raise self._cause_of_end() from None

    def _cause_of_end(self) -> Died:
        ended = self._settle()
        if ended.why == "asked":
            return Died(tr("it closed the channel for its result"))
        if ended.why:
            return Died(too_much(ended.why, ended.most))
        if ended.code < 0:
            return Died(by_signal(-ended.code))
        return Died(tr("the process that ran it ended with exit code {code}", code=ended.code))

    def _settle(self) -> Ended:
        if self._ended is None:
            if _state.ending is self:
                _state.ending = None
            else:
                self._ask_to_end()
            self._ended = _ended()
            self._pass_on()
        return self._ended

    def _pass_on(self) -> None:
        if not self._printed.closed:
            output.pass_on(self._printed)
            self._printed.close()

    def _ask_to_end(self) -> None:
        self._channel.close()
        _state.running = 0
        assert _state.control is not None
        _state.control.sendall(warden.END)


def call(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    library: Path,
    classes: Sequence[type],
    *,
    forks: bool = False,
    before: Callable[[], object] | None = None,
    result_bytes: int = 0,
) -> Any:
    """Call a function that runs a kernel, in its own process, and return its result; see `Session`.

    Parameters
    ----------
    function, arguments
        The function, and its arguments: plain data.
    library, classes, forks, before
        See `Session`.
    result_bytes
        See `Session`: the result is the last answer.

    Raises
    ------
    Died
        When the process ended by itself, or was killed; also when a process that it started could not be ended.
    Exception
        The exception that `function` raised.
    """
    given = function, arguments
    session = Session(answering.once, given, library, classes, forks=forks, before=before, result_bytes=result_bytes)
    return session.ask_last("")


_FAULTS: tuple[type, ...] = (BuildError, KernelFault, MemoryError, RuntimeError)


def _submit(kind: bytes, files: Sequence[int]) -> socket.socket:
    control = _ready()
    socket.send_fds(control, [kind], files)
    return control


def _packed(plain: Any) -> bytes:
    body = pickle.dumps(plain, protocol=5)
    return LENGTH.pack(len(body)) + body


def _ended() -> Ended:
    assert _state.control is not None
    line = b""
    while not line.endswith(b"\n"):
        line += _exactly(_state.control, 1)
    code, most, why = line.decode().rstrip("\n").split(" ", 2)
    return Ended(int(code), why, int(most))


def _exactly(source: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = source.recv(count - len(found))
        if not part:
            raise RuntimeError("the sandbox's own process has ended")
        found += part
    return found
