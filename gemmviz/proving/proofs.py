"""Proofs: predictions and counters of launches on one machine, and their file."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypedDict

import msgspec

from gemmviz import data
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.typed_reading import Misfit, read_as
from gemmviz.catalogue.user_file import RESULT_BYTES, parse_json, read_text, write_text
from gemmviz.proving.launch_counters import LaunchCounters
from gemmviz.proving.lines import shifted_note
from gemmviz.proving.movers import Unseen
from gemmviz.proving.verdict import Compared

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class Machine:
    """The machine whose counters were read: the GPU, the versions that matter, and the date (YYYY-MM-DD)."""

    gpu: str
    driver: str
    nvrtc: str
    ncu: str
    date: str


@dataclass(frozen=True)
class Proof:
    """The prediction and the counters of one launch.

    Attributes
    ----------
    kernel, label, sha256, m, n, k, params
        The launch; the digest is `Kernel.sha256`.
    code_line
        The line of the file, from 1, on which the code began: lines in `counted` and `compared` are of that file.
    accesses
        The number of accesses in the recording.
    recorded_wrong, gpu_wrong
        The number of elements of C that differ from A x B (exact in small integers), in the recording and on the GPU.
        If both are 0, the two C are equal bit for bit.
    counted
        The GPU's counters, so that predictions can be repeated on any machine; None if there is an error.
    compared
        The comparison of each counter with its prediction.
    unseen
        Recorded data that these counters do not include.
    error
        Why there are no counters; empty if there are.
    """

    kernel: str
    label: str
    sha256: str
    m: int
    n: int
    k: int
    params: dict[str, int]
    code_line: int
    accesses: int = 0
    recorded_wrong: int | None = None
    gpu_wrong: int | None = None
    counted: LaunchCounters | None = None
    compared: tuple[Compared, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    error: str = ""

    @property
    def size(self) -> str:
        """M x N x K, or N alone where they are equal."""
        return str(self.m) if self.m == self.n == self.k else f"{self.m} x {self.n} x {self.k}"

    @property
    def holds(self) -> bool:
        """Whether C is right on both sides, and every counter is as predicted or explained."""
        right = self.recorded_wrong == 0 and self.gpu_wrong == 0
        return not self.error and right and all(c.verdict != "differs" for c in self.compared)

    def of_lines(self, code_line: int) -> "Proof":
        """Return the proof with the lines of a file whose code begins on line `code_line`."""
        first, by = self.code_line, code_line - self.code_line
        if not by:
            return self
        compared = tuple(replace(one, note=shifted_note(one.note, first, by)) for one in self.compared)
        counted = self.counted and self.counted.shifted(first, by)
        return replace(self, code_line=code_line, counted=counted, compared=compared)


class _Version(TypedDict):
    schema_version: int


@dataclass(frozen=True)
class Proofs:
    """The content of one file."""

    machine: Machine
    proofs: tuple[Proof, ...]

    def of(self, kernel: Kernel) -> list[Proof]:
        """Return the proofs of a kernel's current source, with its current line numbers."""
        return [proof.of_lines(kernel.code_line) for proof in self.proofs if proof.sha256 == kernel.sha256]


def write_proofs(path: Path, machine: Machine, proofs: Sequence[Proof]) -> None:
    """Write a file of proofs."""
    write_text(path, document(machine, proofs))


def document(machine: Machine, proofs: Sequence[Proof]) -> str:
    """Return the content of a file of proofs (JSON)."""
    plain = {
        "schema_version": SCHEMA_VERSION,
        "provenance": {"predicted": "recorded", "measured": "measured"},
        "machine": machine,
        "proofs": list(proofs),
    }
    # The fields of an instruction on one line: a file that people can read, and compare.
    text = re.sub(
        r"\[\s+([^\[\]{}]*?)\s+\]",
        lambda row: f"[{' '.join(row[1].split())}]",
        json.dumps(msgspec.to_builtins(plain), indent=1),
    )
    return text + "\n"


def read_proofs(path: Path) -> Proofs:
    """Read a file of proofs.

    Raises
    ------
    GemmvizError
        When it is not a file of proofs, or has another version.
    """
    try:
        return proofs_of(read_text(path, RESULT_BYTES), path.name)
    except OSError as error:
        raise GemmvizError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise GemmvizError(f"{path.name} contains no proofs: {error}") from None


def proofs_of(text: str, name: str) -> Proofs:
    """Return the proofs of a text that `document` has made.

    Parameters
    ----------
    text
        The text (JSON).
    name
        The text's name in an error.

    Raises
    ------
    GemmvizError
        When the text contains no proofs, or has another version.
    """
    try:
        plain = parse_json(text)
        version = read_as(plain, _Version)["schema_version"]
        if version != SCHEMA_VERSION:
            raise GemmvizError(f"{name} has version {version}; this gemmviz reads {SCHEMA_VERSION}")
        return read_as(plain, Proofs)
    except ValueError as error:
        raise GemmvizError(f"{name} contains no proofs: {error}") from None
    except Misfit as misfit:
        raise GemmvizError(f"{name} contains no proofs: it {misfit}") from None


def kept(folder: Path | None = None) -> list[Proofs]:
    """Return the proofs that gemmviz ships (or those in `folder`); files that cannot be read are left out."""
    return [*_shipped()] if folder is None else _read_all(folder)


@cache
def _shipped() -> list[Proofs]:
    """Read the shipped proofs once for all windows of a process."""
    return _read_all(data.root("resources") / "proofs")


def _read_all(folder: Path) -> list[Proofs]:
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(read_proofs(path))
        except GemmvizError:
            continue
    return found


def proved_on(kernel: Kernel, files: Sequence[Proofs]) -> str:
    """Return one sentence about where a kernel's source was proved, or an empty text."""
    for file in files:
        proofs = [proof for proof in file.of(kernel) if proof.holds]
        if proofs:
            sizes = " and ".join(proof.size for proof in proofs)
            explained = any(c.verdict == "explained" for proof in proofs for c in proof.compared)
            how = "equal the recording, or differ as the machine code explains" if explained else "equal the recording"
            return f"proved on {file.machine.gpu}, {file.machine.date}: its counters {how} (at {sizes})"
    return ""
