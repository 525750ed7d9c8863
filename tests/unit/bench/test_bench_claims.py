"""The documents' claims: complete, runnable as planned, and judged by their evidence."""

from pathlib import Path

import pytest

from gemmviz.bench import claims as judging
from gemmviz.bench import results
from gemmviz.bench.claims import Evidence
from gemmviz.bench.figures import TRANSFER
from gemmviz.bench.model import devices
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.row import Row
from gemmviz.bench.stats import summarise
from gemmviz.catalogue.documents import documents
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.language import set_language

KERNELS = ladder()
CLAIMS = {claim.id: claim for claim in judging.load()}


def row(case: judging.Case, seconds: float, **more: object) -> Row:
    """Return the row of a case as if it had been measured."""
    if case.kernel == TRANSFER:
        kernel = Kernel(TRANSFER, Path(TRANSFER), "", "cuda", TRANSFER)
        made = results.new_row(kernel, Problem(*case.size), {}) | {"backend": TRANSFER, "edited": False}
    else:
        made = results.new_row(find(case.kernel, KERNELS), Problem(*case.size), dict(case.params))
    results.describe_samples(made, [seconds] * 3, summarise([seconds] * 3), "steady", Problem(*case.size).flops)
    return made | more


def cases(claim: judging.Claim) -> list[judging.Case]:
    return list(dict.fromkeys(q.case for q in claim.quantities))


def measured(claim: judging.Claim, seconds: dict[str, float]) -> Evidence:
    """Return evidence in which each kernel takes the seconds given for its name."""
    evidence = Evidence("abacus", "2026-11-21")
    evidence.add_rows(row(case, seconds[case.kernel]) for case in cases(claim))
    return evidence


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_every_case_names_a_kernel_with_all_its_parameters_at_a_size_that_it_takes(claim):
    for case in cases(claim):
        if case.kernel == TRANSFER:
            continue
        kernel = find(case.kernel, KERNELS)
        assert dict(case.params).keys() == kernel.params.keys(), case
        if {q.what for q in claim.quantities if q.case == case} != {"recorded.outcome"}:
            assert launch(kernel, Problem(*case.size), dict(case.params))
        assert not case.device or case.device in [d.name for d in devices.published()]


def test_every_document_is_covered_and_no_id_comes_twice():
    assert {claim.source for claim in CLAIMS.values()} == {document.id for document in documents()}
    assert len(CLAIMS) == len(judging.load())


def test_a_plan_runs_each_case_once_with_the_first_launches_in_front():
    plan = judging.plan(CLAIMS.values(), KERNELS)
    assert [job.fresh for job in plan.bench] == sorted((job.fresh for job in plan.bench), reverse=True)
    assert [entry["path"] for entry in plan.bench[0].entries] == [
        str(find(name, KERNELS).path) for name in ("matrixMulNaive", "matrixMulTiled")
    ]
    for job in plan.bench:
        keys = [(entry["path"], tuple(sorted(entry["params"].items()))) for entry in job.entries]
        assert len(keys) == len(set(keys))
        assert Protocol.from_plain(job.protocol)
    assert len({job.case for job in plan.record}) == len(plan.record)
    wanted = {q.case for claim in CLAIMS.values() for q in claim.quantities if q.origin == "measured"}
    assert {case for job in plan.bench for case in job.cases} == wanted
    (profiled,) = plan.profile
    assert set(profiled.cases) == {
        q.case for claim in CLAIMS.values() for q in claim.quantities if q.origin == "profiled"
    }
    assert len(profiled.cases) == len(profiled.launches) == len(set(profiled.cases)) == 7


def test_claims_without_shares_ask_for_no_profiler():
    assert judging.plan([CLAIMS["s4-sweep"], CLAIMS["s0-unroll"]], KERNELS).profile == ()


def test_the_copies_are_asked_for_in_single_precision():
    jobs = [job for job in judging.plan(CLAIMS.values(), KERNELS).bench if TRANSFER in [c.kernel for c in job.cases]]
    assert {job.size[0] for job in jobs} == {2048, 4096}
    types = [{str(k.path): k.dtype for k in KERNELS}[job.entries[0]["path"]] for job in jobs]
    assert types == ["float32", "float32"]


def test_one_run_serves_several_claims():
    alone = judging.plan([CLAIMS["s4-sweep"]], KERNELS)
    both = judging.plan([CLAIMS["s4-sweep"], CLAIMS["s4-transpose-a"]], KERNELS)
    assert len(both.bench) == len(alone.bench) == 1
    assert both.bench[0].cases == alone.bench[0].cases


