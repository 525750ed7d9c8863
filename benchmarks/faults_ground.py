"""The common parts of `faults.py`: an engine, the command line and a window, each in separate folders."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parent.parent
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path[:0] = [str(HOUSE), str(HOUSE / "tests" / "unit")]

from hostile import source as c_kernel  # noqa: E402

from gemmviz.engine.messages import BenchRequest, Failed, Recorded, RecordRequest  # noqa: E402
from gemmviz.engine.supervisor import Engine  # noqa: E402
from gemmviz.sandbox.limits import Limits  # noqa: E402

FAST = {"rounds": 1, "warmup_launches": 1, "warmup_s": 0, "min_samples": 3, "min_time_s": 0, "target_iqr": 10}
_COMMAND_S = 240


class Broken(Exception):
    """A promise that was not kept: the fault is not survived."""


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes
    ----------
    number
        As in the list of faults: ``"23"``, or ``"6e"`` for a part of one.
    name
        The fault, for the table.
    provoke
        Provokes it and returns the message that the user sees; raises `Broken` if a promise is not kept.
    gpu
        Whether it needs a GPU.
    stand_in
        The replacement of the real fault, if that cannot be provoked; else empty.
    """

    number: str
    name: str
    provoke: Callable[["Ground"], str]
    gpu: bool = False
    stand_in: str = ""


def need(kept: bool, promise: str) -> None:
    """Raise `Broken` unless a promise is kept."""
    if not kept:
        raise Broken(promise)


def make_irregular(path: Path, kind: str) -> None:
    """Put a ``"pipe"``, a ``"device"`` or a file of 3 GB (``"huge"``) where a file is expected."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 3_000_000_000)


def cuda_kernel(
    sum_: str = "sum += a[i * k + l] * b[l * n + j];",
    store: str = "c[i * n + j] = sum;",
    before: str = "",
    block: str = "16, 16",
    head: str = "",
    top: str = "",
) -> str:
    """Return a CUDA kernel with front matter, one thread per element of C."""
    return f"""// ---gemmviz
// entry = "mine"
// args = ["C", "A", "B", "M", "N", "K"]
// block = [{block}]
// grid = ["ceil(N / 16)", "ceil(M / 16)"]
{head}// ---
{top}
__global__ void mine(float *c, const float *a, const float *b, int m, int n, int k)
{{
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    {before}
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int l = 0; l < k; l++)
        {sum_}
    {store}
}}
"""


class AllowsAll:
    """Consent for kernels that are written here."""

    def allows(self, path: Path, text: str) -> bool:
        """Return True."""
        return True


class Ground:
    """Where faults happen: each has an engine that lives on, and an empty folder.

    Parameters
    ----------
    home
        A temporary folder: preferences, results and caches go there.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
        self.engine = Engine(AllowsAll())
        self.runs = 0
        self._gpu_was_used = False

    def folder(self) -> Path:
        """Return a new, empty folder."""
        return Path(tempfile.mkdtemp(dir=self.home))

    def limited(self, **limits: float) -> Engine:
        """Return another engine, with its own limits."""
        return Engine(AllowsAll(), Limits(**limits))

    def rows(
        self,
        *texts: str,
        size: tuple[int, int, int] = (6, 5, 4),
        suffix: str = ".c",
        engine: Engine | None = None,
        protocol: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Verify and measure kernels; return their rows."""
        self.runs += 1
        entries = [{"path": f"/nowhere/mine{i}{suffix}", "text": text, "params": {}} for i, text in enumerate(texts)]
        request = BenchRequest(self.runs, entries, [size], FAST | {"timeout_s": 2} | dict(protocol or {}))
        *_, last = (engine or self.engine).run(request, threading.Event())
        if isinstance(last, Failed):
            raise Broken(f"the whole run failed: {last.message}")
        return [row for row in last.document["results"] if row["backend"] != "transfer"]

    def use_gpu(self) -> None:
        """Measure a good CUDA kernel once, with the usual deadlines.

        The first use of a GPU reads hundreds of megabytes from the disk. That must not count for the short deadlines
        of faults.
        """
        if not self._gpu_was_used:
            only = self.rows(cuda_kernel(), suffix=".cu", size=(64, 64, 64))[0]
            need(only["status"] == "ok", f"a good kernel: {only['message']}")
            self._gpu_was_used = True

    def bad_row(self, text: str, status: str, suffix: str = ".c", **options: Any) -> str:
        """Measure a bad kernel before a good one; return the sentence, which costs the bad one's row only."""
        good = c_kernel() if suffix == ".c" else cuda_kernel()
        bad, after = self.rows(text, good, suffix=suffix, **options)
        need(after["status"] == "ok", f"the next kernel's row: {after['status']}: {after['message']}")
        need(bad["status"] == status, f"its status is {bad['status']}: {bad['message']}")
        need(bad["gflops"] is None, "it has a GFLOPS figure")
        return str(bad["message"])

    def recorded(self, text: str, suffix: str = ".c", size: int = 4, engine: Engine | None = None) -> Any:
        """Record a kernel; return the last reply: `Recorded` or `Failed`."""
        self.runs += 1
        request = RecordRequest(self.runs, f"/nowhere/mine{suffix}", text, size, size, size, {})
        *_, last = (engine or self.engine).run(request, threading.Event())
        return last

    def refused(self, text: str, suffix: str = ".c", engine: Engine | None = None) -> str:
        """Record a bad kernel, then a good one; return the sentence about the bad one."""
        reply = self.recorded(text, suffix, engine=engine)
        need(isinstance(reply, Failed), "it was recorded")
        after = self.recorded(c_kernel(), engine=engine)
        need(isinstance(after, Recorded), f"the next recording: {getattr(after, 'message', '')}")
        return str(reply.message)

    def command(
        self,
        *words: str,
        environment: Mapping[str, str | None] | None = None,
        code: str | None = None,
        before: tuple[str, ...] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run ``gemmviz WORDS``; ``code`` is Python that runs first in its process, ``before`` a command in front."""
        changes = environment or {}
        full = {**os.environ, "PYTHONPATH": f"{HOUSE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        full = {name: value for name, value in {**full, **changes}.items() if value is not None}
        start = f"{code or ''}\nfrom gemmviz.__main__ import main\nmain()"
        done = subprocess.run(
            [*before, sys.executable, "-c", start, *words],
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
            env=full,
            check=False,
        )
        need("Traceback" not in done.stderr, f"a traceback: {done.stderr.strip().splitlines()[-1:]}")
        return done

    def output_of(self, *words: str, ends: int | None = 2, **options: Any) -> str:
        """Run a command that must end with an exit code; return its standard error."""
        done = self.command(*words, **options)
        need(ends is None or done.returncode == ends, f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
        lines = [line for line in done.stderr.strip().splitlines() if line]
        need(bool(lines), "it prints nothing")
        return "\n".join(lines)

    def state(self, **parts: Any) -> Path:
        """Write a state file with these parts beside its version and kernel; return its path."""
        path = self.folder() / "mine.gemmviz"
        path.write_text(json.dumps({"state_version": 1, "kernel": {"name": "gputiled"}, **parts}))
        return path

    def close(self) -> float:
        """End the engine; return the seconds that took."""
        begun = time.monotonic()
        self.engine.close()
        return time.monotonic() - begun
