"""The first recording of a window, kept in the user's cache until anything that it was made from or with has changed.

Only recordings of unchanged kernels that come with gemmviz are kept. A stranger's kernel cannot write into this folder.
"""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gemmviz import __version__, data
from gemmviz.backends import compiler, zig
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.includes import VARIABLE as INCLUDES
from gemmviz.catalogue.kernel import read
from gemmviz.engine import framing
from gemmviz.engine.consent import Consent, refused
from gemmviz.engine.messages import Recorded, RecordRequest, Reply, Request
from gemmviz.engine.supervisor import Engine
from gemmviz.language import language
from gemmviz.sandbox import kept

_VARIABLES = (compiler.VARIABLE, INCLUDES)
_FOLDER, _SUFFIX = "first", ".recording"
_MOST_BYTES, _MOST_FILES = 4 << 20, 32
# The code that a recording is made with; the kernels' folder has their headers, too.
_CODE = ("backends", "catalogue", "checking", "engine", "sandbox", "simt", "trace")
# So long after the first recording the engine's process starts, to be ready for the next one.
_LOOK_S = 1.0


class FirstFromCache(Engine):
    """An engine whose first recording is taken from the cache if it is there, and kept there if it is not.

    The process is then started a moment later, while the user looks at the recording.
    """

    def __init__(self, consent: Consent) -> None:
        super().__init__(consent)
        self._asks_before = consent
        self._is_first = True

    def prepare_for(self, request: RecordRequest) -> None:
        """Start the process now, unless the recording is in the cache. Call it before `run`."""
        if not is_kept(request):
            self.prepare()

    def run(self, request: Request, cancel: threading.Event) -> Iterator[Reply]:
        """See `Engine.run`."""
        first, self._is_first = self._is_first, False
        if not first or not isinstance(request, RecordRequest) or refused(request, self._asks_before):
            yield from super().run(request, cancel)
            return
        known = find(request)
        if known is not None:
            yield known
            if not cancel.wait(_LOOK_S) and self.pid is None:
                self.prepare()
            return
        for reply in super().run(request, cancel):
            yield reply
            if isinstance(reply, Recorded):
                keep(request, reply)


def is_kept(request: RecordRequest) -> bool:
    """Return whether the recording of a request seems to be in the cache; `find` also reads it."""
    with suppress(OSError, GemmvizError):
        return _is_shipped(request) and kept.find(_folder(), _name(request)) is not None
    return False


def find(request: RecordRequest) -> Recorded | None:
    """Return the reply to a request from the cache; None if it is not there, or if it is damaged."""
    try:
        file = kept.find(_folder(), _name(request)) if _is_shipped(request) else None
        if file is None:
            return None
        with file.open("rb") as source:
            reply = framing.Receiver(source.fileno(), (Recorded,)).receive(None)
    except (OSError, EOFError, framing.NotAMessage, GemmvizError):
        return None
    return replace(reply, run=request.run) if isinstance(reply, Recorded) else None


def keep(request: RecordRequest, reply: Recorded) -> None:
    """Keep the reply to a request; where nothing can be written, it is recorded again the next time."""
    with suppress(OSError, GemmvizError):
        if not _is_shipped(request):
            return
        folder = _folder()
        made = folder / f".{os.getpid()}{_SUFFIX}"
        try:
            with made.open("wb") as target:
                framing.send(target.fileno(), reply)
            if made.stat().st_size <= _MOST_BYTES:
                kept.keep(made, folder, _name(request))
        finally:
            made.unlink(missing_ok=True)
        _drop_oldest(folder)


def _drop_oldest(folder: Path) -> None:
    files = sorted(folder.glob(f"[!.]*{_SUFFIX}"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in files[_MOST_FILES:]:
        (folder / file.name.partition("-")[0]).with_suffix(kept.NOTE).unlink(missing_ok=True)
        file.unlink(missing_ok=True)


def _folder() -> Path:
    return data.cache_folder(_FOLDER)[0]


def _is_shipped(request: RecordRequest) -> bool:
    path = Path(request.path)
    return data.root("kernels") in path.parents and read(path) == request.text


def _name(request: RecordRequest) -> str:
    """Return a digest of all that a recording depends on: the request, the code and the compiler."""
    asked = replace(request, run=0, language=language())
    surroundings = [__version__, zig.processor(), _compiler(), *(os.environ.get(name, "") for name in _VARIABLES)]
    digest = hashlib.sha256(repr((asked, surroundings)).encode())
    package = Path(__file__).parent.parent
    for folder in (data.root("kernels"), *(package / name for name in _CODE)):
        for line in sorted(_files(str(folder))):
            digest.update(line.encode())
    return digest.hexdigest()


def _compiler() -> str:
    """Return a line for the compiler: its path, its size, and the time of its last change."""
    program = compiler.program()
    if program is None:
        return ""
    found = program.stat()
    return f"{program} {found.st_size} {found.st_mtime_ns}"


def _files(folder: str) -> Iterator[str]:
    """Yield a line for each file in a folder and below: its path, its size, and the time of its last change."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                found = entry.stat()
                yield f"{entry.path} {found.st_size} {found.st_mtime_ns}\n"
