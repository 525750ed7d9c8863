"""Schedules: the parameters that follow from the size."""

from pathlib import Path

import pytest

from gemmviz.catalogue.errors import ConstraintError, FrontMatterError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.schedule import made_for
from gemmviz.catalogue.scheduled import scheduled, usual, why
from gemmviz.cli.schedule_print import reasons

HEAD = """// ---gemmviz
// version  = 6
// entry    = "k"
// args     = ["A", "B", "C", "M", "N", "K"]
// params   = {{ TS = [64, 16], SPLIT = [1, 2, 4] }}
// block    = ["TS"]
// grid     = ["ceil(M / TS) * ceil(N / TS) * SPLIT"]
// requires = ["SPLIT <= K"]
{schedule}// ---
__global__ void k(const float *A, const float *B, float *C, int M, int N, int K) {{}}
"""
SCHEDULE = """// schedule.sets  = [{ TS = 64 }, { TS = "max(16, floor(M / 64))" }]
// schedule.each  = { SPLIT = [1, 4] }
// schedule.tile  = ["TS", "TS"]
// schedule.tiles = "tiles * SPLIT"
// schedule.names.tiles = "ceil(M / TS) * ceil(N / TS)"
// schedule.cost  = "ceil(tiles * SPLIT / SMS) * TS * TS * K / SPLIT + SPLIT * 100"
"""


def kernel(schedule=SCHEDULE):
    return parse(HEAD.format(schedule=schedule), Path("30_k.cu"))


def test_the_set_of_the_least_cost_is_taken_and_conditions_leave_sets_out():
    assert usual(kernel(), Problem(64, 64, 512)) == {"TS": 16, "SPLIT": 4}
    assert usual(kernel(), Problem(64, 64, 2)) == {"TS": 16, "SPLIT": 1}
    assert usual(kernel(""), Problem(64, 64, 512)) == {"TS": 64, "SPLIT": 1}


def test_what_the_user_gives_stays_and_the_rest_follows():
    assert usual(kernel(), Problem(64, 64, 512), {"SPLIT": 2}) == {"TS": 16, "SPLIT": 2}
    assert launch(kernel(), Problem(64, 64, 512)).params == {"TS": 16, "SPLIT": 4}
    assert launch(kernel(), Problem(64, 64, 512), {"TS": 64}).params == {"TS": 64, "SPLIT": 4}


def test_the_reason_names_tiles_and_multiprocessors():
    text = why(kernel(), Problem(64, 64, 512), {"TS": 16, "SPLIT": 4})
    assert text.startswith(
        "Tiles of 16 x 16, each in 4 parts along K, keep 64 of 132 multiprocessors busy. 64 x 64 tiles "
    )
    assert why(kernel(), Problem(64, 64, 512), {"TS": 64, "SPLIT": 1}) == ""
    assert why(kernel(""), Problem(64, 64, 512), {"TS": 64, "SPLIT": 1}) == ""


def test_values_of_a_set_may_be_expressions_of_each_other_and_of_what_the_user_gives():
    text = SCHEDULE.replace('"max(16, floor(M / 64))"', '"64 / SPLIT"')
    assert usual(kernel(text), Problem(64, 64, 512)) == {"TS": 16, "SPLIT": 4}
    assert usual(kernel(text), Problem(64, 64, 512), {"SPLIT": 2})["TS"] == 32


def test_a_set_keeps_its_own_value_of_what_the_others_are_tried_with():
    text = SCHEDULE.replace("{ TS = 64 }, ", "").replace('floor(M / 64))" }', 'floor(M / 64))", SPLIT = 2 }')
    assert [one.params["SPLIT"] for one in scheduled(kernel(text), Problem(64, 64, 512))] == [2]


def test_a_cost_beyond_the_largest_float_leaves_a_set_out():
    huge = f'// schedule.names.huge = "1{"0" * 190}"\n// schedule.cost  = "huge * huge / 3"\n'
    text = SCHEDULE[: SCHEDULE.index("// schedule.cost")] + huge
    assert usual(kernel(text), Problem(64, 64, 512)) == {"TS": 64, "SPLIT": 1}


@pytest.fixture
def smaller_gpu():
    made_for(64)
    yield
    made_for(None)


