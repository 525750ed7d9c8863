"""Values that a program of the host asks for: arguments of its command line, and numbers that it reads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing.functions import HostFile
from gemmviz.catalogue.guessing.launches import HostLaunch

_READ = {f"{begin}{kind}" for begin in ("ato", "sto", "strto") for kind in ("i", "l", "ll", "ul", "ull")}
_SCANNED = {"scanf", "sscanf", "fscanf"}
_ENDS = {";", "{", "}"}
_LONGEST = 40  # tokens between a variable and the function that reads its value


def asked_names(files: Sequence[HostFile]) -> frozenset[str]:
    """Return the names of the variables whose values a program asks for.

    Parameters
    ----------
    files
        The files with host code.
    """
    bodies = [(one.name.rpartition("::")[2], one.body) for file in files for one in file.functions]
    reading = {name for name, body in bodies if "return" in body and not _READ.isdisjoint(body) and name != "main"}
    found: set[str] = set()
    for _, body in bodies:
        words = {*body}
        if not words.isdisjoint(_READ | reading):
            found.update(_assigned(body, _READ | reading))
        if not words.isdisjoint(_SCANNED | {"cin"}):
            found.update(_scanned(body))
    return frozenset(found)


def _assigned(body: Sequence[str], reading: set[str]) -> Iterator[str]:
    """Yield the variables that get the value of a function that reads a number."""
    for at in (i for i, word in enumerate(body) if word in reading):
        for place in range(at - 1, max(at - _LONGEST, 0), -1):
            if body[place] in _ENDS:
                break
            if body[place] == "=" and body[place - 1].isidentifier():
                yield body[place - 1]
                break


def _scanned(body: Sequence[str]) -> Iterator[str]:
    """Yield the variables behind ``scanf`` and ``cin``."""
    for at in (i for i, word in enumerate(body) if word in _SCANNED or word == "cin"):
        end = next((i for i in range(at, min(at + _LONGEST, len(body))) if body[i] in _ENDS), at)
        before = "&" if body[at] in _SCANNED else ">"
        yield from (body[i + 1] for i in range(at, end - 1) if body[i][-1] == before and body[i + 1].isidentifier())


def asked_by(launch: HostLaunch, names: frozenset[str]) -> frozenset[str]:
    """Return the asked values that the block or the shared memory of a launch depends on; sizes do not count.

    Parameters
    ----------
    launch
        The launch.
    names
        From `asked_names`.
    """
    sizes = {word for argument in launch.arguments for word in argument}
    waiting = [word for part in (*launch.block, launch.shared) for word in part]
    seen: set[str] = set()
    while waiting:
        word = waiting.pop()
        if word not in seen and word not in sizes:
            seen.add(word)
            waiting += launch.constants.get(word, ())
    return names & {word.partition("__")[0] or word for word in seen}


def marked(launches: Sequence[HostLaunch], files: Sequence[HostFile]) -> tuple[HostLaunch, ...]:
    """Return launches that know whether they depend on a value that the program asks for.

    Parameters
    ----------
    launches
        The launches.
    files
        The files with host code.
    """
    names = asked_names(files)
    return tuple(replace(one, asked=one.asked or bool(asked_by(one, names))) if names else one for one in launches)
