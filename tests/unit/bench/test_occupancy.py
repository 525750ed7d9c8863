"""Theoretical occupancy is NVIDIA's: the figures come from its documents and its own calculator."""

import pytest

from gemmviz.bench.model.devices import limits
from gemmviz.bench.model.occupancy import Use, advice, occupancy


def on(cc, threads, registers=32, shared=0):
    return occupancy(Use(threads, registers, shared), limits({"cc": cc}))


@pytest.mark.parametrize(("side", "percent"), [(4, 33.3), (8, 66.7), (16, 100), (32, 66.7)])
def test_the_course_report_s_table_of_block_sizes(side, percent):
    """S4: two float tiles of side x side on an RTX 3080."""
    found = on("8.6", side * side, registers=40, shared=2 * side * side * 4)
    assert 100 * found.fraction == pytest.approx(percent, abs=0.1)


@pytest.mark.parametrize(
    ("cc", "threads", "registers", "shared", "blocks"),
    [
        # Computed with cuda_occupancy.h of the CUDA toolkit 13.
        ("6.1", 1000, 32, 0, 2),
        ("6.0", 265, 185, 16384, 0),
        ("7.0", 256, 64, 49152, 2),
        ("7.5", 128, 255, 0, 2),
        ("8.0", 96, 100, 20000, 5),
        ("8.6", 64, 120, 33000, 3),
        ("8.9", 33, 20, 0, 24),
        ("8.9", 384, 168, 0, 1),
        ("9.0", 128, 168, 0, 3),
        ("9.0", 128, 168, 227 * 1024, 1),
        ("9.0", 384, 168, 100000, 1),
        ("9.0", 256, 65, 0, 3),
        ("12.0", 1024, 64, 0, 1),
    ],
)
def test_active_blocks_are_those_of_nvidias_calculator(cc, threads, registers, shared, blocks):
    assert on(cc, threads, registers, shared).blocks == blocks


@pytest.mark.parametrize(("kib", "blocks"), [(8, 2), (16, 5), (32, 6), (100, 6), (None, 6), (1000, 6)])
def test_the_carve_out_limits_the_shared_memory_of_an_sm(kib, blocks):
    """CC with 16 x 16 blocks on an RTX 3080: 2 KiB of tiles and 1 KiB that CUDA takes, per block."""
    found = occupancy(Use(256, 40, 2048), limits({"cc": "8.6"}), None if kib is None else kib * 1024)
    assert found.blocks == blocks
    assert found.limits["shared"] == min(kib or 100, 100) * 1024 // 3072
    assert found.limits["blocks"] == 16


@pytest.mark.parametrize(
    ("use", "limiter", "says"),
    [
        (Use(1024, 32, 0), "threads", "at most 768 threads"),
        (Use(16, 16, 0), "blocks", "an SM holds 16; only larger blocks"),
        (Use(256, 128, 0), "registers", "at most 80 registers"),
        (Use(64, 32, 48 * 1024), "shared", "at most 33\u202f024 bytes"),
    ],
)
def test_the_limiter_is_named_and_its_advice_is_enough(use, limiter, says):
    ampere = limits({"cc": "8.6"})
    before = occupancy(use, ampere)
    assert before.limiters == (limiter,)
    assert says in advice(use, ampere)
    if limiter in ("registers", "shared"):
        changed = Use(64, 32, 33_024) if limiter == "shared" else Use(256, 80, 0)
        assert occupancy(changed, ampere).blocks == before.blocks + 1


@pytest.mark.parametrize(
    ("use", "why"),
    [
        (Use(1025, 32, 0), "1\u202f024 is the most"),
        (Use(1024, 65, 0), "registers per thread are too many for blocks of 1\u202f024 threads (at most 64)"),
        (Use(256, 32, 100 * 1024), "102\u202f400 bytes of shared memory"),
    ],
)
def test_a_block_that_cannot_run_has_a_message(use, why):
    ampere = limits({"cc": "8.6"})
    assert occupancy(use, ampere).fraction == 0
    assert advice(use, ampere).startswith("Such a block cannot run") and why in advice(use, ampere)


def test_clusters_change_no_block_and_their_cost_is_named():
    hopper = limits({"cc": "9.0"})
    alone, pairs = (Use(384, 168, 229_376, cluster) for cluster in (1, 2))
    assert occupancy(alone, hopper) == occupancy(pairs, hopper)
    assert "cudaOccupancyMaxActiveClusters" not in advice(alone, hopper)
    text = advice(pairs, hopper)
    assert text.startswith(advice(alone, hopper))
    assert "Each cluster of 2 blocks" in text and "SMs may be idle" in text and "this model does not" in text


def test_a_cluster_that_cannot_be_is_refused_and_one_that_must_be_asked_for_says_so():
    def text(cc, blocks):
        use, device = Use(384, 168, 16_384, blocks), limits({"cc": cc})
        return occupancy(use, device).blocks, advice(use, device)

    for cc in ("7.5", "8.0", "8.9"):
        assert text(cc, 2) == (0, "Such a block cannot run: clusters need compute capability 9.0 or higher.")
        assert "cluster" not in text(cc, 1)[1]
    for cc in ("9.0", "12.0"):
        blocks, why = text(cc, 17)
        assert blocks == 0 and "a cluster has 17 blocks; 16 is the most" in why and "SMs may be idle" not in why
    assert text("9.0", 16)[0] == text("9.0", 8)[0] == 1
    assert "non-portable" in text("9.0", 16)[1] and "non-portable" not in text("9.0", 8)[1]


def test_a_full_sm_has_no_limiter():
    found = on("8.6", 256, 40)
    assert (found.fraction, found.limiters) == (1.0, ())
