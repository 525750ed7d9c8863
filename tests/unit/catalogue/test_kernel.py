import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_kernel import kernel, source

from gemmviz.catalogue.conditions import never
from gemmviz.catalogue.errors import ConstraintError, FrontMatterError, GemmvizError
from gemmviz.catalogue.kernel import load, parse
from gemmviz.catalogue.ladder import find, ladder, read_ladder
from gemmviz.catalogue.launch import SharedMemoryError, launch, nearest_size
from gemmviz.catalogue.problem import Problem, random_inputs, small_integer_inputs, stored, unstored
from gemmviz.catalogue.tensor_map import TensorMap
from gemmviz.language import set_language


def test_a_file_describes_itself() -> None:
    mine = kernel(layout='{ B = "column" }', title='"Mine"')
    assert (mine.name, mine.title, mine.backend) == ("mine", "Mine", "cuda")
    assert mine.defaults == {"TS": 8}
    assert mine.column_major == {"B"}
    job = launch(mine, Problem(20, 30, 40), {"TS": 16})
    assert (job.entry, job.block, job.grid) == ("k<16>", (16, 16, 1), (2, 2, 1))


def test_kernels_of_edited_texts_are_not_kept_for_long() -> None:
    first = weakref.ref(kernel(title='"Edit 0"'))
    for edit in range(1, 40):
        kernel(title=f'"Edit {edit}"')
    gc.collect()
    assert first() is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"entry": '"nowhere"'}, "defines no such function"),
        ({"entry": None}, "entry must name"),
        ({"args": '["A", "B", "C", "Q"]'}, "'Q'"),
        ({"args": '["A", "B"]'}, "lacks C"),
        ({"args": "3"}, "list of texts"),
        ({"block": '["TX"]'}, "'TX', which is not declared"),
        ({"grid": "[]"}, "one to three"),
        ({"params": "{ TS = [] }"}, "at least one"),
        ({"params": "{ M = [1] }"}, "another name"),
        ({"requires": '["import os"]'}, "not an expression"),
        ({"speed": "9"}, "unknown key 'speed'"),
        ({"dtype": '"float7"'}, "float7"),
        ({"dtype": "true"}, "not true"),
        ({"version": "false"}, "not false"),
        ({"version": "1979-05-27"}, 'not "1979-05-27"'),
        ({"shared": "true"}, "shared must be an expression, not true"),
        ({"shared": '["8"]'}, r'shared must be an expression, not \["8"\]'),
        ({"layout": '{ B = "diagonal" }'}, "layout must"),
        ({"title": "[["}, "not TOML"),
        ({"title": "3"}, "title must be a text, not 3"),
        ({"params": '{ TS = [8, "x"] }'}, r'for example params = .*; params\.TS\[1\] is "x"'),
        ({"grid": "[1, 2.5]"}, r"grid must be a list of texts; grid\[1\] is 2\.5"),
    ],
)
def test_the_message_about_wrong_front_matter_names_the_fault(changes: dict[str, str | None], says: str) -> None:
    with pytest.raises(FrontMatterError, match=says) as caught:
        kernel(**changes)
    assert "07_mine.cu" in str(caught.value)


def test_a_file_with_the_host_code_names_the_files_with_the_kernels(tmp_path: Path) -> None:
    main = tmp_path / "main.cu"
    main.write_text('#include "first.cuh"\n#include "gone.cuh"\n#include "host.cuh"\nint main() {}\n')
    (tmp_path / "first.cuh").write_text("__global__ void k() {}\n")
    (tmp_path / "host.cuh").write_text("void f();\n")
    (tmp_path / "other.cu").write_text("__global__ void k() {}\n")
    with pytest.raises(FrontMatterError, match=r"beside it has one: open first\.cuh"):
        load(main)
    main.write_text("int main() {}\n")
    with pytest.raises(FrontMatterError, match=r"that have kernels: first\.cuh, other\.cu"):
        load(main)
    (tmp_path / "first.cuh").unlink()
    (tmp_path / "other.cu").unlink()
    with pytest.raises(FrontMatterError, match="nothing in it is marked"):
        load(main)


