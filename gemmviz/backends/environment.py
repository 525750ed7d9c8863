"""What a result file says of the machine beside its GPU: versions of what was used, and the processor."""

from typing import TypedDict


class CpuFacts(TypedDict):
    """A processor; ``cores`` are those that the process may use."""

    model: str
    cores: int


class CompilerFacts(TypedDict):
    """The C compiler, with the end of its command."""

    version: str
    command: list[str]


class OpenblasFacts(TypedDict):
    """The core type that OpenBLAS chose its code for, and its threads."""

    core: str
    threads: int


class Environment(TypedDict, total=False):
    """The part ``env`` of a result file; None is what the machine lacks, or what nobody asked for."""

    os: str
    python: str
    numpy: str
    cupy: str | None
    driver: str | None
    cuda_runtime: str | None
    nvrtc: str | None
    compiler: CompilerFacts | None
    blas: dict[str, str]
    cpu: CpuFacts
    openblas: OpenblasFacts


def cpu_of(env: Environment | None) -> CpuFacts:
    """Return the processor; its name is empty, and it has 0 cores, where a file says nothing of it."""
    known = env.get("cpu") if env else None
    return {"model": known.get("model") or "", "cores": known.get("cores") or 0} if known else {"model": "", "cores": 0}
