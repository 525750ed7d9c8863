"""Why CUDA kernels cannot run, and the exact line that helps."""

from pathlib import Path

import pytest

from gemmviz.backends.cupy_check import cupy_packages, judge
from gemmviz.backends.driver import CudaDriver, Device
from gemmviz.backends.nvrtc import nvrtc_error

H200 = Device("NVIDIA H200", "GPU-0", "9.0", 132, 50 << 20, 140 << 30, True)


def driver(cuda=(13, 0), device=H200, installed=True, problem=""):
    return CudaDriver(installed, cuda if installed else None, "580.65.06" if installed else "", device, problem)


def test_installed_cupy_packages_are_found_once_and_nothing_else(tmp_path, monkeypatch):
    for folder, package, version in (
        ("site", "cupy_cuda13x", "14.2.0"),
        ("site", "cupyx_tools", "1.0"),
        ("site", "numpy", "2.4.0"),
        ("other", "cupy_cuda13x", "14.2.0"),
        ("other", "cupy", "13.0.0"),
    ):
        described = tmp_path / folder / f"{package}-{version}.dist-info"
        described.mkdir(parents=True)
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (tmp_path / "site" / "cupy").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path / name) for name in ("site", "gone", "other")])
    assert cupy_packages() == [("cupy", "13.0.0"), ("cupy-cuda13x", "14.2.0")]


def test_one_package_that_fits_is_usable():
    assert judge([("cupy-cuda13x", "14.2.0")], driver()).usable
    assert judge([("cupy-cuda12x", "14.2.0")], driver()).usable


def test_without_a_driver_the_reason_is_that_there_is_no_device():
    verdict = judge([], driver(installed=False, device=None, problem="there is no NVIDIA driver on this machine"))
    assert not verdict.usable
    assert verdict.reason.startswith("no CUDA device: ")


def test_cupy_without_a_gpu_points_to_the_driver():
    verdict = judge([("cupy-cuda13x", "14.2.0")], driver(device=None, problem="the NVIDIA driver finds no GPU"))
    assert verdict.reason == "no CUDA device: the NVIDIA driver finds no GPU"
    assert "nvidia-smi" in verdict.remedy


@pytest.mark.parametrize(("cuda", "extra"), [((12, 4), "cuda12"), ((13, 0), "cuda13"), ((14, 1), "cuda13")])
def test_without_cupy_the_install_line_fits_the_driver(cuda, extra):
    verdict = judge([], driver(cuda))
    assert verdict.reason == "CuPy is not installed"
    assert verdict.remedy == f"pip install 'gemmviz[{extra}]'"


def test_two_packages_are_named_and_one_has_to_go():
    verdict = judge([("cupy-cuda12x", "14.0.0"), ("cupy-cuda13x", "14.2.0")], driver())
    assert not verdict.usable
    assert "cupy-cuda12x and cupy-cuda13x" in verdict.reason
    assert "pip uninstall cupy-cuda12x cupy-cuda13x" in verdict.remedy


def test_a_driver_that_is_too_old_is_named_with_both_versions():
    verdict = judge([("cupy-cuda13x", "14.2.0")], driver((12, 8)))
    assert "CUDA 12.8" in verdict.reason and "CUDA 13.0" in verdict.reason
    assert "gemmviz[cuda12]" in verdict.remedy


def test_a_driver_too_old_for_everything_has_to_be_updated():
    assert judge([("cupy-cuda12x", "14.2.0")], driver((11, 4))).remedy == "update the NVIDIA driver"


def test_errors_of_nvrtc_keep_the_line_of_the_file():
    log = (
        'bad.cu(12): warning #177-D: variable "x" was declared but never referenced\n\n'
        "/usr/include/other.h(3): error: something deep\n"
        'bad.cu(14): error: identifier "blockIdy" is undefined\n'
        '2 errors detected in the compilation of "bad.cu".\n'
    )
    error = nvrtc_error(log, Path("some/where/bad.cu"), "k")
    assert error.line == 14
    assert str(error) == 'bad.cu:14: identifier "blockIdy" is undefined'


def test_errors_elsewhere_are_reported_without_a_line():
    error = nvrtc_error('other.h(3): catastrophic error: cannot open source file "x.h"\n', Path("bad.cu"), "k")
    assert error.line is None
    assert "cannot open source file" in str(error)


def test_an_empty_log_still_says_something():
    assert "does not compile" in str(nvrtc_error("", Path("bad.cu"), "k"))