def test_a_file_without_front_matter_is_told_how_it_looks() -> None:
    with pytest.raises(FrontMatterError, match="---gemmviz"):
        parse("__global__ void k() {}", Path("k.cu"))


@given(st.text())
def test_no_text_crashes_the_parser(text: str) -> None:
    for whole in (text, f"// ---gemmviz\n// {text}\n// ---\n"):
        with pytest.raises(FrontMatterError):
            parse(whole, Path("k.cu"))


def test_the_launch_is_checked_before_anything_is_compiled() -> None:
    with pytest.raises(ConstraintError, match="1024"):
        launch(kernel(), Problem.cube(64), {"TS": 33})
    with pytest.raises(ConstraintError, match="at least 1"):
        launch(kernel(block='["TS - 8"]'), Problem.cube(64))
    with pytest.raises(ConstraintError, match="no parameter 'BM'"):
        launch(kernel(), Problem.cube(64), {"BM": 1})
    with pytest.raises(ConstraintError, match="grid"):
        launch(kernel(grid='["1", "M * 1000"]'), Problem.cube(100_000))
    with pytest.raises(FrontMatterError, match="zero"):
        launch(kernel(block='["8"]'), Problem.cube(64), {"TS": 0})


def test_the_nearest_size_is_offered() -> None:
    picky = kernel(requires='["M % TS == 0", "N % TS == 0", "K % 4 == 0", "M >= N"]')
    with pytest.raises(ConstraintError, match="nearest size that works is 104 x 96 x 4"):
        launch(picky, Problem(100, 99, 5))
    assert nearest_size(picky, Problem(8, 8, 4), {"TS": 8}) == Problem(8, 8, 4)


@pytest.mark.parametrize("size", [0, -1, 10**9])
def test_sizes_out_of_range_are_refused(size: int) -> None:
    with pytest.raises(ConstraintError, match="choose a size"):
        Problem(8, size, 8)


def test_leading_dimensions_follow_the_layout() -> None:
    job = launch(kernel(layout='{ B = "column" }'), Problem(2, 3, 5))
    assert [job.scalar(name) for name in ("lda", "ldb", "ldc", "alpha", "beta", "K")] == [5, 5, 3, 1.0, 0.0, 5]


def test_storing_by_columns_can_be_undone() -> None:
    mine, problem = kernel(layout='{ B = "column" }'), Problem(2, 3, 5)
    _, b = random_inputs(problem, "float32", seed=1)
    flat = stored(mine, "B", b)
    assert flat[1] == b[1, 0]
    assert (unstored(mine, "B", flat, problem) == b).all()


def test_random_inputs_are_reproducible_and_never_zeros() -> None:
    first, again = (random_inputs(Problem.cube(16), "float32", seed=5)[0] for _ in range(2))
    assert (first == again).all()
    assert first.std() > 0.4


def test_small_whole_numbers_are_those_of_earlier_versions_in_every_type() -> None:
    problem, values = Problem(31, 17, 23), np.array([-3, -2, -1, 1, 2, 3])
    generator = np.random.default_rng(4)
    drawn = [values[generator.integers(0, 6, problem.shape(name))] for name in "AB"]  # 64 bits for each number
    for dtype in ("float32", "float16", "bfloat16", "int8", "float8_e4m3fn"):
        for matrix, wanted in zip(small_integer_inputs(problem, dtype, 4), drawn, strict=True):
            assert matrix.dtype == np.dtype(dtype)
            assert (matrix.astype(int) == wanted).all()


def test_the_ladder_goes_from_cpu_to_gpu_and_every_rung_takes_or_offers_a_size() -> None:
    rungs = ladder()
    order = ["c", "openblas", "numpy", "cuda", "cublas"]
    assert [k.backend for k in rungs] == sorted((k.backend for k in rungs), key=order.index)
    for rung in rungs:
        assert rung.title and rung.idea
        try:
            assert launch(rung, Problem(13, 7, 5)).problem.n == 7
        except ConstraintError:
            nearest = nearest_size(rung, Problem(13, 7, 5), rung.defaults)
            assert nearest is not None and launch(rung, nearest)


