"""The equipment of this machine: processor, compiler, GPU, driver, libraries; and how to install missing parts."""

import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gemmviz.backends.blas import blas_facts
from gemmviz.backends.compiler import compiler
from gemmviz.backends.cupy_check import cuda_verdict, cupy_packages, install_line
from gemmviz.backends.driver import Device, DeviceFacts, driver
from gemmviz.backends.environment import CompilerFacts, CpuFacts, Environment, Probe
from gemmviz.backends.host import available_memory
from gemmviz.backends.nvml import sensors
from gemmviz.backends.nvrtc import has_mma_header
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.schedule import made_for
from gemmviz.sandbox import in_force


@dataclass(frozen=True)
class Fact:
    """One part of the machine's equipment, which may be missing.

    Attributes
    ----------
    name, value
        Its name and the finding, as text for people.
    state
        ``"ok"``, ``"missing"`` (something does not work without it) or ``"absent"`` (gemmviz works without it).
    remedy
        The remedy; empty if nothing is needed.
    """

    name: str
    value: str
    state: str = "ok"
    remedy: str = ""


def gather() -> Probe:
    """Return everything.

    Imports CuPy if CUDA kernels can run, so only the engine's process may call it.
    """
    facts = [
        Fact("Python", platform.python_version()),
        Fact("CPU", f"{cpu_model()}, {cores()} cores"),
        _memory(),
        _compiler(),
        Fact("NumPy", f"{np.__version__}, {_blas_line()}"),
        *_gpu(),
        *(Fact(m.name, m.says, "ok" if m.on else "absent") for m in in_force.report()),
    ]
    cpu = CpuFacts(model=cpu_model(), cores=cores())
    return {"facts": [asdict(fact) for fact in facts], "env": environment(), "device": device(), "cpu": cpu}


def environment() -> Environment:
    """Return the part ``env`` of a result file that does not need CuPy."""
    found = driver()
    try:
        tool = compiler()
        toolchain: CompilerFacts | None = {"version": tool.version, "command": list(tool.command[-3:])}
    except Unavailable:
        toolchain = None
    packages = cupy_packages()
    return {
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cupy": packages[0][1] if packages else None,
        "driver": found.version or None,
        "cuda_runtime": None,
        "nvrtc": None,
        "compiler": toolchain,
        "blas": blas_facts(),
        "cpu": {"model": cpu_model(), "cores": cores()},
    }


def device() -> DeviceFacts | None:
    """Return the part ``device`` of a result file: the first GPU, or None."""
    found = driver().device
    return found.to_plain() if found else None


def schedule_for_this_gpu() -> None:
    """Make the schedules of this process for this machine's GPU, if it has one."""
    found = driver().device
    made_for(found.sms if found else None)


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> Fact:
    free = available_memory()
    return Fact("Memory", f"{free / 2**30:.1f} GiB available" if free is not None else "unknown")


def _compiler() -> Fact:
    try:
        return Fact("C compiler", compiler().version)
    except Unavailable as error:
        return Fact("C compiler", "none", "missing", str(error))


def _blas_line() -> str:
    blas = blas_facts()
    core = f" ({blas['core']} core, {blas['threads']} threads)" if "core" in blas else ""
    return f"BLAS {blas['name']} {blas['version']}{core}".strip()


def _gpu() -> list[Fact]:
    found, verdict, packages = driver(), cuda_verdict(), cupy_packages()
    gpu = found.device
    supports = f"supports CUDA {found.cuda[0]}.{found.cuda[1]}" if found.cuda else ""
    facts = [
        Fact("GPU", f"{gpu.name}, {gpu.sms} SMs, {gpu.mem_bytes / 2**30:.0f} GiB, compute capability {gpu.cc}")
        if gpu
        else Fact("GPU", "none", "absent", str(verdict)),
        Fact("NVIDIA driver", ", ".join(filter(None, (found.version, supports))) or "installed")
        if found.installed
        else Fact("NVIDIA driver", "none", "absent"),
    ]
    if gpu is not None:
        facts.append(_sensors(gpu))
    listed = ", ".join(" ".join(package) for package in packages) or "none"
    if not verdict.usable:
        if gpu is not None:
            facts.append(Fact("CuPy", listed, "missing", str(verdict)))
        else:
            facts.append(Fact("CuPy", listed, "ok" if len(packages) == 1 else "absent"))
        return facts
    return [*facts, *_cupy(listed)]


def _sensors(gpu: Device) -> Fact:
    if sensors(gpu.uuid) is not None:
        return Fact("NVML", "found: clock, power and temperature are read while kernels are timed")
    remedy = "results come without clock, power and temperature: pip install nvidia-ml-py"
    return Fact("NVML", "none", "absent", remedy)


def _cupy(listed: str) -> list[Fact]:
    # Imported here: this is the engine's process, and only a machine with a usable GPU needs the import.
    from gemmviz.backends import cuda

    try:
        versions = cuda.CudaBackend().environment()
    except Unavailable as error:
        return [Fact("CuPy", listed, "missing", str(error))]
    except Exception as error:
        return [Fact("CuPy", listed, "missing", f"CuPy does not work here: {error}")]
    facts = [Fact("CuPy", f"{listed}, CUDA runtime {versions['cuda_runtime']}")]
    install = install_line(driver())
    if versions["nvrtc"] is None:
        facts.append(Fact("NVRTC", "none", "missing", f"CUDA kernels cannot be compiled: {install}"))
    else:
        facts.append(Fact("NVRTC", versions["nvrtc"]))
    if has_mma_header():
        facts.append(Fact("mma.h", "found: kernels may use tensor cores"))
    else:
        facts.append(Fact("mma.h", "none", "absent", f"for tensor-core kernels: {install}"))
    return facts