@pytest.mark.usefixtures("smaller_gpu")
def test_the_choice_is_made_for_the_multiprocessors_of_the_gpu():
    text = why(kernel(), Problem(128, 128, 512), usual(kernel(), Problem(128, 128, 512)))
    assert "of 64 multiprocessors" in text
    rung = find("every_shape", ladder())
    assert launch(rung, Problem(4096, 4096, 4096)).blocks == 64
    document = {"device": {"sms": 114}, "results": [row(rung, Problem(4096, 4096, 4096), 114)]}
    [line] = reasons(document, ladder())
    assert line.startswith("every_shape at 4096 x 4096 x 4096: Tiles of") and "of 114 multiprocessors" in line


def row(rung, size, multiprocessors):
    made_for(multiprocessors)
    return {"kernel": rung.name, "M": size.m, "N": size.n, "K": size.k, "params": usual(rung, size)}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{ sets = [] }", "must be a table"),
        ('{ sets = [{ X = 1 }], tile = ["1", "1"], tiles = "1", cost = "1" }', "'X'"),
        (
            '{ sets = [{ TS = "SPLIT", SPLIT = "TS" }], tile = ["1", "1"], tiles = "1", cost = "1" }',
            "the values of SPLIT, TS need each other",
        ),
    ],
)
def test_a_faulty_schedule_is_named(line, fault):
    with pytest.raises(FrontMatterError, match=fault):
        kernel(f"// schedule = {line}\n")


@pytest.mark.parametrize("name", ["every_shape_fp32", "every_shape", "every_shape_c16"])
def test_the_ladder_has_a_launch_for_any_size(name):
    rung = find(name, ladder())
    for size in (Problem(1, 1, 1), Problem(1023, 1025, 1021), Problem(16, 8192, 8192), Problem(512, 512, 16384)):
        assert scheduled(rung, size), size
        assert launch(rung, size).blocks <= 132
    assert launch(find("every_shape", ladder()), Problem(512, 512, 16384)).params["SPLIT"] > 1


