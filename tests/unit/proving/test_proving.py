"""Predictions compared with a GPU's counters: the report of a real run, and the notes on differences."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gemmviz.catalogue.errors import GemmvizError, Unavailable
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.cli import clustering, run
from gemmviz.proving import ncu, proofs
from gemmviz.proving.jobs import Job
from gemmviz.proving.launch_counters import Instruction, LaunchCounters, read_counters
from gemmviz.proving.movers import Unseen
from gemmviz.proving.predicting import predict
from gemmviz.proving.prediction import PredictedCost, PredictedSite, Prediction
from gemmviz.proving.proofs import Machine, Proof
from gemmviz.proving.verdict import Compared, compare

HERE = Path(__file__).parents[1] / "ncu"
# Where the code of 30_gputiled.cu began when Nsight Compute counted it: its front matter was shorter.
CODE_LINE_THEN = 13
MACHINE = Machine("NVIDIA H200", "580", "13.0", "2025.3", "2026-11-21")


@pytest.fixture(scope="module")
def counted() -> LaunchCounters:
    """The output of Nsight Compute for gputiled<32> at 256 on an H200."""
    texts = [(HERE / f"gputiled_{page}.csv").read_text(encoding="utf-8") for page in ("raw", "source")]
    kept = read_counters(texts[0], [texts[1]], ["30_gputiled.cu"])[0]
    return kept.shifted(CODE_LINE_THEN, find("gputiled", ladder()).code_line - CODE_LINE_THEN)


@pytest.fixture(scope="module")
def tiled() -> Kernel:
    return find("gputiled", ladder())


@pytest.fixture(scope="module")
def prediction(tiled: Kernel) -> Prediction:
    return predict(Job.of(launch(tiled, Problem.cube(64), {"TS": 32})))


def scaled(prediction: Prediction, times: int) -> Prediction:
    """Return the counters of several times the same work: every block and tile step is like any other."""

    def more(cost: PredictedCost) -> PredictedCost:
        return PredictedCost(cost.requests * times, cost.units * times, cost.least * times)

    spots = (replace(s, cost=more(s.cost), once={w: more(c) for w, c in s.once.items()}) for s in prediction.spots)
    return replace(prediction, spots=tuple(spots))


def test_a_report_is_read_by_line_and_instruction(counted: LaunchCounters) -> None:
    assert counted.counters["global load sectors"] == 131_072  # as counted elsewhere for this kernel and size
    assert counted.counters["shared load wavefronts"] == 786_432
    code = [i for i in counted.instructions if i.line == 33]
    assert {(i.space, i.write, i.bits) for i in code} == {("shared", False, 32), ("shared", False, 128)}
    assert sum(i.wavefronts for i in code) == 786_432
    (store,) = [i for i in counted.instructions if i.space == "global" and i.write]
    assert (store.line, store.executed, store.sectors) == (37, 2048, 8192)


def test_the_recording_equals_the_counters_and_merged_loads_are_explained(
    counted: LaunchCounters, prediction: Prediction
) -> None:
    # From 64 to 256: 16 times the blocks, 4 times the tile steps; C is stored once per block.
    grown = scaled(prediction, 64)
    stores = [replace(s, cost=PredictedCost(2048, 8192, 8192)) if s.array == "C" else s for s in grown.spots]
    rows = {row.what: row for row in compare(replace(grown, spots=tuple(stores)), counted)}
    assert {row.what for row in rows.values() if row.verdict == "equal"} >= {
        *(f"global {way} {figure}" for way in ("load", "store") for figure in ("sectors", "requests")),
        "shared store wavefronts",
    }
    loads = rows["shared load wavefronts"]
    assert loads.verdict == "explained" and loads.adjusted == loads.measured != loads.predicted
    assert "line 33" in loads.note and "As into one of 16 bytes" in loads.note


def test_an_unexplained_difference_is_reported_with_its_line(counted: LaunchCounters, prediction: Prediction) -> None:
    rows = {row.what: row for row in compare(prediction, counted)}  # of another size
    assert rows["global load sectors"].verdict == "differs"
    assert (
        "line 29: " in rows["global load sectors"].note and "16\u202f384 executed" in rows["global load sectors"].note
    )


def test_reads_that_a_compiler_may_merge_are_counted_too(prediction: Prediction) -> None:
    by_array = {s.array: s for s in prediction.spots if s.space == "shared" and not s.write}
    # A row of As is read in order, and by all lanes at once: one wavefront each, two for four of them together.
    row = by_array["As"].once
    assert (row[16].requests * 4, row[16].units * 2) == (row[4].requests, row[4].units)
    assert set(by_array["Bs"].once) == {4}  # a column: its elements are no neighbours


def test_reads_of_the_same_element_may_become_one() -> None:
    spot = PredictedSite(9, 1, "As", "shared", False, 4, PredictedCost(80, 80, 80), {4: PredictedCost(20, 20, 20)})
    code = Instruction(9, "LDS R1, [R2]", "shared", False, 32, 20, 0, 0, 20)
    counted = LaunchCounters({"shared load wavefronts": 20, "shared load conflicts": 0}, [code])
    row = next(r for r in compare(Prediction(1, 0, (spot,)), counted) if r.what == "shared load wavefronts")
    assert row.verdict == "explained" and "4 times" in row.note


def test_two_arrays_of_a_line_are_separated_by_the_counters_of_their_instructions() -> None:
    # Merged or asked for once, either could make these requests; only one way makes these wavefronts.
    spots = (
        PredictedSite(
            9,
            1,
            "As",
            "shared",
            False,
            4,
            PredictedCost(512, 4096, 512),
            {4: PredictedCost(64, 512, 64), 16: PredictedCost(16, 64, 16)},
        ),
        PredictedSite(9, 2, "Bs", "shared", False, 4, PredictedCost(64, 64, 64), {16: PredictedCost(16, 32, 16)}),
    )
    code = [
        Instruction(9, "LDS.128 R4, [R2]", "shared", False, 128, 16, 0, 0, 32),
        Instruction(9, "LDS R1, [R2]", "shared", False, 32, 64, 0, 0, 512),
    ]
    counted = LaunchCounters({"shared load wavefronts": 544, "shared load conflicts": 448 + 16}, code)
    rows = {row.what: row for row in compare(Prediction(1, 0, spots), counted)}
    assert {row.verdict for row in rows.values()} == {"explained"}
    assert "merges 4 loads of Bs" in rows["shared load wavefronts"].note


@pytest.mark.parametrize(("unseen", "verdict"), [((), "differs"), ((Unseen("boxes loaded", 4, 32_768),), "explained")])
def test_a_busy_unit_may_count_more_than_its_instructions(unseen: tuple[Unseen, ...], verdict: str) -> None:
    spot = PredictedSite(9, 1, "Cs", "shared", True, 8, PredictedCost(50, 100, 100), {})
    code = Instruction(9, "STS.64 [R1], R2", "shared", True, 64, 50, 0, 0, 100)
    counted = LaunchCounters({"shared store wavefronts": 160, "shared store conflicts": 60}, [code])
    rows = {row.what: row for row in compare(Prediction(1, 0, (spot,), unseen=unseen), counted)}
    assert {rows[f"shared store {figure}"].verdict for figure in ("wavefronts", "conflicts")} == {verdict}
    # One wavefront of an instruction more is a difference of the recording.
    wrong = LaunchCounters(counted.counters, [msgspec.structs.replace(code, wavefronts=101)])
    rows = {row.what: row for row in compare(Prediction(1, 0, (spot,), unseen=unseen), wrong)}
    assert rows["shared store wavefronts"].verdict == "differs"


@pytest.mark.parametrize(
    ("line", "executed", "verdict"), [(0, 40, "explained"), (0, 39, "differs"), (7, 40, "differs")]
)
def test_a_header_s_code_may_have_the_line_of_its_call_for_a_part_only(line: int, executed: int, verdict: str) -> None:
    spot = PredictedSite(9, 1, "Cs", "shared", True, 16, PredictedCost(50, 200, 200), {})
    code = [
        Instruction(at, "STSM [R1], R2", "shared", True, 128, times, 0, 0, 4 * times)
        for at, times in ((9, 10), (line, executed))
    ]
    counted = LaunchCounters({"shared store wavefronts": 207, "shared store conflicts": 7}, code)
    rows = compare(Prediction(1, 0, (spot,), unseen=(Unseen("products", 1, 128),)), counted)
    assert {row.verdict for row in rows if row.what.startswith("shared")} == {verdict}


def test_a_counter_that_is_missing_proves_nothing(counted: LaunchCounters, prediction: Prediction) -> None:
    rows = compare(prediction, LaunchCounters({}, counted.instructions))
    assert rows and {row.verdict for row in rows} == {"differs"}


def test_global_counters_must_come_out_to_the_last_one() -> None:
    spot = PredictedSite(9, 1, "A", "global", False, 4, PredictedCost(1000, 4000, 4000), {})
    code = Instruction(9, "LDG.E R1, [R2]", "global", False, 32, 1000, 1000, 4001, 0)
    counted = LaunchCounters({"global load sectors": 4001, "global load requests": 1000}, [code])
    verdicts = {row.what: row.verdict for row in compare(Prediction(1, 0, (spot,)), counted)}
    assert verdicts == {"global load sectors": "differs", "global load requests": "equal"}


def test_kept_proofs_have_their_own_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--kept", "gputiled", "--size", "64"]) == 2
    assert "take no sizes" in capsys.readouterr().err


def test_other_text_is_no_report() -> None:
    with pytest.raises(ValueError, match="no table"):
        read_counters("==ERROR== something else", [], [])


def proof(kernel: Kernel, **changes: object) -> Proof:
    compared = (Compared("global load sectors", 10, 10, "equal"),)
    unseen = (Unseen("boxes loaded", 4, 32_768),)
    fields = {"recorded_wrong": 0, "gpu_wrong": 0, "compared": compared, "unseen": unseen, **changes}
    return Proof(kernel.name, "gputiled<32>", kernel.sha256, 64, 64, 64, {"TS": 32}, kernel.code_line, 1000, **fields)


def test_proofs_are_kept_and_read_again(tmp_path: Path, tiled: Kernel) -> None:
    proofs.write_proofs(tmp_path / "h200.json", MACHINE, [proof(tiled)])
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "later.json").write_text(json.dumps({"schema_version": 99}), encoding="utf-8")
    (kept,) = proofs.kept(tmp_path)
    assert kept.machine == MACHINE and kept.of(tiled) == [proof(tiled)]
    with pytest.raises(GemmvizError, match="version 99"):
        proofs.read_proofs(tmp_path / "later.json")
    (tmp_path / "odd.json").write_text('{"schema_version": 2, "machine": {"gpu": 3}}', encoding="utf-8")
    with pytest.raises(GemmvizError, match=r"odd\.json contains no proofs: it has a machine\.gpu that cannot be: 3"):
        proofs.read_proofs(tmp_path / "odd.json")


def test_a_proof_is_of_the_present_source_and_must_hold(tiled: Kernel) -> None:
    files = [proofs.Proofs(MACHINE, (proof(tiled),))]
    assert proofs.proved_on(tiled, files).startswith("proved on NVIDIA H200, 2026-11-21")
    assert proofs.proved_on(replace(tiled, text=tiled.text + "\n"), files) == ""
    differs = Compared("global load sectors", 10, 11, "differs")
    for bad in ({"gpu_wrong": 1}, {"recorded_wrong": 2}, {"compared": (differs,)}, {"error": "crashed"}):
        assert proofs.proved_on(tiled, [proofs.Proofs(MACHINE, (proof(tiled, **bad),))]) == ""


def test_a_proof_follows_the_code_when_the_front_matter_grows(counted: LaunchCounters, tiled: Kernel) -> None:
    note = "line 31: the compiler merges 4 loads of As into one of 16 bytes"
    compared = (Compared("shared load wavefronts", 10, 11, "explained", note),)
    files = proofs.Proofs(MACHINE, (proof(tiled, counted=counted, compared=compared),))
    grown = parse(tiled.text.replace("// title", "// # one\n// # two\n// title", 1), tiled.path)
    (moved,) = files.of(grown)
    assert moved.holds and moved.code_line == tiled.code_line + 2
    assert moved.counted is not None
    assert [i.line for i in moved.counted.instructions] == [i.line + 2 if i.line else 0 for i in counted.instructions]
    assert moved.compared[0].note == note.replace("31", "33")
    assert files.of(tiled)[0].counted == counted


def test_without_the_profiler_the_missing_program_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> str:
        raise Unavailable("Nsight Compute (ncu) is not on the PATH")

    monkeypatch.setattr(ncu, "tool", missing)
    assert run(["prove", "gputiled"]) == 2
    assert "Nsight Compute" in capsys.readouterr().err


def test_counters_of_workers_are_predicted_here_machine_by_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tiled: Kernel
) -> None:
    """What a cluster sends has no predictions, and each machine gets a file."""
    naive = find("matmul_kernel_naive", ladder())
    (file,) = [file for file in proofs.kept() if file.of(tiled) and file.of(naive)]
    small = [min(file.of(kernel), key=lambda p: p.m * p.n * p.k) for kernel in (tiled, naive)]
    bare = [replace(p, accesses=0, recorded_wrong=None, compared=(), unseen=()) for p in small]
    other = replace(file.machine, gpu="another GPU")

    def count(args: object, launches: object, kernels: object) -> list[proofs.Proofs]:
        return [proofs.Proofs(file.machine, (bare[0],)), proofs.Proofs(other, (bare[1],))]

    made = {p.kernel: p for p in small}

    def predicted(found: object, launches: object, progress: object) -> list[Proof]:
        return [replace(made[p.kernel], counted=p.counted) for p in found if not p.compared]

    monkeypatch.setattr(clustering, "count", count)
    monkeypatch.setattr("gemmviz.cli.prove.predicted", predicted)
    size = small[0]
    assert (small[1].m, small[1].n, small[1].k) == (size.m, size.n, size.k)
    sides = [f"--{side}={value}" for side, value in zip("mnk", (size.m, size.n, size.k), strict=True)]
    target = tmp_path / "found.json"
    names = ["gputiled", "matmul_kernel_naive"]
    assert run(["prove", *names, *sides, "--cluster", "127.0.0.1:8786", "--json", str(target)]) == 0
    first, second = (proofs.read_proofs(tmp_path / name) for name in ("found.json", "found-2.json"))
    assert (first.machine, second.machine) == (file.machine, other)
    assert [p.kernel for p in (*first.proofs, *second.proofs)] == names
    assert all(p.holds and p.compared for p in (*first.proofs, *second.proofs))
    assert "another GPU" in capsys.readouterr().out


def test_kept_counters_need_no_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "--kept", "gputiled", "--cluster", "127.0.0.1:8786"]) == 2
    assert "leave out --cluster" in capsys.readouterr().err


def test_a_cpu_kernel_has_no_counters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", "hostmult0"]) == 2
    assert "does not run on a GPU" in capsys.readouterr().err


def test_the_shipped_proofs_are_of_the_shipped_kernels_and_hold() -> None:
    files = proofs.kept()
    rungs = [kernel for kernel in ladder() if kernel.backend == "cuda" and not (kernel.exhibit or kernel.division)]
    for kernel in rungs:
        found = [p for file in files for p in file.of(kernel)]
        assert len({p.size for p in found}) >= 2, f"{kernel.name} is not proved as it stands"
        assert all(p.holds for p in found)


@pytest.mark.sweep("matmul_tc_2d_warp_tiling", "wgmma")
@pytest.mark.parametrize(
    "name",
    [
        *("l2_swizzle", "matmul_tc_2d_warp_tiling", "wmma_shared", "mma_swizzle", "mma_pipeline", "wgmma", "cluster"),
        # Tens of millions of accesses, as counted on the device.
        *("gpumult0", "matmul_kernel_naive", "RR", "matmul_kernel_2d_thread_tiling", "async_pipeline"),
    ],
)
def test_the_counters_of_an_h200_are_predicted_anew_from_the_source(name: str) -> None:
    kernel = find(name, ladder())
    proof = min((p for file in proofs.kept() for p in file.of(kernel)), key=lambda p: p.m * p.n * p.k)
    chosen = launch(kernel, Problem(proof.m, proof.n, proof.k), proof.params)
    prediction = predict(Job.of(chosen))
    assert prediction.wrong == 0 and proof.gpu_wrong == 0
    assert proof.counted is not None
    assert {row.what: row.verdict for row in compare(prediction, proof.counted) if row.verdict == "differs"} == {}
