"""Faults of a GPU: provoked on a real one, by the kernel, by another process, or by hiding parts of the system."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from faults_ground import Fault, Ground, c_kernel, cuda_kernel, need

from gemmviz.engine.messages import Recorded

_SIZE = (64, 64, 64)
_HOLD = """
import sys, cupy
free, total = cupy.cuda.runtime.memGetInfo()
held = cupy.cuda.runtime.malloc(int(free - {left}))
print("held", flush=True)
sys.stdin.readline()
"""


def row(status: str, *parts: str, size: tuple[int, int, int] = _SIZE, **changes: str) -> Callable[[Ground], str]:
    """Return a function that measures a bad CUDA kernel before a good one, and looks for words in the message."""

    def provoke(ground: Ground) -> str:
        ground.use_gpu()
        message = ground.bad_row(
            cuda_kernel(**changes), status, suffix=".cu", size=size, protocol={"deadline_s": 5.0, "timeout_s": 2}
        )
        need(all(part in message for part in parts), message)
        return message

    return provoke


def divergent_barrier(ground: Ground) -> str:
    """Half of a block skips a barrier. Hardware may survive that, and C may be right: the recording must say it."""
    ground.use_gpu()
    text = cuda_kernel(before="if (threadIdx.y < 8) __syncthreads();")
    bad, good = ground.rows(text, cuda_kernel(), suffix=".cu", size=_SIZE, protocol={"deadline_s": 5.0, "timeout_s": 2})
    need(good["status"] == "ok", f"the next kernel: {good['message']}")
    reply = ground.recorded(text, ".cu", size=16)
    message = getattr(reply, "message", "")
    if isinstance(reply, Recorded):
        found = [finding for finding in reply.findings or [] if "diverge" in finding.kind]
        need(bool(found), "the recording does not say it")
        message = found[0].text
    need("barrier" in message.lower() or "__syncthreads" in message, message)
    return f"(measured: {bad['status']}) recorded: {message}"


def wrong_answer(ground: Ground) -> str:
    """Try a loop that stops one element early."""
    return ground.bad_row(cuda_kernel().replace("l < k;", "l < k - 1;"), "wrong", suffix=".cu", size=_SIZE)


def out_of_memory(ground: Ground) -> str:
    """Try a product whose matrices are larger than the device's memory."""
    bad, good = (
        ground.rows(cuda_kernel(), suffix=".cu", size=(131072,) * 3)[0],
        ground.rows(cuda_kernel(), suffix=".cu", size=_SIZE)[0],
    )
    need(good["status"] == "ok", good["message"])
    need(bad["status"] != "ok" and bad["gflops"] is None, bad["status"])
    return str(bad["message"])


def memory_held(ground: Ground) -> str:
    """Another process holds all of the device's memory but 300 MiB, and a product needs 768 MiB."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD.format(left=300 << 20)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdin is not None
    try:
        need(holder.stdout.readline().strip() == "held", "the memory could not be held")
        bad = ground.rows(cuda_kernel(), suffix=".cu", size=(8192,) * 3)[0]
        need(bad["status"] != "ok" and bad["gflops"] is None, f"{bad['status']}: {bad['message']}")
    finally:
        holder.stdin.write("\n")
        holder.stdin.close()
        holder.wait(30)
    time.sleep(1)
    good = ground.rows(cuda_kernel(), suffix=".cu", size=_SIZE)[0]
    need(good["status"] == "ok", f"afterwards: {good['message']}")
    return str(bad["message"])


def other_architecture(ground: Ground) -> str:
    """Code for a GPU that this one is not: a compute capability that no device has yet."""
    message = ground.bad_row(cuda_kernel(head='// capability = "99.0a"\n'), "unsupported", suffix=".cu", size=_SIZE)
    need("99" in message, message)
    return message


def after_cuda(ground: Ground) -> str:
    """Record and measure on the CPU in the engine that has just driven the GPU."""
    (first,) = ground.rows(cuda_kernel(), suffix=".cu", size=_SIZE)
    reply = ground.recorded(cuda_kernel(), ".cu", size=64)
    (second,) = ground.rows(c_kernel())
    need(first["status"] == second["status"] == "ok", f"{first['message']} {second['message']}")
    need(isinstance(reply, Recorded), getattr(reply, "message", ""))
    return "(nothing: all three work)"


def seen(code: str = "", environment: dict[str, str | None] | None = None) -> Callable[[Ground], str]:
    """Return a function that measures a CUDA rung where the machine shows less; the CPU's rungs must go on."""

    def provoke(ground: Ground) -> str:
        from json import loads

        options = {"environment": environment or {}, "code": code}
        words = ("bench", "gputiled", "hostmult0", "--size", "64", "--quick", "--json", "-")
        done = ground.command(*words, **options)
        rows = {row["kernel"]: row for row in loads(done.stdout)["results"] if row["backend"] != "transfer"}
        need(rows["hostmult0"]["status"] == "ok", f"hostmult0: {rows['hostmult0']['message']}")
        need(rows["gputiled"]["gflops"] is None, "it has a figure")
        return str(rows["gputiled"]["message"])

    return provoke


