"""The user's consent to compile and run source texts: an engine refuses every request with another text.

A text may come with an e-mail, in a state file or in a lesson. If it is compiled, it may run, or read files. Therefore
the code that creates an engine passes the user's consent: `Named` for a command with the texts in its arguments,
`Described` for a text whose front matter is being guessed, `gemmviz.session.trust.trust.Trust` for a window.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel, parse
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

Source = tuple[Path, str]
"""The file of a text, existing or not, and the text."""
LIBRARY = ".toml"
"""The suffix of a rung that is a library call: its file contains no code."""


class Consent(Protocol):
    """Decides which texts may run."""

    def allows(self, path: Path, text: str) -> bool:
        """Return whether a text may be compiled and run; called from any thread.

        Parameters
        ----------
        path
            The file of the text: its suffix gives the language, and its folder contains the text's own headers.
        text
            The whole source, front matter included.
        """


class Named:
    """Allows some kernels and the changes that they declare: naming a kernel on the command line is consent.

    Parameters
    ----------
    kernels
        The named kernels.
    """

    def __init__(self, kernels: Iterable[Kernel] = ()) -> None:
        self._texts = {kernel.path: kernel.text for kernel in kernels}

    def allows(self, path: Path, text: str) -> bool:
        """See `Consent`."""
        if self._texts.get(path) == text:
            return True
        base = base_path(path)
        return base in self._texts and is_change(path, text, self._texts[base])


class Described:
    """Allows one source text with any front matter on top of it.

    Parameters
    ----------
    path, text
        The file without front matter.
    """

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text.removeprefix("\ufeff")

    def allows(self, path: Path, text: str) -> bool:
        """See `Consent`."""
        above = text.removesuffix(self._text)
        only_comments = all(line.startswith("//") for line in above.splitlines() if line.strip())
        return path == self._path and text.endswith(self._text) and only_comments


def base_path(path: Path) -> Path | None:
    """Return the kernel's file for the file name of a variant; None if it is not a variant."""
    stem, mark, _ = path.stem.partition("~")
    return path.with_stem(stem) if mark and stem else None


def is_change(path: Path, text: str, base: str) -> bool:
    """Return whether a text is that of a kernel with the declared changes in the file name.

    Parameters
    ----------
    path, text
        The variant: ``30_gputiled~no-second-barrier.cu``.
    base
        The kernel's own text.
    """
    at = base_path(path)
    if at is None:
        return False
    try:
        variant = broken(parse(base, at), path.stem.partition("~")[2].split("+"))
    except GemmvizError:
        return False
    return variant.path == path and variant.text == text


def sources(request: Request) -> list[Source]:
    """Return every text that a request would compile or run.

    Raises
    ------
    TypeError
        For a request of an unknown type: no part of it may run.
    """
    match request:
        case RecordRequest() | CheckRequest() | TuneRequest() | AssembleRequest():
            found = [(request.path, request.text)]
        case BenchRequest():
            found = [
                (entry["path"], entry["text"])
                for entry in request.kernels
                if "text" in entry or "transfer" not in entry
            ]
        case ProfileRequest() | CountRequest():
            found = [(entry["path"], entry["text"]) for entry in request.launches]
        case ProbeRequest():
            found = []
        case _:
            raise TypeError(f"the texts of a {type(request).__name__} are unknown")
    return [(Path(path), text) for path, text in found]


def refused(request: Request, consent: Consent) -> list[Path]:
    """Return the files of a request's texts without consent, each once."""
    held = [path for path, text in sources(request) if path.suffix != LIBRARY and not consent.allows(path, text)]
    return list(dict.fromkeys(held))