@pytest.mark.parametrize("size", [(1024, 512, 4096), (512, 1024, 8192)], ids=str)
def test_two_parts_of_a_tile_have_no_cluster(size):
    params = usual(find("every_shape", ladder()), Problem(*size))
    assert (params["BM"], params["BN"], params["SPLIT"]) == (64, 128, 2)
    assert (params["CLUSTER"], params["ACROSS"], params["TOGETHER"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("name", "size", "tile"),
    [
        # Parts with C in 16 bits cannot add to C: their sums wait in memory, or they send them to each other.
        ("every_shape_c16", (1024, 512, 4096), (64, 128)),
        ("every_shape_bf16_c16", (1024, 512, 4096), (64, 128)),
    ],
    ids=str,
)
def test_two_parts_of_a_tile_are_a_cluster_where_that_is_faster(name, size, tile):
    params = usual(find(name, ladder()), Problem(*size))
    assert (params["BM"], params["BN"], params["SPLIT"], params["TOGETHER"]) == (*tile, 2, 1)


@pytest.mark.parametrize("k", [4096, 8192])
def test_tiles_of_320_columns_are_taken_where_they_leave_no_columns_over(k):
    params = usual(find("every_shape", ladder()), Problem(8192, 1280, k))
    assert (params["BN"], params["CLUSTER"], params["ACROSS"]) == (320, 1, 1)


@pytest.mark.parametrize(
    ("size", "columns", "cluster"), [(512, 64, 1), (1536, 160, 1), (2048, 128, 1), (4096, 128, 1), (6144, 160, 2)]
)
def test_the_tile_of_fp8_follows_from_the_size(size, columns, cluster):
    params = usual(find("fp8_in_turns", ladder()), Problem.cube(size))
    assert (params["BN"], params["CLUSTER"]) == (columns, cluster)


@pytest.mark.parametrize(
    ("size", "rows", "columns", "parts"),
    [((512, 512, 16384), 64, 128, 4), ((16, 8192, 8192), 64, 128, 2), ((1024, 1024, 16384), 128, 128, 2)],
)
def test_deep_products_in_fp8_have_parts_along_k(size, rows, columns, parts):
    params = usual(find("fp8_in_turns", ladder()), Problem(*size))
    assert [params[name] for name in ("BM", "BN", "SPLIT", "TURNS")] == [rows, columns, parts, 1]


@pytest.mark.parametrize("name", ["every_shape", "every_shape_c16", "every_shape_bf16"])
@pytest.mark.parametrize("size", [1000, 1096], ids=str)
def test_blocks_are_clusters_of_eight_where_rows_begin_anywhere_and_gpcs_hold_whole_clusters(name, size) -> None:
    rung = find(name, ladder())
    params = usual(rung, Problem.cube(size))
    assert (params["TURNED"], params["CLUSTER"] * params["ACROSS"], params["BLOCKS"]) == (1, 8, 120)
    assert launch(rung, Problem.cube(size)).blocks <= 120
    aligned = usual(rung, Problem.cube({1000: 1024, 1096: 1280}[size]))
    assert aligned["CLUSTER"] * aligned["ACROSS"] == 1  # its rows begin at lines


def test_a_long_product_shares_b_in_clusters_as_the_limit_of_power_hides_what_they_cost() -> None:
    rung = find("every_shape", ladder())
    assert [usual(rung, Problem.cube(n))["CLUSTER"] for n in (3072, 4096, 6144, 8192)] == [1, 2, 2, 2]


def test_what_rows_cost_depends_on_multiples_of_64_bytes_and_of_32():
    rung = find("every_shape", ladder())
    costs = [
        next(one.cost for one in scheduled(rung, Problem(1024, n, k)) if one.params["BM"] == 64 == one.params["BN"])
        for n, k in ((1024, 1024), (1024, 1056), (1024, 1072), (1024, 1080))
    ]
    per_step = [cost / (k / 64) for cost, k in zip(costs[1:], (1088, 1088, 1088), strict=True)]
    assert per_step[0] < per_step[1] < per_step[2]


@pytest.mark.parametrize(
    ("size", "stages"),
    [
        ((1000, 504, 4000), 6),  # two parts
        ((1000, 1000, 1024), 8),  # A's rows begin at lines
        ((256, 4000, 1000), 8),  # four tiles one below the other
    ],
    ids=str,
)
def test_rows_of_b_that_begin_anywhere_are_shared_and_asked_for_by_fewer_stages(size, stages) -> None:
    params = usual(find("every_shape", ladder()), Problem(*size))
    assert (params["BM"], params["BN"], params["CLUSTER"], params["ACROSS"]) == (64, 128, 2, 1)
    assert params["STAGES"] == stages


@pytest.mark.parametrize("name", ["every_shape", "every_shape_bf16_c16"])
def test_a_turned_tile_has_as_many_stages_as_fit_beside_the_boxes_of_one_part_and_then_more_boxes(name) -> None:
    params = usual(find(name, ladder()), Problem(3328, 1000, 2256))
    assert (params["TURNED"], params["BM"], params["BN"]) == (1, 208, 128)
    assert (params["STAGES"], params["BOXES"]) == (5, 2)
    small = usual(find(name, ladder()), Problem(768, 768, 768))
    assert (small["BM"], small["BN"], small["STAGES"], small["BOXES"]) == (72, 64, 12, 6)  # all parts at once


@pytest.mark.parametrize(
    ("size", "rows", "columns", "tiles"),
    [
        ((768, 768, 768), 72, 64, 11 * 12),
        ((1280, 1280, 1280), 104, 128, 13 * 10),
        ((16, 8192, 8192), 16, 64, 128),
        ((2560, 1280, 2560), 200, 128, 13 * 10),
    ],
    ids=str,
)
def test_a_turned_tile_has_as_many_rows_as_leave_few_multiprocessors_idle(size, rows, columns, tiles):
    rung = find("every_shape", ladder())
    best = scheduled(rung, Problem(*size))[0]
    assert best.params["TURNED"] == 1
    assert (best.rows, best.columns, best.tiles) == (rows, columns, tiles)


@pytest.mark.parametrize(
    "size", [(4096, 4096, 4096), (8192, 8192, 8192), (256, 14336, 4096), (1023, 1025, 1021)], ids=str
)
def test_large_products_and_odd_ones_have_no_turned_tiles(size):
    assert usual(find("every_shape", ladder()), Problem(*size))["TURNED"] == 0


def test_of_tiles_that_cost_the_same_in_fp32_the_one_with_fewer_rows_of_a_comes_first():
    best, other = scheduled(find("every_shape_fp32", ladder()), Problem(512, 512, 16384))[:2]
    assert best.cost == other.cost
    assert ((best.rows, best.columns), (other.rows, other.columns)) == ((64, 256), (128, 128))


def test_rows_of_any_length_need_to_be_declared():
    rung = find("every_shape", ladder())
    line = next(line for line in rung.text.splitlines() if line.startswith("// unaligned"))
    with pytest.raises(ConstraintError, match="multiple of 16 bytes"):
        launch(parse(rung.text.replace(f"{line}\n", ""), Path("68a_k.cu")), Problem(64, 64, 65))
    assert launch(rung, Problem(64, 64, 65)).blocks
