"""Sends the texts of a request to another machine, and restores them there."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.includes import VARIABLE
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.cluster.piece import MOST_FILES, SentFile, SentKernel, SentSources
from gemmviz.engine.consent import Source, base_path, sources
from gemmviz.engine.messages import (
    AssembleRequest,
    BenchRequest,
    CheckRequest,
    CountRequest,
    ProbeRequest,
    ProfileRequest,
    RecordRequest,
    Request,
    TuneRequest,
)
from gemmviz.language import tr
from gemmviz.sandbox.scratch import needed


class SentTexts:
    """Consent for the texts that a piece brings, by their SHA-256: naming a kernel on the sender's command line.

    Parameters
    ----------
    sent
        Path and text of each kernel, as restored on this machine.
    """

    def __init__(self, sent: Iterable[Source]) -> None:
        self._known = {path: digest(text) for path, text in sent}

    def allows(self, path: Path, text: str) -> bool:
        """See `gemmviz.engine.consent.Consent`."""
        return self._known.get(path) == digest(text)


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def collected(request: Request, shipped: Iterable[Kernel]) -> tuple[Request, SentSources]:
    """Return a request without its texts, and the texts with all that they need.

    Parameters
    ----------
    request
        The request.
    shipped
        The ladder: of these kernels only the name and the digest are sent.

    Raises
    ------
    GemmvizError
        When there are too many headers.
    """
    name_of = {kernel.path: kernel.name for kernel in shipped}
    kernels: dict[Path, SentKernel] = {}
    files: dict[Path, SentFile] = {}
    repositories: set[Path] = set()
    for path, text in sources(request):
        if path in kernels:
            continue
        base = base_path(path) or path
        name = name_of.get(path) or (name_of[base] + path.stem[len(base.stem) :] if base in name_of else "")
        at = Path(os.path.abspath(path))  # noqa: PTH100 (a link stays as it is: the headers are beside its name)
        kernels[path] = SentKernel(str(path), digest(text), name, "" if name else text)
        if name:
            continue
        for file, content in needed(at, text):
            files[file] = SentFile(str(file), content)
        repositories |= {folder for folder in at.parents if (folder / ".git").exists()}
    if len(files) > MOST_FILES:
        raise GemmvizError(tr("the kernels include {count} files: too many to send", count=len(files)))
    include = [folder for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    sent = SentSources(list(kernels.values()), list(files.values()), sorted(map(str, repositories)), include)
    return _with(request, lambda path: (path, "")), sent


def restored(request: Request, sent: SentSources, folder: Path) -> tuple[Request, SentTexts]:
    """Return a request with its texts, and the consent for these.

    Parameters
    ----------
    request, sent
        From `collected`.
    folder
        An empty folder. The files that are not shipped are written into it, each below its own path.

    Raises
    ------
    GemmvizError
        When this machine has another text of a shipped kernel, or a text is damaged.
    OSError
        When the files cannot be written.
    """
    known = ladder()
    names = {kernel.name for kernel in known}
    placed: dict[str, Source] = {}
    for one in sent.kernels:
        if one.name:
            if one.name.partition("~")[0] not in names:
                raise GemmvizError(
                    tr("there is no kernel {name}: install the same gemmviz on both machines", name=one.name)
                )
            kernel = find(one.name, known)
            path, text = kernel.path, kernel.text
        else:
            path, text = below(folder, one.path), one.text
            _write(path, text.encode("utf-8", "surrogatepass"))
        if digest(text) != one.sha256:
            raise GemmvizError(
                tr(
                    "{kernel} has another text there: install the same gemmviz on both machines",
                    kernel=one.name or Path(one.path).name,
                )
            )
        placed[one.path] = path, text
    for file in sent.files:
        _write(below(folder, file.path), file.content)
    for repository in sent.repositories:
        (below(folder, repository) / ".git").mkdir(parents=True, exist_ok=True)
    return _with(request, lambda path: _found(placed, path)), SentTexts(placed.values())


@contextmanager
def include_folders(sent: SentSources, folder: Path) -> Iterator[None]:
    """Search the sender's further folders for headers, in this process and its child processes, while it is entered."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = os.pathsep.join(str(below(folder, one)) for one in sent.include)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def below(folder: Path, path: str) -> Path:
    """Return the place of another machine's file below a folder.

    Raises
    ------
    GemmvizError
        When the path would leave the folder.
    """
    at = os.path.abspath(path)  # noqa: PTH100 (removes "..", and asks no file system)
    if "\0" in path:
        raise GemmvizError(tr("{path} is not a path", path=repr(path)))
    return folder / os.path.relpath(at, "/")


def _found(placed: Mapping[str, Source], path: str) -> tuple[str, str]:
    if path not in placed:
        raise GemmvizError(tr("the text of {file} was not sent", file=Path(path).name))
    at, text = placed[path]
    return str(at), text


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _with(request: Request, change: Callable[[str], tuple[str, str]]) -> Request:
    """Return a request in which each kernel has the path and the text that `change` returns for its path."""

    def entry(one: Any) -> Any:
        if "path" not in one:
            return one
        path, text = change(one["path"])
        return one | {"path": path, "text": text}

    match request:
        case RecordRequest() | CheckRequest() | TuneRequest() | AssembleRequest():
            path, text = change(request.path)
            return replace(request, path=path, text=text)
        case BenchRequest():
            return replace(request, kernels=[entry(one) for one in request.kernels])
        case ProfileRequest() | CountRequest():
            return replace(request, launches=[entry(one) for one in request.launches])
        case ProbeRequest():
            return request