def test_a_claim_waits_for_its_run_then_holds_or_not():
    claim = CLAIMS["s0-unroll"]
    assert judging.judge(claim, Evidence()).state == "not run"
    same = judging.judge(claim, measured(claim, {"gputiled": 1.0, "gputiled1": 1.01}))
    assert same.state == "holds"
    assert same.findings[0].origin == "measured: abacus, 2026-11-21"
    slower = judging.judge(claim, measured(claim, {"gputiled": 1.0, "gputiled1": 1.5}))
    assert slower.state == "does not hold"
    assert (
        "GFLOPS unrolled over GFLOPS plain, TS = 16: holds for a difference of up to 3%; "
        "measured 0.6667x (abacus, 2026-11-21): does not hold"
    ) in slower.sentence


def test_a_claim_that_cannot_run_here_cannot_be_judged_here():
    claim = CLAIMS["s0-unroll"]
    evidence = Evidence()
    for case in cases(claim):
        skipped = results.new_row(find(case.kernel, KERNELS), Problem(*case.size), dict(case.params))
        results.fail(skipped, "skipped", "no CUDA device: there is no NVIDIA driver (and a long remedy)")
        evidence.add_row(skipped)
    verdict = judging.judge(claim, evidence)
    assert verdict.state == "cannot be judged here"
    assert verdict.sentence == "no CUDA device here"


@pytest.mark.parametrize("code", ["es", "ko"])
def test_what_a_claim_waits_for_is_said_in_the_chosen_language(code):
    """In a Spanish window the reason was English: the document's own words are, the program's are not."""
    try:
        set_language(code)
        waiting = {judging.judge(claim, Evidence()).sentence for claim in CLAIMS.values()}
    finally:
        set_language("en")
    assert len(waiting) > 5 and not [text for text in waiting if "has not been" in text or not text]


def test_an_edited_kernel_says_nothing_about_a_document():
    claim = CLAIMS["s0-unroll"]
    evidence = Evidence()
    evidence.add_rows(row(case, 1.0, edited=True) for case in cases(claim))
    assert judging.judge(claim, evidence).state == "not run"


def test_a_flagged_figure_says_so():
    claim = CLAIMS["s0-unroll"]
    evidence = Evidence()
    evidence.add_rows(row(case, 1.0, flags=["throttled"]) for case in cases(claim))
    assert "(the GPU lowered its clock)" in judging.judge(claim, evidence).sentence


@pytest.mark.parametrize(
    ("unrolled", "rounds", "flag", "state"),
    [
        (1.0, (1.0, 1.2), "rounds-disagree", "cannot be judged here"),
        (1.05, (1.0, 1.1), "noisy", "cannot be judged here"),
        (1.0, (0.99, 1.01), "contended", "holds"),
        (2.0, (1.9, 2.1), "noisy", "does not hold"),
        (1.0, (1.0, 1.2), "throttled", "holds"),
    ],
)
def test_noisy_rows_decide_only_beyond_their_noise(unrolled, rounds, flag, state):
    claim, evidence = CLAIMS["s0-unroll"], Evidence()
    for case in cases(claim):
        evidence.add_row(row(case, 1.0))
        if case.kernel == "gputiled1":
            medians = [{"round": i, "n": 1, "median_s": s, "gflops": 1.0} for i, s in enumerate(rounds)]
            evidence.add_row(row(case, unrolled, flags=[flag], rounds=medians))
    verdict = judging.judge(claim, evidence)
    assert verdict.state == state
    assert [finding.ours for finding in verdict.findings] == pytest.approx([1 / unrolled] * 2)
    assert ("too noisy here" in verdict.sentence) == (state == "cannot be judged here")


def test_the_samples_of_a_noisy_row_count_as_its_rounds_do():
    claim, evidence = CLAIMS["s0-unroll"], Evidence()
    wide = summarise([0.8, 1.0, 1.2])
    evidence.add_rows(row(case, 1.0, flags=["noisy"], stats=wide) for case in cases(claim))
    assert "too noisy here" in judging.judge(claim, evidence).sentence


def test_a_noisy_rival_may_turn_which_block_is_best():
    claim, evidence = CLAIMS["s4-sweep"], Evidence()
    best, rival = (
        next(c for c in cases(claim) if c.kernel == k and dict(c.params) == {"BLOCK": 16}) for k in ("CC", "CR")
    )
    evidence.add_rows(row(case, 2.0) for case in cases(claim))
    evidence.add_row(row(best, 1.0))
    for fastest, state in ((1.01, "holds"), (0.99, "cannot be judged here")):
        medians = [{"round": 0, "n": 1, "median_s": fastest, "gflops": 1.0}]
        evidence.add_row(row(rival, 1.05, flags=["noisy"], rounds=medians))
        assert judging.judge(claim, evidence).state == state


