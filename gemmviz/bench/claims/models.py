"""Modelled figures of claims: computed from published limits, or from the inputs, whatever this machine is."""

from functools import cache

import numpy as np

from gemmviz.bench.claims.record import Case
from gemmviz.bench.model import devices
from gemmviz.bench.model.occupancy import Occupancy, Resource, Use, occupancy
from gemmviz.bench.protocol import Protocol
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem, random_inputs

_KIB = 1024
# All rows of C have similar errors; these few are enough to find a largest error.
_ROWS = 64
_RESOURCES: tuple[Resource, ...] = ("threads", "blocks", "registers", "shared")


def modelled(case: Case, what: str, kernels: list[Kernel]) -> float | None:
    """Return a modelled figure; None if its inputs are unknown.

    Parameters
    ----------
    case
        The kernel and size; for occupancy also a device, registers and the carve-out.
    what
        ``"occupancy"`` (0 to 1); ``"blocks.threads"``, ``"blocks.blocks"``, ``"blocks.registers"`` or
        ``"blocks.shared"``, the blocks per SM that this resource allows; or ``"input_rounding"``, see `input_rounding`.
    kernels
        The kernels in which the case's kernel is searched.
    """
    if what == "input_rounding":
        return input_rounding(case.size, find(case.kernel, kernels).dtype)
    found = _occupancy(case, kernels)
    if found is None:
        return None
    if what == "occupancy":
        return found.fraction
    resource = next((name for name in _RESOURCES if what == f"blocks.{name}"), None)
    return found.limits[resource] if resource else None


def _occupancy(case: Case, kernels: list[Kernel]) -> Occupancy | None:
    device = next((d for d in devices.published() if d.name == case.device), None)
    limits = devices.limits(device.facts()) if device else None
    if limits is None:
        return None
    shape = launch(find(case.kernel, kernels), Problem(*case.size), dict(case.params))
    carve_out = case.carve_out_kib * _KIB or None
    return occupancy(Use(shape.threads, case.registers, shape.shared_bytes), limits, carve_out)


@cache
def input_rounding(size: tuple[int, int, int], dtype: str) -> float:
    """Return the largest error of C if A and B are rounded to a type before they are multiplied exactly.

    Parameters
    ----------
    size
        (M, N, K).
    dtype
        NumPy name of the type to which they are rounded.

    Returns
    -------
    float
        Largest |A' B' - A B| / (|A| |B|) over the first rows of C, A and B being the random float32 inputs that are
        used in measurements, A' and B' the rounded ones: the measure of `gemmviz.bench.verify.Verdict.max_rel`.
    """
    exact, rounded = (
        [matrix.astype(np.float64) for matrix in (a[:_ROWS], b)]
        for a, b in (random_inputs(Problem(*size), name, Protocol().seed) for name in ("float32", dtype))
    )
    magnitude = np.abs(exact[0]) @ np.abs(exact[1])
    return float(np.max(np.abs(rounded[0] @ rounded[1] - exact[0] @ exact[1]) / magnitude))
