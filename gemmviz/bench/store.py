"""Keeps every run on this machine: one result file each, in the user's data folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

import platformdirs

from gemmviz.bench import results
from gemmviz.bench.document import Document
from gemmviz.catalogue.errors import GemmvizError, Unavailable

_SUFFIX = ".json"


@dataclass(frozen=True)
class StoredRun:
    """A stored run.

    Attributes
    ----------
    run_id
        32 hexadecimal digits.
    started_utc
        When it began.
    path
        Its result file.
    device
        GPU and processor, for people.
    kernels, rows
        The number of kernels, and the number of rows.
    """

    run_id: str
    started_utc: datetime
    path: Path
    device: str
    kernels: int
    rows: int


def folder() -> Path:
    """Return the folder of the runs; it may not exist yet."""
    return Path(platformdirs.user_data_dir("gemmviz", appauthor=False)) / "runs"


def save(document: Document) -> Path:
    """Keep a result file; it replaces an older file of the same run.

    Returns
    -------
    pathlib.Path
        The path of the file.

    Raises
    ------
    GemmvizError
        When it cannot be written.
    """
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GemmvizError(f"cannot keep this run in {place}: {error.strerror}") from None
    # The name begins with the time, so that the folder is sorted; the id distinguishes runs of the same second.
    stamp = re.sub(r"[^0-9T]", "", str(document["started_utc"])[:19])
    path = place / f"{stamp}-{document['run_id']}{_SUFFIX}"
    results.write_results(document, path)
    return path


def runs() -> tuple[list[StoredRun], list[str]]:
    """Return all stored runs, newest first, and one message per file that is not a run; such a file is not changed."""
    faults: list[str] = []
    return list(_readable(_newest_first(), faults)), faults


def find(name: str) -> Path:
    """Return the file of a stored run; other files are ignored.

    Parameters
    ----------
    name
        ``"last"``, ``"last~1"`` (the one before it) and so on, or the first digits of a run's id.

    Raises
    ------
    Unavailable
        When there is no such run, or several.
    """
    paths = _newest_first()
    if not paths:
        raise Unavailable(f"no run is stored yet, so there is no {name!r}; `gemmviz bench` stores one")
    back = re.fullmatch(r"last(?:~(\d+))?", name)
    if back:
        found = next(islice(_readable(paths, []), int(back[1] or 0), None), None)
        if found is None:
            raise Unavailable(f"there is no {name!r}: not that many runs are stored; `gemmviz runs` lists them")
        return found.path
    named = [path for path in paths if name and path.stem.partition("-")[2].startswith(name.lower())]
    matching = list(_readable(named, []))
    if len(matching) != 1:
        what = f"{len(matching)} stored runs begin with" if matching else "no stored run is called"
        raise Unavailable(f"{what} {name!r}; `gemmviz runs` lists them")
    return matching[0].path


def delete(name: str) -> Path:
    """Delete a stored run, named as for `find`; return its path.

    Raises
    ------
    GemmvizError
        When there is no such run, or it cannot be deleted.
    """
    path = find(name)
    try:
        path.unlink()
    except OSError as error:
        raise GemmvizError(f"cannot delete {path}: {error.strerror}") from None
    return path


def _newest_first() -> list[Path]:
    try:
        paths = [path for path in folder().iterdir() if path.suffix == _SUFFIX and path.name[0] != "."]
        # By the time in the name; within the same second, by the time of writing.
        return sorted(paths, key=lambda p: (p.stem.partition("-")[0], p.stat().st_mtime_ns), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise GemmvizError(f"cannot read {folder()}: {error.strerror}") from None


def _readable(paths: Iterable[Path], faults: list[str]) -> Iterator[StoredRun]:
    for path in paths:
        try:
            yield _describe(path)
        except GemmvizError as error:
            faults.append(str(error))


def _describe(path: Path) -> StoredRun:
    document = results.read_results(path)
    try:
        started = datetime.fromisoformat(document["started_utc"])
        return StoredRun(
            run_id=str(document["run_id"]),
            started_utc=started,
            path=path,
            device=results.machine(document),
            kernels=len({row["kernel"] for row in document["results"]}),
            rows=len(document["results"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise GemmvizError(f"{path} is damaged: {error}") from None