def package(name: str, text: str, works: bool) -> Callable[[Ground], str]:
    """Return a function that measures a CUDA rung with another module of that name in front of the real one."""

    def provoke(ground: Ground) -> str:
        from json import loads

        folder = ground.folder()
        (folder / f"{name}.py").write_text(text)
        path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        start = f"import sys; sys.path.insert(0, {str(folder)!r})"
        words = ("bench", "gputiled", "--size", "1024", "--quick", "--json", "-")
        done = ground.command(*words, code=start, environment={"PYTHONPATH": f"{path}"})
        (row,) = [row for row in loads(done.stdout)["results"] if row["backend"] != "transfer"]
        need((row["status"] == "ok") == works, f"{row['status']}: {row['message']}")
        if works:
            return f"(measured) flags: {', '.join(row['flags']) or 'none'}; telemetry: {row['telemetry']}"
        return str(row["message"])

    return provoke


def at_the_start(text: str) -> Callable[[Ground], str]:
    """Return a function that measures a CUDA rung where every Python process, the engine's too, runs a text first."""

    def provoke(ground: Ground) -> str:
        folder = ground.folder()
        (folder / "sitecustomize.py").write_text(text)
        path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        return seen(environment={"PYTHONPATH": path})(ground)

    return provoke


def two_packages(ground: Ground) -> str:
    """Two CuPy packages are installed: another one's metadata stands in front."""
    place = ground.folder() / "cupy_cuda11x-13.0.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: cupy-cuda11x\nVersion: 13.0.0\n")
    path = f"{place.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return seen(f"import sys; sys.path.append({str(place.parent)!r})", {"PYTHONPATH": path})(ground)


def old_driver(ground: Ground) -> str:
    """Try a driver of CUDA 11.4 only: its answer about its version is replaced."""
    from gemmviz.backends import cupy_check, driver

    found = driver.driver()
    from dataclasses import replace

    verdict = cupy_check.judge(cupy_check.cupy_packages(), replace(found, cuda=(11, 4)))
    need(not verdict.usable, "it is taken as usable")
    return str(verdict)


def watchdog(ground: Ground) -> str:
    """Raise CUDA's error 702, the display's watchdog, where a kernel is waited for."""
    import cupy as cp

    from gemmviz.backends.device import DeviceFault, faults
    from gemmviz.catalogue.kernel import parse
    from gemmviz.catalogue.launch import launch
    from gemmviz.catalogue.problem import Problem

    chosen = launch(parse(cuda_kernel(), Path("mine.cu")), Problem(64, 64, 64))

    class Runtime:
        CUDARuntimeError = cp.cuda.runtime.CUDARuntimeError

        @staticmethod
        def deviceSynchronize() -> None:
            raise cp.cuda.runtime.CUDARuntimeError(702)

    class Stand:
        class cuda:  # noqa: N801 (as CuPy calls it)
            runtime, driver = Runtime, cp.cuda.driver
            Device = nullcontext

    try:
        with faults(Stand, chosen):
            raise cp.cuda.runtime.CUDARuntimeError(702)
    except DeviceFault as error:
        message = str(error)
    need("smaller size" in message, message)
    return message


_NO_CUPY = """
from pathlib import Path
entries = Path.iterdir
Path.iterdir = lambda folder: (entry for entry in entries(folder) if not entry.name.startswith("cupy"))
"""
_NO_NVRTC = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == "cupy_backends.cuda.libs.nvrtc":
            raise ImportError("libnvrtc.so: cannot open shared object file")
