"""Runs kernels under Nsight Compute, and reads its counters."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.language import tr
from gemmviz.proving.jobs import Answer, Job
from gemmviz.proving.launch_counters import COUNTERS, LaunchCounters, read_counters, table

# A kernel is launched about ten times; slow kernels take seconds each time.
_PER_JOB_S, _START_S, _PAGE_S = 60.0, 120.0, 120.0
_REFUSED = "ERR_NVGPUCTRPERM"


def tool() -> str:
    """Return the path of Nsight Compute's command line.

    Raises
    ------
    Unavailable
        When it is not installed.
    """
    folders = [Path(os.environ[name]) / "bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for folder in (None, *folders, Path("/usr/local/cuda/bin")):
        found = shutil.which("ncu", path=str(folder) if folder else None)
        if found:
            return found
    raise Unavailable(
        "Nsight Compute (ncu) is not on the PATH: it comes with the CUDA toolkit, or by itself from NVIDIA"
    )


def version(command: str) -> str:
    """Return the version that Nsight Compute prints."""
    lines = _run([command, "--version"], _PAGE_S).stdout.strip().splitlines()
    return lines[-1].removeprefix("Version ").split(" ")[0] if lines else ""


Tell = Callable[[str], None]


def count(
    jobs: Sequence[Job], command: str, progress: Tell = lambda text: None
) -> list[tuple[LaunchCounters | None, Answer]]:
    """Launch every job under Nsight Compute, and count its accesses to memory.

    Parameters
    ----------
    jobs
        The launches; if one fails, the others still run, unless it breaks the GPU's context.
    command
        From `tool`.
    progress
        Called at each stage with a text for people.

    Returns
    -------
    list
        Per job: its counters, or None; and ``{"error": the reason, or None, "wrong": wrong elements of C, "nvrtc": its
        version}``.

    Raises
    ------
    Unavailable
        When the counters cannot be read here.
    GemmvizError
        When Nsight Compute fails in another way.
    """
    wanted = ["--section", "SourceCounters", "--metrics", ",".join(COUNTERS.values())]
    with _launched(jobs, command, wanted, progress) as (report, answers):
        files = [Path(job.path).name for job, a in zip(jobs, answers, strict=True) if a["launch"] is not None]
        counted = _read(command, report, files, progress) if files else []
    return [(None if a["launch"] is None else counted[a["launch"]], a) for a in answers]


def metrics(
    jobs: Sequence[Job], command: str, wanted: Mapping[str, str], progress: Tell = lambda text: None
) -> list[tuple[dict[str, float] | None, Answer]]:
    """Launch every job under Nsight Compute, and read some metrics of the whole launch.

    Parameters
    ----------
    jobs, command, progress
        As for `count`.
    wanted
        Nsight Compute's name of each metric by our name.

    Returns
    -------
    list
        As from `count`, with the metrics instead of the counters.

    Raises
    ------
    Unavailable, GemmvizError
        As `count` does.
    """
    with _launched(jobs, command, ["--metrics", ",".join(wanted.values())], progress) as (report, answers):
        found: list[dict[str, float]] = []
        if any(a["launch"] is not None for a in answers):
            progress(tr("Reading the counters"))
            with _known_form():
                found = table(
                    _run([command, "--import", str(report), "--csv", "--page", "raw"], _PAGE_S).stdout, wanted
                )
                if len(found) != sum(a["launch"] is not None for a in answers):
                    raise ValueError(f"{len(found)} launches")
    return [(None if a["launch"] is None else found[a["launch"]], a) for a in answers]


@contextmanager
def _launched(
    jobs: Sequence[Job], command: str, wanted: Sequence[str], progress: Tell
) -> Iterator[tuple[Path, list[Answer]]]:
    """Launch every job; yield the report, and an answer for each job."""
    with tempfile.TemporaryDirectory(prefix="gemmviz-") as name:
        work = Path(name)
        jobs_file, answers_file, report = work / "jobs.json", work / "answers.json", work / "report.ncu-rep"
        jobs_file.write_text(json.dumps([job.to_plain() for job in jobs]), encoding="utf-8")
        progress(tr("Running {count} launches under Nsight Compute", count=len(jobs)))
        # The clocks are not changed: nothing is timed here.
        process = _run(
            [
                *(command, "--clock-control", "none", "--profile-from-start", "off", *wanted),
                *("--force-overwrite", "--export", str(report)),
                *(sys.executable, "-m", "gemmviz.proving.target", str(jobs_file), str(answers_file)),
            ],
            _START_S + _PER_JOB_S * len(jobs),
        )
        if _REFUSED in process.stdout + process.stderr:
            raise Unavailable(
                "this user may not read the GPU's counters: run as root, or let the driver allow it to everybody with "
                'the module option "NVreg_RestrictProfilingToAdminUsers=0"'
            )
        answers = json.loads(answers_file.read_text(encoding="utf-8")) if answers_file.exists() else []
        if not report.exists() and not any(answer["error"] for answer in answers):
            raise GemmvizError(f"Nsight Compute made no report: {_last(process)}")
        lost = {"error": f"the process ended before it: {_last(process)}", "launch": None, "wrong": None, "nvrtc": None}
        yield report, answers + [lost] * (len(jobs) - len(answers))


@contextmanager
def _known_form() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, IndexError) as error:
        raise GemmvizError(f"Nsight Compute's report has a form that gemmviz does not know: {error}") from None


def _read(command: str, report: Path, files: list[str], progress: Tell) -> list[LaunchCounters]:
    progress(tr("Reading the counters"))
    importing = [command, "--import", str(report), "--csv", "--page"]
    raw = _run([*importing, "raw"], _PAGE_S).stdout
    per_launch = [
        [*importing, "source", "--print-source", "cuda,sass", "--launch-skip", str(i), "--launch-count", "1"]
        for i in range(len(files))
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [process.stdout for process in pool.map(partial(_run, within_s=_PAGE_S), per_launch)]
    with _known_form():
        return read_counters(raw, sources, files)


def _run(command: Sequence[str], within_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False)
    except subprocess.TimeoutExpired:
        raise GemmvizError(f"Nsight Compute was still running after {within_s:g} s") from None
    except OSError as error:
        raise Unavailable(f"Nsight Compute does not start: {error.strerror}") from None


def _last(process: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (process.stdout + process.stderr).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error" in line or "ERROR" in line), lines[-1] if lines else "")