@pytest.mark.parametrize(("first", "state"), [(2.99, "does not hold"), (3.03, "holds")])
def test_a_cold_start_shows_in_a_greater_ratio(first, state):
    claim = CLAIMS["s2-cold-start"]
    evidence = Evidence()
    for case in cases(claim):
        naive = case.kernel == "matrixMulNaive"
        evidence.add_row(row(case, 2.0 if naive else 1.0, first_launch_s=2 * first if naive else 3.0))
    assert judging.judge(claim, evidence).state == state


@pytest.mark.parametrize(
    ("slower", "state"), [(1.5, "holds"), (2.05, "holds"), (2.2, "does not hold"), (1, "does not hold")]
)
def test_only_about_one_and_a_half_is_neither_much_more_nor_nothing(slower, state):
    claim = CLAIMS["s3-tensor-cores"]
    verdict = judging.judge(claim, measured(claim, {"matmul_kernel_2d_thread_tiling": slower, "matmul_tc": 1.0}))
    assert verdict.state == state
    assert verdict.sentence == (
        "GFLOPS of kernel 4 over kernel 3: stated 1.5x (RTX 3060); holds for 1.07x to 2.1x; "
        f"measured {slower:g}x (abacus, 2026-11-21): {state}"
    )


def test_the_cold_start_is_shown_beside_the_warm_launches():
    claim = CLAIMS["s2-cold-start"]
    warm, first = {"matrixMulNaive": 3e-3, "matrixMulTiled": 2e-3}, {"matrixMulNaive": 2e-2, "matrixMulTiled": 2.1e-3}
    evidence = Evidence()
    evidence.add_rows(row(c, warm[c.kernel], first_launch_s=first[c.kernel]) for c in cases(claim))
    verdict = judging.judge(claim, evidence)
    assert verdict.state == "holds"
    assert verdict.findings[1].ours == "9.52x and 1.5x"
    fifteen = judging.judge(CLAIMS["s2-fifteen"], evidence)
    assert fifteen.state == "does not hold"
    assert "stated 13.4x; holds for 8.93x to 20.1x; measured 1.5x" in fifteen.sentence
    assert fifteen.table is not None
    assert fifteen.table.ours[0] == pytest.approx((20.0, 3.0))
    assert fifteen.table.theirs[0] == (22.2422, None)


def test_the_block_sweep_comes_out_as_the_document_prints_it():
    claim = CLAIMS["s4-sweep"]
    assert claim.table is not None
    evidence = Evidence()
    for line, theirs in zip(claim.table.cells, claim.table.theirs, strict=True):
        evidence.add_rows(row(q.case, t / 1000 / 10) for q, t in zip(line, theirs, strict=True) if q and t)
    verdict = judging.judge(claim, evidence)
    assert verdict.table is not None
    assert verdict.table.rows == ("4 x 4", "8 x 8", "16 x 16", "32 x 32")
    assert verdict.table.ours[2] == pytest.approx((220, 156.6, 150.7, 82.2, 78.9))
    assert verdict.state == "holds"
    slow = next(q.case for q in claim.table.cells[2] if q and q.case.kernel == "CC")
    evidence.add_row(row(slow, 1.0))
    assert judging.judge(claim, evidence).state == "does not hold"


def test_a_table_that_cannot_be_judged_is_filled_all_the_same():
    claim = CLAIMS["s4-times"]
    evidence = Evidence()
    copy = {"transfer": {"to_device_s": 0.01, "to_host_s": 0.003}}
    evidence.add_rows(row(c, 0.02, **(copy if c.kernel == TRANSFER else {})) for c in cases(claim))
    other = next(c for c in cases(claim) if c.kernel == TRANSFER)
    evidence.add_row(row(other, 9.0, dtype_in="float16", transfer={"to_device_s": 9.0, "to_host_s": 9.0}))
    verdict = judging.judge(claim, evidence)
    assert verdict.state == "cannot be judged here"
    assert verdict.table is not None
    assert [line[0] for line in verdict.table.ours[-3:]] == pytest.approx([20, 10, 3])


