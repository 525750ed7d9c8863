"""Rungs beside each other: speed-ups and shares, never across machines."""

from dataclasses import replace

import pytest

from gemmviz.bench.figures import Shown
from gemmviz.bench.ranking import standings
from gemmviz.catalogue.ladder import find, ladder

KERNELS = ladder()


def ranked(figures, origins=None, kernels=KERNELS):
    """Return the standings of {name: GFLOPS} by name."""
    origins = origins or {}
    shown = {n: Shown({"gflops": g, "peak_fraction": None}, origins.get(n, "")) for n, g in figures.items()}
    return {s.kernel.name: s for s in standings(kernels, shown.get)}


def test_speed_up_is_over_the_first_rung_of_the_same_processor():
    found = ranked({"hostmult0": 1.0, "hostmult1": 2.0, "gpumult0": 500.0, "gputiled": 2000.0})
    assert found["hostmult1"].speedup == 2.0
    assert found["gputiled"].speedup == 4.0


def test_share_is_of_the_library_with_the_same_types_in_the_same_place():
    figures = {"hostmult0": 1.0, "openblas": 200.0, "numpy": 100.0, "gputiled": 2000.0, "cublas": 40_000.0}
    found = ranked(figures | {"cublas_fp16": 600_000.0, "mm": 1000.0})
    assert found["hostmult0"].share == 1 / 200 and found["hostmult0"].library == find("openblas", KERNELS).title
    assert found["gputiled"].share == 2000 / 40_000
    assert found["mm"].share is None  # whole numbers: no library here multiplies them
    assert found["cublas"].share is None


@pytest.mark.parametrize(("same_run", "share"), [(50_000.0, 0.04), (None, None)])
def test_a_share_in_a_reference_of_several_runs_is_of_the_library_in_the_same_run(same_run, share):
    rows = {"gputiled": {"gflops": 2000.0, "library_gflops": same_run}, "cublas": {"gflops": 40_000.0}}
    (found, _) = standings(KERNELS, {name: Shown(row, "reference") for name, row in rows.items()}.get)
    assert found.kernel.name == "gputiled" and found.share == share


def test_a_share_is_of_the_call_with_the_same_layouts():
    """Of two calls with the same types the faster one was taken, wherever B lies."""
    figures = {"tf32": 90.0, "tf32_by_rows": 80.0, "cublas_tf32": 100.0, "cublas_tf32_by_columns": 120.0}
    found = ranked(figures)
    assert found["tf32"].share == 0.75 and found["tf32"].library_gflops == 120.0
    assert found["tf32_by_rows"].share == 0.8 and found["tf32_by_rows"].library == find("cublas_tf32", KERNELS).title
    del figures["cublas_tf32"]
    assert ranked(figures)["tf32_by_rows"].library_gflops == 120.0  # another layout is better than none


def test_several_gpus_are_compared_with_each_other_and_not_with_one():
    found = ranked({"gpumult0": 500.0, "cublas_bf16_c16": 700_000.0, "whole_a": 1_500_000.0, "panels": 1_200_000.0})
    assert (found["panels"].speedup, found["panels"].share) == (0.8, None)
    assert found["cublas_bf16_c16"].speedup == 1400.0


def test_tensor_cores_are_compared_with_half_precision():
    found = ranked({"matmul_tc": 30_000.0, "cublas": 50_000.0, "cublas_fp16": 600_000.0})
    assert found["matmul_tc"].share == pytest.approx(0.05)


def test_bfloat16_is_compared_with_bfloat16_alone():
    half = find("matmul_tc", KERNELS)
    brain = replace(half, name="brain", dtype="bfloat16")
    figures = {"matmul_tc": 30_000.0, "brain": 35_000.0, "cublas_fp16": 600_000.0}
    found = ranked(figures, kernels=[*KERNELS, brain])
    assert found["brain"].share is None
    found = ranked(figures | {"cublas_bf16": 700_000.0}, kernels=[*KERNELS, brain])
    assert (found["brain"].share, found["matmul_tc"].share) == (0.05, 0.05)
    assert found["brain"].library == find("cublas_bf16", KERNELS).title


def test_machines_are_not_compared_with_each_other():
    reference = "reference: NVIDIA H200, 2026-11-21"
    found = ranked(
        {"gpumult0": 10.0, "gputiled": 5000.0, "cublas": 50_000.0}, {"gputiled": reference, "cublas": reference}
    )
    assert found["gputiled"].speedup == 1.0
    assert found["gpumult0"].share is None and found["gputiled"].share == 0.1


def test_exhibits_are_never_ranked():
    exhibit = next(k for k in KERNELS if k.exhibit)
    assert ranked({exhibit.name: 9.0}) == {}
