"""The arithmetic peak of a device for the types of a kernel: *modelled*, never measured.

Without tensor cores: SMs x multiply-adds per clock and SM x 2 x clock, at the highest clock that the driver allows
(CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"). With tensor cores: the maker's dense
figure, which is the same for FP16 and BF16 if there are both. A CPU has no peak here, because its clock under vector
load is not published.
"""

from typing import Any, Literal

from gemmviz.bench.model.devices import Facts, clock_ghz, find, rates
from gemmviz.catalogue.capability import suits

_KINDS: dict[tuple[str, str], tuple[Literal["fp32", "fp64", "int32"], str]] = {
    ("float32", "float32"): ("fp32", "FP32 without tensor cores"),
    ("float64", "float64"): ("fp64", "FP64 without tensor cores"),
    ("int32", "int32"): ("int32", "INT32 multiply-add"),
}
_TENSOR = {
    ("float16", "float32"): ("tensor_fp16_fp32_tflops", "FP16 on tensor cores, sums in FP32"),
    ("float16", "float16"): ("tensor_fp16_tflops", "FP16 on tensor cores, sums in FP16"),
    ("bfloat16", "float32"): ("tensor_fp16_fp32_tflops", "BF16 on tensor cores, sums in FP32"),
}
# The first tensor cores that multiply bfloat16 (CUDA C++ Programming Guide, "Compute Capability 8.x").
_BF16_FROM = "8.0"


def peak_gflops(device: Facts | None, dtype: str, accumulate: str) -> tuple[float, str] | None:
    """Return the peak GFLOPS of a device with a kernel's types.

    Parameters
    ----------
    device
        The part ``device`` of a result file; None for a CPU.
    dtype, accumulate
        NumPy names of the type of A and B, and of C and the sums.

    Returns
    -------
    tuple or None
        GFLOPS (2 per multiply-add), and the name of the peak; None if nothing is known or published.
    """
    if device is None:
        return None
    if dtype in ("float16", "bfloat16"):
        return _tensor(device, dtype, accumulate)
    known, row, clock, sms = _KINDS.get((dtype, accumulate)), rates(device), clock_ghz(device), device.get("sms")
    if known is None or row is None or clock is None or not sms:
        return None
    key, kind = known
    rate = row.get(key)
    return None if rate is None else (2.0 * rate * sms * clock, kind)


def _tensor(device: Facts, dtype: str, accumulate: str) -> tuple[float, str] | None:
    known: Any = find(device)
    key, kind = _TENSOR.get((dtype, accumulate), ("", ""))
    if dtype == "bfloat16" and not suits(_BF16_FROM, str(device.get("cc", ""))):
        return None
    tflops = getattr(known, key, None) if known else None
    if tflops is None:
        return None
    # Variants of a device with the same name have different numbers of SMs.
    return tflops * 1e3 * device.get("sms", known.sms) / known.sms, kind