def test_the_resources_limits_are_modelled_and_the_documents_table_stays_open():
    verdict = judging.judge(CLAIMS["s4-block-limits"], Evidence())
    assert verdict.state == "holds" and verdict.table is not None
    assert verdict.table.columns == ("blocks", "warps", "registers", "32 KiB", "100 KiB")
    # 16 blocks and 48 warps per SM; 2 tiles and 1 KiB per block, in units of 128 bytes.
    assert verdict.table.ours[0] == (16, 48, 48, 32768 // 1152, 102400 // 1152)
    assert verdict.table.ours[2] == (16, 6, 6, 32768 // 3072, 102400 // 3072)
    assert {value for line in verdict.table.theirs for value in line} == {None}


def profile(case, compute, memory, occupancy=90.0):
    m, n, k = case.size
    figures = {"compute": compute, "memory": memory, "occupancy": occupancy}
    size = {"kernel": case.kernel, "M": m, "N": n, "K": k, "params": dict(case.params)}
    return size | {"source_sha256": None, "figures": figures, "fault": None}


def shares(claim, figures):
    """Return evidence in which each layout or block size has these shares."""
    evidence = Evidence("an H200", "2026-11-21", reference=True)
    for case in cases(claim):
        of = figures.get(case.kernel) or figures[dict(case.params)["BLOCK"]]
        evidence.add_profiles([profile(case, *of)])
    return evidence


def test_the_documents_own_shares_hold_and_others_do_not():
    blocks, layouts = CLAIMS["s4-throughput"], CLAIMS["s4-memory-bound"]
    assert judging.judge(blocks, Evidence()).state == "not run"
    theirs = {4: (38.8, 50), 8: (60.3, 60), 16: (75.1, 75), 32: (61.0, 60)}
    found = judging.judge(blocks, shares(blocks, theirs))
    assert found.state == "holds" and found.table.ours[2] == (75.1, 75, 90)
    assert "stated 1.231x" in found.sentence and "reference 1.231x (an H200, 2026-11-21): holds" in found.sentence
    assert judging.judge(blocks, shares(blocks, theirs | {32: (80, 60)})).state == "does not hold"

    theirs = {"RR": (36.7, 98.3), "RC": (37.6, 97.1), "CR": (70.6, 72.6), "CC": (74.6, 74.6)}
    found = judging.judge(layouts, shares(layouts, theirs))
    assert found.state == "holds"
    assert [finding.ours for finding in found.findings] == pytest.approx(
        [finding.theirs for finding in found.findings], rel=1e-3
    )
    for other in ({"RR": (36.7, 79)}, {"RC": (95, 97.1)}, {"CR": (60, 80)}, {"CC": (70, 74.6)}):
        assert judging.judge(layouts, shares(layouts, theirs | other)).state == "does not hold", other


def test_a_share_that_cannot_be_read_is_no_verdict():
    claim, evidence = CLAIMS["s4-throughput"], Evidence()
    for case in cases(claim):
        evidence.add_profile_fault(case, "Nsight Compute (ncu) is not on the PATH")
    verdict = judging.judge(claim, evidence)
    assert (verdict.state, verdict.sentence) == (
        "cannot be judged here",
        "Nsight Compute (ncu) is not on the PATH",
    )
    kept = results.document({}, None, Protocol()) | {"profiles": evidence.profiles}
    assert judging.judge(claim, Evidence.of(kept)).state == "cannot be judged here"


def test_halves_lose_precision_by_more_than_the_sums():
    claim, evidence = CLAIMS["s3-precision"], Evidence("abacus")
    for case in cases(claim):
        error = 6e-7 if case.kernel == "matmul_tc" else 3e-7
        evidence.add_row(row(case, 1.0, verify={"before": "ok", "after": "ok", "max_rel": error}))
    verdict = judging.judge(claim, evidence)
    assert verdict.state == "holds"
    # Both factors are rounded by up to 2 ** -11 each, and K of the errors average out.
    assert 10 < verdict.findings[0].ours < 2 * 2**-11 / 3e-7
    assert verdict.findings[0].origin == "measured, modelled: abacus"
    assert verdict.findings[1].ours == pytest.approx(2.0)
    evidence.add_rows(row(case, 1.0, verify={"max_rel": 1e-3}) for case in cases(claim) if case.kernel != "matmul_tc")
    assert judging.judge(claim, evidence).state == "does not hold"


def test_one_sample_of_the_serial_cpu_is_enough_to_judge():
    claim = CLAIMS["s4-final-serial"]
    assert claim.long
    for serial, state in ((55.4, "holds"), (30.0, "does not hold")):
        evidence = Evidence()
        for case in cases(claim):
            seconds = serial if case.kernel == "hostmult1_opt" else 0.01396
            evidence.add_row(row(case, seconds, stop_reason="slow"))
        assert judging.judge(claim, evidence).state == state


def test_occupancy_is_modelled_for_the_documents_own_gpu():
    verdict = judging.judge(CLAIMS["s4-occupancy"], Evidence())
    assert verdict.state == "holds"
    assert {finding.origin for finding in verdict.findings} == {"modelled"}