@pytest.mark.parametrize(
    ("file", "name"), [("07_mine", "mine"), ("21a_mine", "mine"), ("2d_tiles", "2d_tiles"), ("mine_2", "mine_2")]
)
def test_the_number_that_orders_the_files_is_no_part_of_the_name(file: str, name: str) -> None:
    assert parse(source(), Path(f"{file}.cu")).name == name


def test_a_text_may_run_over_several_lines() -> None:
    mine = kernel(exhibit='"""\n// It is wrong\n//   on purpose."""')
    assert mine.exhibit == "It is wrong on purpose."


def test_a_kernel_is_found_by_name_alias_and_path(tmp_path: Path) -> None:
    rungs = ladder()
    assert find("gpumult0 + restrict", rungs).name == "gpumult0_restrict"
    file = tmp_path / "mine.cu"
    file.write_text(source())
    assert find(str(file), rungs).name == "mine"
    with pytest.raises(GemmvizError, match="gputiled"):
        find("gputield", rungs)
    with pytest.raises(GemmvizError, match="no file"):
        find("nowhere.cu", rungs)


def test_of_two_files_of_one_name_the_second_is_left_out(tmp_path: Path) -> None:
    for folder in ("cpu", "cuda"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "01_same.cu").write_text(source())
    (kernel,), (fault,) = read_ladder(tmp_path)
    assert kernel.name == "same" and "two kernel files are named 'same'" in fault


def test_a_bad_file_leaves_the_rest_of_the_ladder(tmp_path: Path) -> None:
    (tmp_path / "01_good.cu").write_text(source())
    (tmp_path / "02_bad.cu").write_text(source(args="[1"))
    (tmp_path / "03_bytes.cu").write_bytes(b"\xff\xfe")
    (tmp_path / "04_gone.c").symlink_to(tmp_path / "nowhere.c")
    os.mkfifo(tmp_path / "05_pipe.cu")
    kernels, faults = read_ladder(tmp_path)
    assert [kernel.name for kernel in kernels] == ["good"] == [kernel.name for kernel in ladder(tmp_path)]
    for fault, (file, why) in zip(
        faults,
        [
            ("02_bad.cu", "02_bad.cu:4: the front matter is not TOML"),
            ("03_bytes.cu", "not a text file in UTF-8"),
            ("04_gone.c", "No such file"),
            ("05_pipe.cu", "not a regular file"),
        ],
        strict=True,
    ):
        assert fault.startswith(f"{tmp_path / file} is left out: ") and why in fault
    (tmp_path / "01_good.cu").unlink()
    with pytest.raises(GemmvizError, match="there is no kernel in"):
        ladder(tmp_path)


@pytest.mark.parametrize(
    ("shared", "text"),
    [
        ("-1", "-1 bytes"),
        ('"0 - TS"', "-8 bytes"),
        ("232449", "232\u202f449 bytes"),
        ("1000000000000", "1\u202f000\u202f000\u202f000\u202f000 bytes"),
        ('"' + "9" * 190 + '"', r"10\^189 bytes"),
    ],
)
def test_shared_memory_that_no_gpu_has_is_refused(shared: str, text: str) -> None:
    with pytest.raises(
        SharedMemoryError, match=f"mine: shared comes out as {text}.*a block can have 0 to 232\u202f448"
    ):
        launch(kernel(shared=shared), Problem.cube(8))
    assert launch(kernel(shared="232448"), Problem.cube(8)).shared_bytes == 232448


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"args": '["A", "B", "C", "Q"]'}, 3),
        ({"params": "{ TS = [] }"}, 4),
        ({"grid": '["ceil(N / TX)", "1"]'}, 6),
        ({"block": "= 3"}, 5),
        ({"nonsense": "1"}, 7),
        ({"entry": None}, None),
    ],
)
def test_a_mistake_in_the_front_matter_names_its_line(changes: dict[str, str | None], line: int | None) -> None:
    with pytest.raises(FrontMatterError) as caught:
        kernel(**changes)
    assert caught.value.line == line
    assert str(caught.value).startswith("07_mine.cu:" + (f"{line}:" if line else " "))


