"""Keeps the fastest parameters that were found on this machine: one small file per kernel, size and device."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import log
from pathlib import Path
from typing import Any

import platformdirs

from gemmviz.bench.tuning.outcome import Outcome
from gemmviz.catalogue import renamed
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, Side
from gemmviz.catalogue.typed_reading import FromZero, Misfit, Quantity, read_as
from gemmviz.catalogue.user_file import RESULT_BYTES, parse_json, read_text

VERSION = 1
_SUFFIX = ".json"


@dataclass(frozen=True)
class Tuned:
    """The fastest parameters of a kernel at one size on one device.

    Attributes
    ----------
    kernel, source_sha256
        Its name, and its `Kernel.sha256` when it was tuned.
    tuned_on
        The GPU or processor: see `gemmviz.bench.tuning.outcome.device_name`.
    date_utc
        The time of tuning, as ISO 8601.
    M, N, K
        The size.
    params, gflops
        The fastest parameters, and their figure, measured here.
    gain
        Its speed divided by that of the defaults; None if these cannot run.
    rounds
        The number of its interleaved rounds; 0 if there was only a look.
    """

    kernel: str
    source_sha256: str
    tuned_on: str
    date_utc: str
    M: Side
    N: Side
    K: Side
    params: dict[str, int]
    gflops: Quantity
    gain: Quantity | None
    rounds: FromZero

    @property
    def problem(self) -> Problem:
        """The size."""
        return Problem(self.M, self.N, self.K)

    def fits(self, kernel: Kernel) -> bool:
        """Return whether it belongs to a kernel's current text."""
        return self.kernel == kernel.name and self.source_sha256 == kernel.sha256


def folder() -> Path:
    """Return the folder of tuned parameters; it may not exist yet."""
    return Path(platformdirs.user_data_dir("gemmviz", appauthor=False)) / "tuned"


def keep(document: Outcome) -> Path | None:
    """Keep the result of a search; it replaces an older one for the same kernel, size and device.

    Parameters
    ----------
    document
        As `gemmviz.bench.tuning.outcome.outcome` returns it.

    Returns
    -------
    pathlib.Path or None
        The file; None if no candidate has a figure.

    Raises
    ------
    GemmvizError
        When it cannot be written.
    """
    if document["params"] is None:
        return None
    plain: Mapping[str, Any] = document
    found = Tuned(**{f.name: plain[f.name] for f in fields(Tuned)})
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GemmvizError(f"cannot keep tuned parameters in {place}: {error.strerror}") from None
    path = place / _file_name(found, found.kernel)
    from gemmviz.bench import results  # late: the window only reads kept results at its start

    results.write_results({"schema_version": VERSION, **asdict(found)}, path)
    for name in renamed.before(found.kernel):
        (place / _file_name(found, name)).unlink(missing_ok=True)
    return path


def kept() -> tuple[list[Tuned], list[str]]:
    """Return all kept results, by kernel, device and size, and one message per damaged file."""
    found, faults = [], []
    for path in _files():
        try:
            found.append(_read(path))
        except GemmvizError as error:
            faults.append(str(error))
    return sorted(found, key=lambda t: (t.kernel, t.tuned_on, t.M * t.N * t.K)), faults


def forget(kernel: str) -> int:
    """Delete the kept results of a kernel, on all devices and at all sizes; return the number of files.

    Raises
    ------
    GemmvizError
        When one cannot be deleted.
    """
    count = 0
    for path in _files():
        try:
            if _read(path).kernel != renamed.today(kernel):
                continue
        except GemmvizError:
            continue  # a damaged file is not changed
        try:
            path.unlink()
        except OSError as error:
            raise GemmvizError(f"cannot delete {path}: {error.strerror}") from None
        count += 1
    return count


def nearest(among: list[Tuned], kernel: Kernel, device: str, problems: list[Problem]) -> Tuned | None:
    """Return the parameters to run a kernel with at some sizes, or None.

    Parameters
    ----------
    among
        The kept results.
    kernel, device
        Only results of its current text on this device count.
    problems
        Parameters that cannot run at one of them are ignored; of the others, those are returned that were tuned at the
        size nearest to the last one, by the ratios of M, N and K.
    """
    mine = [t for t in among if t.fits(kernel) and t.tuned_on == device]
    able = [t for t in mine if all(_launches(kernel, problem, t.params) for problem in problems)]
    return min(able, key=lambda t: _distance(t.problem, problems[-1]), default=None)


def outdated(among: list[Tuned], kernel: Kernel, device: str) -> bool:
    """Return whether all kept results of a kernel for this device belong to another text."""
    mine = [t for t in among if t.kernel == kernel.name and t.tuned_on == device]
    return bool(mine) and not any(t.fits(kernel) for t in mine)


def _launches(kernel: Kernel, problem: Problem, params: dict[str, int]) -> bool:
    try:
        launch(kernel, problem, params)
    except (ConstraintError, FrontMatterError):
        return False
    return True


def _distance(one: Problem, other: Problem) -> float:
    return sum(abs(log(a / b)) for a, b in ((one.m, other.m), (one.n, other.n), (one.k, other.k)))


def _files() -> list[Path]:
    try:
        return sorted(path for path in folder().iterdir() if path.suffix == _SUFFIX and path.name[0] != ".")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise GemmvizError(f"cannot read {folder()}: {error.strerror}") from None


def _read(path: Path) -> Tuned:
    try:
        content: Any = parse_json(read_text(path, RESULT_BYTES))
    except OSError as error:
        raise GemmvizError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise GemmvizError(f"{path} is truncated or not JSON: delete it, and tune again") from None
    if not isinstance(content, dict) or content.get("schema_version") != VERSION:
        raise GemmvizError(f"{path} is no file of tuned parameters: it is not of version {VERSION}")
    try:
        return Tuned(**renamed.row_of_today(asdict(read_as(content, Tuned))))
    except Misfit as misfit:
        raise GemmvizError(f"{path} is no file of tuned parameters: it {misfit}") from None


def _file_name(found: Tuned, kernel: str) -> str:
    device = hashlib.sha256(found.tuned_on.encode()).hexdigest()[:8]
    name = re.sub(r"[^\w.+~-]", "_", kernel)
    return f"{name}-{found.M}x{found.N}x{found.K}-{device}{_SUFFIX}"
