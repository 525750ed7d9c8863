"""The machine without its GPU, in the form of a result file: versions of the libraries, and the processor."""

from typing import TypedDict

from gemmviz.backends.driver import DeviceFacts
from gemmviz.catalogue.typed_reading import FromZero


class CpuFacts(TypedDict):
    """A processor; ``cores`` is the number that the process may use."""

    model: str
    cores: int


class CpuFields(TypedDict, total=False):
    """A processor in the form of a result file; some processors do not report their model."""

    model: str | None
    cores: FromZero | None


class CompilerFacts(TypedDict):
    """The C compiler, with the end of its command."""

    version: str
    command: list[str]


class OpenblasFacts(TypedDict):
    """The core type of OpenBLAS's code, and its threads."""

    core: str
    threads: int


class Environment(TypedDict, total=False):
    """The part ``env`` of a result file; None for a part that is missing, or was not requested."""

    os: str
    python: str
    numpy: str
    cupy: str | None
    driver: str | None
    cuda_runtime: str | None
    nvrtc: str | None
    compiler: CompilerFacts | None
    blas: dict[str, str]
    cpu: CpuFields | None
    openblas: OpenblasFacts


class Probe(TypedDict):
    """The equipment of a machine: facts for people (`gemmviz.backends.machine.Fact`), and parts of a result file."""

    facts: list[dict[str, str]]
    env: Environment
    device: DeviceFacts | None
    cpu: CpuFacts


def cpu_of(env: Environment | None) -> CpuFacts:
    """Return the processor; its name is empty, and it has 0 cores, if a file does not give it."""
    known = env.get("cpu") if env else None
    return {"model": known.get("model") or "", "cores": known.get("cores") or 0} if known else {"model": "", "cores": 0}