@pytest.mark.parametrize(
    ("changes", "line", "spanish", "korean"),
    [
        ({"args": '["A", "B", "C", "Q"]'}, 3, "args nombra 'Q'", "알 수 없는 역할"),
        ({"params": "{ TS = [] }"}, 4, "debe ser una tabla de listas", "목록의 테이블이어야 합니다"),
        ({"block": '["TX"]'}, 5, "que no está declarado", "선언되지 않은 이름"),
        ({"idea": '"which args"', "args": None}, None, "args debe dar la función", "매개변수의 역할"),
    ],
)
def test_a_mistake_in_the_front_matter_is_named_in_the_chosen_language(
    changes: dict[str, str | None], line: int | None, spanish: str, korean: str
) -> None:
    try:
        for language, said in (("es", spanish), ("ko", korean)):
            set_language(language)
            with pytest.raises(FrontMatterError, match=said) as caught:
                kernel(**changes)
            assert caught.value.line == line
    finally:
        set_language("en")


def test_the_line_of_a_key_is_known() -> None:
    assert kernel().line_of("args") == 3
    assert kernel().line_of("shared") is None


HOPPER = {
    "args": '["A.map", "B.map", "B", "C", "N"]',
    "params": "{ TS = [64, 128], CLUSTER = [2, 1] }",
    "dtype": '"float16"',
    "accumulate": '"float32"',
    "maps": '{ A = { box = ["TS", 64], swizzle = 128 }, B = { box = ["64", "TS"] } }',
    "cluster": '["CLUSTER"]',
    "block": "[128]",
}


def test_a_kernel_is_given_tensor_maps_and_clusters() -> None:
    mine = kernel(**HOPPER, capability='"9.0a"', layout='{ B = "column" }')
    assert mine.capability == "9.0a"
    job = launch(mine, Problem(64, 128, 64))
    assert job.maps == {"A": TensorMap("A", 64, 64, 128), "B": TensorMap("B", 64, 64, 0)}
    assert (job.grid, job.cluster) == ((2, 1, 1), (2, 1, 1))
    plain = launch(kernel(), Problem.cube(8))
    assert (plain.maps, plain.cluster, plain.kernel.capability) == ({}, (1, 1, 1), "")


def test_kernels_with_the_copy_engine_need_a_device_that_has_one() -> None:
    assert kernel(**HOPPER).capability == "9.0"
    with pytest.raises(FrontMatterError, match=r"capability is 8\.0, but maps needs 9\.0"):
        kernel(**HOPPER, capability='"8.0"')


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"capability": '"sm_90"'}, "capability must be a compute capability"),
        ({"maps": '{ D = { box = ["8", "8"] } }'}, "maps names 'D'; known are A, B, C"),
        ({"maps": '{ A = ["8", "8"] }'}, "maps must give a box"),
        ({"maps": '{ A = { box = ["8"] } }'}, "maps.A: box must hold two expressions"),
        ({"maps": '{ A = { box = ["8", "8"], swizzle = 48 } }'}, "swizzle must be one of 0, 32, 64, 128"),
        ({"maps": '{ A = { box = ["8", "8"], swizzle = true } }'}, "swizzle must be one of 0, 32, 64, 128"),
        ({"maps": '{ A = { box = ["TX", "8"] } }', "args": '["A.map", "B", "C"]'}, "'TX', which is not declared"),
        ({"maps": '{ A = { box = ["8", "8"] } }'}, "args has no 'A.map'"),
        ({"args": '["A", "B.map", "C"]'}, "maps has no B"),
        ({"args": '["A", "B.map"]'}, "lacks C"),
        ({"cluster": '["1", "1", "1", "1"]'}, "cluster must hold one to three"),
    ],
)
def test_the_message_about_a_wrong_tensor_map_names_the_fault(changes: dict[str, str | None], says: str) -> None:
    with pytest.raises(FrontMatterError, match=says):
        kernel(**changes)


