"""Accesses without the load/store unit are in no prediction of its counters: cp.async, the copy engine, wgmma."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.proving.launch_counters import Instruction, LaunchCounters, instructions
from gemmviz.proving.movers import Unseen, added
from gemmviz.proving.predicting import of
from gemmviz.proving.prediction import PredictedCost, PredictedSite, Prediction
from gemmviz.proving.verdict import Compared, compare
from gemmviz.trace.recording.record import record
from gemmviz.trace.recording.recording import Recording

STYLES = Path(__file__).parents[1] / "styles"


def recorded(name: str, problem: Problem, **params: int) -> Recording:
    text = (STYLES / f"{name}.cu").read_text(encoding="utf-8")
    return record(launch(parse(text, Path(f"{name}.cu")), problem, params), deadline_s=20)


def kinds(prediction: Prediction) -> dict[str, Unseen]:
    return {one.kind: one for one in prediction.unseen}


def ways(prediction: Prediction) -> set[tuple[str, bool]]:
    return {(spot.space, spot.write) for spot in prediction.spots}


@pytest.fixture(scope="module")
def ring() -> Prediction:
    """Two tiles of C, 64 x 128 each, four steps of 64 along K, by one block."""
    return of(recorded("wgmma_ring", Problem(128, 128, 256), BLOCKS=1, CLUSTER=1))


def test_boxes_and_products_are_separate_from_accesses_of_threads(ring: Prediction) -> None:
    assert ("global", False) not in ways(ring) and ("shared", False) not in ways(ring)
    found = kinds(ring)
    # Each step has a box of A and two of B, of 64 x 64 halves; C leaves in boxes of 64 x 32 floats.
    assert found["boxes loaded"] == Unseen("boxes loaded", 2 * 4 * 3, 2 * 4 * 3 * 64 * 64 * 2)
    assert found["boxes stored"] == Unseen("boxes stored", 2 * 4, 128 * 128 * 4)
    # Each element that a box brought is in one product.
    assert found["products"].bytes == found["boxes loaded"].bytes


def test_a_box_for_two_blocks_is_asked_for_once() -> None:
    pair = kinds(of(recorded("wgmma_ring", Problem(128, 128, 256), BLOCKS=1, CLUSTER=2)))["boxes loaded"]
    # Two blocks: each its own box of A, and half of B for both.
    assert pair == Unseen("boxes loaded", 4 * (2 + 2), 4 * (2 + 4) * 64 * 64 * 2)


def test_a_box_that_is_added_reads_no_matrix_for_its_thread() -> None:
    size = {"BN": 64, "STAGES": 2, "CLUSTER": 1, "BLOCKS": 2}
    # Two blocks share three tiles of 128 x 64: one tile is in two parts, and one part is added to the other.
    prediction = of(record(launch(find("stream_k_tma", ladder()), Problem(384, 64, 128), size), deadline_s=20))
    assert prediction.own == ("begun",) and not any(spot.space == "global" for spot in prediction.spots)
    boxes = kinds(prediction)["boxes stored"]
    assert boxes == Unseen("boxes stored", 4 * 4, 4 * 128 * 64 * 4)


def test_reads_of_cp_async_are_global_loads_and_its_writes_are_no_shared_stores() -> None:
    recording = recorded("pipelined", Problem(40, 33, 20))
    prediction = of(recording)
    log = recording.accesses
    write = log.copies[:, 0]
    assert ("shared", True) not in ways(prediction)
    assert kinds(prediction)["copies"].bytes == int(log.bytes[write].sum())
    loads = [spot for spot in prediction.spots if spot.space == "global" and not spot.write]
    assert loads and all(spot.copies for spot in loads)


def test_parts_of_a_launch_add_up() -> None:
    parts = [Unseen("boxes loaded", 2, 64), Unseen("copies", 0, 16), Unseen("boxes loaded", 1, 32)]
    assert set(added(parts)) == {Unseen("boxes loaded", 3, 96), Unseen("copies", 0, 16)}


def judged(prediction: Prediction, counters: dict[str, int], *code: Instruction) -> dict[str, Compared]:
    return {row.what: row for row in compare(prediction, LaunchCounters(counters, list(code)))}


STORE = PredictedSite(9, 1, "As", "shared", True, 4, PredictedCost(100, 400, 100), {4: PredictedCost(100, 400, 100)})
STS = Instruction(9, "STS", "shared", True, 32, 100, 0, 0, 400)


@pytest.mark.parametrize(
    ("measured", "by_instruction", "verdict"),
    [
        (404, 400, "explained"),
        (440, 400, "differs"),
        (397, 400, "explained"),
        (380, 400, "differs"),
        (412, 412, "differs"),
    ],
)
def test_a_unit_may_count_a_little_more_than_its_instructions_and_they_must_be_as_recorded(
    measured: int, by_instruction: int, verdict: str
) -> None:
    counters = {"shared store wavefronts": measured, "shared store conflicts": 300}
    found = judged(Prediction(1, 0, (STORE,)), counters, msgspec.structs.replace(STS, wavefronts=by_instruction))
    assert found["shared store wavefronts"].verdict == verdict
    assert found["shared store conflicts"].verdict == "equal"


def test_stores_of_lanes_that_have_loaded_may_part_from_the_others() -> None:
    spot = replace(STORE, parted=PredictedCost(200, 500, 200))
    code = msgspec.structs.replace(STS, executed=200, wavefronts=500)
    row = judged(Prediction(1, 0, (spot,)), {"shared store wavefronts": 500}, code)["shared store wavefronts"]
    assert row.verdict == "explained" and row.adjusted == 500 and "two stores to As" in row.note
    odd = msgspec.structs.replace(code, executed=150)
    assert judged(Prediction(1, 0, (spot,)), {"shared store wavefronts": 500}, odd)[row.what].verdict == "differs"


def test_memory_of_the_kernels_own_is_taken_as_counted_and_matrices_are_not() -> None:
    spot = PredictedSite(9, 1, "C", "global", True, 16, PredictedCost(10, 160, 160), {})
    code = (
        Instruction(9, "STG.E.128", "global", True, 128, 12, 40, 160, 0),  # two warps have no lane inside
        Instruction(20, "STG.E.128", "global", True, 128, 8, 32, 128, 0),
        Instruction(21, "STG.E.STRONG.SYS", "global", True, 32, 8, 1, 1, 0),  # one lane of one warp in eight
    )
    counters = {"global store sectors": 289, "global store requests": 19}
    declared = Prediction(1, 0, (spot,), own=("partial", "ready"))
    found = judged(declared, counters, *code)
    assert {row.verdict for row in found.values()} == {"explained"}
    assert "lines 20, 21: 129 sectors" in found["global store sectors"].note
    assert {row.verdict for row in judged(Prediction(1, 0, (spot,)), counters, *code).values()} == {"differs"}
    missing = {"global store sectors": 288, "global store requests": 19}
    assert judged(declared, missing, *code)["global store sectors"].verdict == "differs"


def test_how_often_a_thread_looks_whether_another_one_is_ready_is_left_open() -> None:
    spot = PredictedSite(9, 1, "A", "global", False, 4, PredictedCost(10, 40, 40), {}, copies=True)
    code = (
        Instruction(0, "LDGSTS.E", "global,shared", False, 32, 10, 10, 40, 10),
        Instruction(20, "LDG.E.STRONG.SYS", "global", False, 32, 6, 6, 6, 0),
    )
    declared = Prediction(1, 0, (spot,), own=("ready",))
    for looks, verdict in ((4, "explained"), (6, "explained"), (13, "differs")):
        counters = {"global load sectors": 40 + looks, "global load requests": 10 + looks}
        assert {row.verdict for row in judged(declared, counters, *code).values()} == {verdict}


def test_memory_that_a_kernel_declares_for_itself_is_found(tmp_path: Path) -> None:
    text = (STYLES / "pipelined.cu").read_text(encoding="utf-8")
    head, code = text.split("#include", 1)
    text = f"{head}__device__ float4 partial[4][16 / 4];\n__device__ volatile int ready[4];\n#include{code}"
    recording = record(launch(parse(text, tmp_path / "own.cu"), Problem(40, 33, 20), {}), deadline_s=20)
    assert of(recording).own == ("partial", "ready")  # and no function


def test_boxes_and_products_are_compared_instruction_by_instruction() -> None:
    past = (Unseen("boxes loaded", 6, 768), Unseen("boxes stored", 2, 128), Unseen("products", 0, 1024))
    code = (
        Instruction(0, "UTMALDG.2D", "global,shared", False, 0, 4, 0, 0, 0),
        Instruction(0, "UBLKCP.S.G.MULTICAST", "global,shared", False, 0, 2, 0, 0, 0),
        Instruction(0, "UTMASTG.2D", "global,shared", False, 0, 1, 0, 0, 0),
        Instruction(0, "UBLKCP.G.S", "global,shared", False, 0, 2, 0, 0, 0),
        Instruction(0, "HGMMA.64x64x16.F32", "shared", False, 0, 4, 0, 0, 8),
    )
    found = judged(Prediction(1, 0, (), unseen=past), {}, *code)
    assert {what: row.verdict for what, row in found.items()} == {
        "boxes loaded": "equal",
        "boxes stored": "differs",
        "wgmma wavefronts": "equal",
    }


def test_lines_of_a_header_are_not_lines_of_the_kernel() -> None:
    columns = "Line No,Source,Address,Source,Address Space,Access Operation,Access Size,Instructions Executed"
    line, other = '"{}","?","-","-","-","-","-","9"', '"","","{}","{}","{}","{}","{}","9"'
    load, store = ("0x10", "LDSM.16.M88.4 R4, [R2]", "Shared", "Load", "128"), ("0x20", "STG.E [R2.64], R4")
    kernel = [line.format(7), other.format(*load), line.format(12), other.format(*store, "Global", "Store", "32")]
    header = [line.format(40), other.format(*load), other.format("0x30", "LDG.E R1", "Global", "Load", "32")]
    for order in ((("a.cu", kernel), ("ptx.h", header)), (("ptx.h", header), ("a.cu", kernel))):
        text = "\n".join(row for file, rows in order for row in (f'"File Path","/src/{file}"', columns, *rows))
        assert [(i.line, i.text.split(".")[0]) for i in instructions(text, "a.cu")] == [
            (7, "LDSM"),
            (12, "STG"),
            (0, "LDG"),
        ]


def test_a_box_counts_only_for_the_warps_whose_predicate_was_true() -> None:
    head = "Line No,Source,Address,Source,Address Space,Access Operation,Access Size,Instructions Executed"
    head += ",Thread Instructions Executed,Predicated-On Thread Instructions Executed,L1 Tag Requests Global"
    head += ",L2 Theoretical Sectors Global,L1 Wavefronts Shared"
    rest = '"global,shared",Load,0,512,16384,4096,0,0,0'
    text = f'File Path,/a.cu\n{head}\n7,"load",-,,,,,,,,,,\n,,0x10,@!UP0 UTMALDG.2D [UR12],{rest}\n'
    assert [i.executed for i in instructions(text, "a.cu")] == [128]
    assert [i.executed for i in instructions(text.replace("@!UP0 UTMALDG.2D", "LDS.128"), "a.cu")] == [512]