sys.meta_path.insert(0, Hide())
"""
_THROTTLED_NVML = """
class NVMLError(Exception): pass
NVML_SUCCESS, NVML_CLOCK_SM, NVML_TEMPERATURE_GPU, NVML_FI_DEV_POWER_INSTANT = 0, 1, 0, 186
def nvmlInit(): pass
def nvmlDeviceGetHandleByUUID(uuid): return uuid
def nvmlDeviceGetClockInfo(h, c): return 600
def nvmlDeviceGetMaxClockInfo(h, c): return 1980
def nvmlDeviceGetFieldValues(h, ids): raise NVMLError
def nvmlDeviceGetPowerUsage(h): return 700_000
def nvmlDeviceGetTemperature(h, s): return 95
def nvmlDeviceGetTotalEnergyConsumption(h): return 0
def nvmlDeviceGetCurrentClocksEventReasons(h): return 0x40
def nvmlDeviceGetComputeRunningProcesses(h): return []
"""

_on_gpu = partial(Fault, gpu=True)
FAULTS = [
    _on_gpu(
        "1",
        "A CUDA kernel writes far out of its memory",
        row("crash", "cudaErrorIllegalAddress", store="c[(long long)1 << 40] = sum;"),
    ),
    _on_gpu(
        "2a", "A misaligned access on the GPU", row("crash", "Misaligned", store="*(float *)((char *)c + 1) = sum;")
    ),
    _on_gpu(
        "2b", "A device assertion", row("crash", "cudaErrorAssert", before="assert(m < 0);", top="#include <cassert>")
    ),
    _on_gpu("2c", "A trap in a kernel", row("crash", "cudaError", before="__trap();")),
    _on_gpu(
        "3",
        "A CUDA kernel that never ends",
        row("timeout", "still running", before="while (*(volatile float *)a < 9) ;"),
    ),
    _on_gpu("4", "A barrier that half of a block skips", divergent_barrier),
    _on_gpu("5", "The display's watchdog (702)", watchdog, stand_in="CUDA's error is raised by hand"),
    _on_gpu("7c", "A text that NVRTC refuses", row("compile", "mine0.cu:", before="int i ==;")),
    _on_gpu("8b", "A CUDA kernel with one parameter too many", lambda ground: _extra(ground)),
    _on_gpu("9a", "Too many threads per block", row("unsupported", "1024", block="64, 64")),
    _on_gpu("9b", "Too much shared memory", row("unsupported", "shared memory", head='// shared = "1000000"\n')),
    _on_gpu("9c", "Too many registers for the block", lambda ground: _registers(ground)),
    _on_gpu("10b", "A CUDA kernel with a wrong C", wrong_answer),
    _on_gpu("13", "Matrices larger than the device's memory", out_of_memory),
    _on_gpu("14", "Another process holds the device's memory", memory_held),
    _on_gpu("15", "No CuPy", at_the_start(_NO_CUPY), stand_in="its package is hidden"),
    _on_gpu(
        "16",
        "CuPy without a GPU",
        seen(environment={"CUDA_VISIBLE_DEVICES": ""}),
        stand_in="the driver shows no device",
    ),
    _on_gpu("17", "A driver that is too old", old_driver, stand_in="its version is replaced"),
    _on_gpu("18", "NVRTC cannot be loaded", at_the_start(_NO_NVRTC), stand_in="a module in its place"),
    _on_gpu("19", "Code for another architecture", other_architecture),
    _on_gpu("20", "Two CuPy packages", two_packages, stand_in="the metadata of another one"),
    _on_gpu("22", "CPU kernels after CUDA has started", after_cuda),
    _on_gpu(
        "26",
        "NVML is missing",
        package("pynvml", "raise ImportError('hidden')\n", works=True),
        stand_in="its package is hidden",
    ),
    _on_gpu(
        "27",
        "A GPU that lowers its clock throughout",
        package("pynvml", _THROTTLED_NVML, works=True),
        stand_in="sensors that say so",
    ),
]


def _extra(ground: Ground) -> str:
    text = cuda_kernel().replace("int k)", "int k, int more)")
    return ground.bad_row(text, "compile", suffix=".cu", size=_SIZE)


def _registers(ground: Ground) -> str:
    """255 registers in each of 1024 threads: a multiprocessor has 65 536."""
    text = (
        cuda_kernel(
            sum_="for (int r = 0; r < 200; r++) many[r] += a[i * k + l] * b[l * n + (j + r) % n];",
            store="for (int r = 0; r < 200; r++) sum += many[r] * (r == 0); c[i * n + j] = sum;",
            before='float many[200]; _Pragma("unroll") for (int r = 0; r < 200; r++) many[r] = 0;',
            block="32, 32",
        )
        .replace("* 16", "* 32")
        .replace("/ 16", "/ 32")
        .replace("for (int r", '_Pragma("unroll") for (int r')
    )
    bad, good = ground.rows(text, cuda_kernel(), suffix=".cu", size=_SIZE)
    need(good["status"] == "ok", f"the next kernel: {good['message']}")
    need(bad["gflops"] is None or bad["status"] == "ok", bad["status"])
    return f"{bad['status']}: {bad['message']}"