def test_c_on_the_cpu_has_no_copy_engine() -> None:
    text = source(maps='{ A = { box = ["8", "8"] } }', args='["A.map", "B", "C"]')
    with pytest.raises(FrontMatterError, match="for CUDA kernels"):
        parse(text, Path("mine.c"))


@pytest.mark.parametrize(
    ("box", "says"),
    [
        ('box = ["TS", 64], swizzle = 64', "rows have 128 bytes, more than the swizzle's 64"),
        ('box = ["TS", "TS - 60"]', "rows have 8 bytes, which is no multiple of 16"),
        ('box = ["TS", 8], swizzle = "TS - 16"', "its swizzle is 48 bytes; there are 0, 32, 64, 128"),
        ('box = ["5 * TS", 64]', "320 x 64 elements; a side may have 1 to 256"),
        ('box = [8, "TS - 64"]', "the box of A has no columns: TS - 64 is 0"),
    ],
)
def test_a_box_that_the_copy_engine_does_not_take_is_refused(box: str, says: str) -> None:
    mine = kernel(**HOPPER | {"maps": f'{{ A = {{ {box} }}, B = {{ box = ["64", "TS"] }} }}'})
    with pytest.raises(ConstraintError, match=says):
        launch(mine, Problem.cube(128))


def test_where_no_size_works_each_parameter_that_would_help_is_offered() -> None:
    mine = kernel(params="{ TS = [8, 16, 32], ST = [1, 2, 4] }", requires='["TS * ST <= 32"]')
    with pytest.raises(ConstraintError, match=r"ST = 4\); it works with TS = 8 or ST = 2$"):
        launch(mine, Problem.cube(64), {"TS": 16, "ST": 4})
    with pytest.raises(ConstraintError, match=r"ST = 9\); it works with ST = 1$"):
        launch(mine, Problem.cube(64), {"TS": 32, "ST": 9})
    with pytest.raises(ConstraintError, match=r"ST = 99\)$"):
        launch(mine, Problem.cube(64), {"TS": 64, "ST": 99})


def test_rows_that_the_copy_engine_cannot_take_are_refused_with_a_size_that_works() -> None:
    mine = kernel(**HOPPER)
    with pytest.raises(ConstraintError, match=r"K % 8 == 0 .* nearest size that works is 128 x 128 x 96\. The copy"):
        launch(mine, Problem(128, 128, 97))
    by_columns = kernel(**HOPPER, layout='{ A = "column" }')
    assert nearest_size(by_columns, Problem(125, 131, 97), by_columns.defaults) == Problem(128, 128, 97)


def test_a_cluster_that_does_not_divide_the_grid_is_refused_with_a_size_that_works() -> None:
    mine = kernel(**HOPPER)
    with pytest.raises(
        ConstraintError, match=r"requires ceil\(N / TS\) % CLUSTER == 0 .* works is 64 x 200 x 64\. Clusters"
    ):
        launch(mine, Problem(64, 192, 64))
    assert launch(mine, Problem(64, 192, 64), {"CLUSTER": 1}).grid == (3, 1, 1)
    with pytest.raises(ConstraintError, match="a cluster of 9 x 1 x 1 blocks; CUDA allows 8"):
        launch(mine, Problem(64, 9 * 64, 64), {"CLUSTER": 9})


def test_a_value_that_no_others_allow_is_known() -> None:
    requires = '["BM == 128 or BM == 192 and BN <= 192", "BN % (BM // 64) == 0", "M % BM == 0"]'
    params = "{ BM = [128, 192], BN = [256, 128] }"
    text = source(entry='"k<BM, BN>"', block='["32"]', grid='["1"]', params=params, requires=requires)
    kernel = parse(text, Path("mine.cu"))
    assert [value for value in (4, 64, 128, 192, 256) if never(kernel, "BM", value)] == [4, 64, 192, 256]
    assert not never(kernel, "BN", 4)
