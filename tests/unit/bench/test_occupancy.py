"""Theoretical occupancy is NVIDIA's: the figures come from its documents and its own calculator."""

from dataclasses import replace

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


@pytest.mark.parametrize(
    ("cc", "threads", "registers", "shared", "barriers", "blocks"),
    [
        # Computed with cuda_occupancy.h of the CUDA toolkit 13; the first three as the driver of an H200 says, too.
        ("9.0", 256, 34, 39_936, 16, 4),
        ("9.0", 256, 34, 30_720, 16, 4),
        ("9.0", 256, 34, 21_504, 16, 4),
        ("9.0", 256, 34, 39_936, 1, 5),
        ("9.0", 32, 32, 0, 2, 32),
        ("9.0", 64, 32, 0, 3, 21),
        ("9.0", 128, 24, 16_384, 9, 7),
        ("8.9", 256, 34, 21_504, 16, 4),
        ("8.9", 32, 32, 0, 16, 24),
        ("10.0", 64, 32, 0, 5, 12),
        ("12.0", 256, 34, 39_936, 16, 1),
        ("12.0", 256, 34, 39_936, 1, 2),
        ("12.0", 64, 32, 0, 3, 8),
    ],
)
def test_named_barriers_limit_blocks_as_in_nvidias_calculator(cc, threads, registers, shared, barriers, blocks):
    assert occupancy(Use(threads, registers, shared, barriers=barriers), limits({"cc": cc})).blocks == blocks


def test_the_five_limits_of_a_kernel_that_reserves_all_barriers():
    """`every_shape<half, float, 8, 64, 4, ...>` on an H200, whose driver says 4 blocks."""
    hopper = limits({"cc": "9.0"})
    found = occupancy(Use(256, 34, 39_936, barriers=16), hopper)
    assert found.limits == {"threads": 8, "blocks": 32, "registers": 6, "shared": 5, "barriers": 4}
    assert found.limiters == ("barriers",)
    unknown = occupancy(Use(256, 34, 39_936), hopper)
    assert (unknown.blocks, unknown.limits["barriers"]) == (5, None)


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
    ("barriers", "most", "says"),
    [
        (16, 12, "A block takes all 16 named barriers: so many are reserved if the compiler does not know the number"),
        (13, 12, "A block takes 13 named barriers."),
    ],
)
def test_the_advice_about_named_barriers_is_enough(barriers, most, says):
    hopper = limits({"cc": "9.0"})
    use = Use(256, 34, 39_936, barriers=barriers)
    text = advice(use, hopper)
    assert f"Limited by named barriers; one more block per SM needs at most {most} named barriers per block." in text
    assert says in text
    before, after, beyond = (
        occupancy(replace(use, barriers=count), hopper).blocks for count in (barriers, most, most + 1)
    )
    assert (before, after, beyond) == (4, 5, 4)
    assert "barriers" not in advice(replace(use, barriers=1), hopper)


@pytest.mark.parametrize(
    ("use", "why"),
    [
        (Use(256, 32, 0, barriers=17), "a block has 17 named barriers; 16 is the most"),
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
