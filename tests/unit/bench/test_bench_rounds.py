"""Kernels take turns: the order of rounds, kernels that drop out, kept results, and the final rows."""

from itertools import groupby
from pathlib import Path

import pytest
from fake_backend import FakeBackend, multiply

from gemmviz.backends.base import LaunchError, OutOfMemory
from gemmviz.backends.watch import Observed
from gemmviz.bench import rows, verification_reference
from gemmviz.bench.measure import Bench, Finished, Measurement
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.rounds import take_turns
from gemmviz.bench.timing import Samples
from gemmviz.bench.verification_reference import References
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

# Any spread is accepted: on a busy machine a fake launch of a microsecond may take many times as long. Thousands of
# samples would follow, and a row keeps only some of them.
FAST = Protocol(warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=1e9, timeout_s=5)
SIZE = Problem(12, 7, 5)
GPU = {"name": "a GPU", "cc": "9.0", "sms": 132, "clock_mhz": 1980.0}


def kernel(name, more=""):
    text = f"""// ---gemmviz
// entry = "mine"
// args  = ["C", "A", "B", "M", "N", "K"]
{more}// ---
void mine(float *c, float *a, float *b, int m, int n, int k) {{}}
"""
    return parse(text, Path(f"{name}.c"))


def measurements(backends, protocol=FAST, device=None, known=None, **kernels):
    """One measurement per backend; kernels are named a, b, c, ... or as `kernels` says."""
    made = {name: kernels.get(name) or kernel(name) for name in "abcdef"[: len(backends)]}
    references = References(1)
    return [
        Measurement(k, SIZE, {}, Bench(protocol, lambda _, b=b: b, references, device), (known or {}).get(name) or {})
        for (name, k), b in zip(made.items(), backends, strict=True)
    ]


def finish(found, protocol=FAST):
    return list(take_turns(found, protocol.rounds))


def order(backend):
    return [name for name, _ in groupby(name for name, _, _ in backend.log)]


def test_kernels_take_turns_and_only_one_has_its_matrices_in_memory():
    backend = FakeBackend()
    found = measurements([backend] * 3)
    for _ in take_turns(found, 3):
        assert backend.alive <= 1
    assert order(backend) == list("abcabcabc")
    assert backend.closed == 9 and backend.alive == 0
    assert [[r["round"] for r in m.row["rounds"]] for m in found] == [[1, 2, 3]] * 3


def test_a_row_comes_after_every_round_and_grows():
    (one,) = measurements([FakeBackend()])
    sent = [record for _, _, record in finish([one]) if isinstance(record, Finished)]
    assert [len(r.row["rounds"]) for r in sent] == [1, 2, 3]
    assert [r.final for r in sent] == [False, False, True]
    assert all(r.row["verify"]["after"] == "ok" for r in sent)
    last = sent[-1].row
    assert sum(r["n"] for r in last["rounds"]) == last["stats"]["n"] == len(last["samples_s"])


def test_the_share_never_goes_back():
    shares = [share for _, share, _ in finish(measurements([FakeBackend(), FakeBackend(gpu=True)]))]
    assert shares == sorted(shares)
    assert shares[0] >= 0 and shares[-1] == 1


def test_kernels_of_one_element_type_come_one_after_the_other():
    backend = FakeBackend()
    ints = kernel("b", '// dtype = "int32"\n')
    finish(measurements([backend] * 3, b=ints))
    assert order(backend) == list("acb" * 3)


def test_a_kernel_that_is_wrong_or_fails_drops_out_and_the_others_go_on():
    def wrong(a, b, c, launches):
        c.view[:] = 0

    good = FakeBackend()
    found = measurements([FakeBackend(wrong), good, FakeBackend(run_error=LaunchError("too many threads"))])
    sent = [i for i, _, record in finish(found) if isinstance(record, Finished)]
    assert sent == [0, 1, 2, 1, 1]
    assert [m.row["status"] for m in found] == ["wrong", "ok", "launch"]


def test_a_kernel_that_goes_wrong_in_a_later_round_keeps_no_figure():
    prepared = []

    def later_wrong(a, b, c, launches):
        multiply(a, b, c, launches)
        if launches == 0:
            prepared.append(1)
        if len(prepared) == 2:
            c.view[0] += 1

    (one,) = measurements([FakeBackend(later_wrong)])
    finish([one])
    assert one.row["status"] == "wrong"
    assert "right at first" in one.row["message"]
    assert one.row["gflops"] is None and one.row["rounds"] == []


def test_memory_that_others_take_in_between_costs_no_figure_that_is_there():
    backend = FakeBackend()
    (one,) = measurements([backend])
    for _, _, record in take_turns([one], 3):
        if isinstance(record, Finished):
            backend.prepare_error = OutOfMemory("no room left")
    assert one.over
    assert one.row["status"] == "ok" and one.row["gflops"] > 0
    assert any("no room left after round 1 of 3" in flag for flag in one.row["flags"])


def test_a_very_slow_kernel_is_not_measured_again_when_its_time_is_up():
    protocol = Protocol(warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=0, timeout_s=0)
    (one,) = measurements([FakeBackend()], protocol)
    finish([one], protocol)
    assert len(one.row["rounds"]) == 1
    assert one.row["stop_reason"] == "timeout" and "noisy" in one.row["flags"]


@pytest.mark.parametrize(("seconds", "samples", "stop"), [(10.5, 1, "slow"), (9.5, 3, "steady")])
def test_one_sample_is_enough_above_ten_seconds_and_the_row_says_why(seconds, samples, stop):
    protocol = Protocol(
        rounds=1, warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=60
    )
    (one,) = measurements([FakeBackend(seconds=[seconds] * 100)], protocol)
    for record in one.round():
        assert not isinstance(record, Samples) or record.share <= 1
    assert one.over and one.row["status"] == "ok"
    assert (one.row["stop_reason"], one.row["stats"]["n"] >= samples) == (stop, True)
    if stop == "slow":
        assert one.row["stats"]["n"] == 1 and "noisy" not in one.row["flags"]


def test_a_slow_kernel_has_one_round_of_three():
    protocol = Protocol(warmup_launches=1, warmup_s=0, min_samples=3, min_time_s=0, target_iqr=10, timeout_s=60)
    (one,) = measurements([FakeBackend(seconds=[12.0] * 10)], protocol)
    finish([one], protocol)
    assert len(one.row["rounds"]) == 1 and one.row["samples_s"] == [12.0]
    assert "one sample where a launch takes more than 10 s" in protocol.describe()["stop_rule"]


def test_rounds_that_disagree_are_flagged_and_rounds_that_agree_are_not():
    row = {"rounds": [{"median_s": 1.0}, {"median_s": 1.03}]}
    (one,) = measurements([FakeBackend()])
    one.row |= row
    rows.quality_flags.judge(one.row)
    assert one.row["flags"] == ["rounds-disagree"]
    one.row["rounds"][1]["median_s"] = 1.01
    rows.quality_flags.judge(one.row)
    assert one.row["flags"] == []


def test_sensor_values_are_kept_over_all_rounds_and_throttling_is_flagged():
    seen = Observed(True, [1980.0], [650.0], [60.0], 5.0, ["applications_clocks", "sw_power_cap"])
    (one,) = measurements([FakeBackend(gpu=True, observed=seen)])
    finish([one])
    assert one.row["telemetry"]["sm_mhz"] == [1980.0] * 3
    assert one.row["telemetry"]["energy_j"] == 15.0
    assert one.row["telemetry"]["throttle"] == ["applications_clocks", "sw_power_cap"]
    assert "throttled" in one.row["flags"]


def test_a_chosen_clock_is_no_throttling_and_no_sensors_is_no_telemetry():
    seen = Observed(True, [1200.0], throttle=["applications_clocks"])
    chosen, blind = measurements([FakeBackend(gpu=True, observed=seen), FakeBackend(gpu=True)])
    finish([chosen, blind])
    assert "throttled" not in chosen.row["flags"]
    assert blind.row["telemetry"] is None


def test_a_busy_machine_is_flagged_even_when_it_is_quiet_again_later():
    backend = FakeBackend(observed=Observed(contended=True))
    (one,) = measurements([backend])
    for _, _, record in take_turns([one], 3):
        if isinstance(record, Finished):
            backend.observed = Observed()
    assert one.row["flags"].count("contended") == 1


def test_a_gpu_has_a_hot_pass_of_long_enough_samples_and_a_cpu_has_one_pass_only():
    gpu, cpu = FakeBackend(gpu=True), FakeBackend()
    first, second = measurements([gpu, cpu])
    finish([first, second])
    hot = first.row["hot"]
    assert hot["batch"] > 1
    assert hot["batch"] * hot["stats"]["median"] > 5e-3
    assert hot["gflops"] == pytest.approx(SIZE.flops / hot["stats"]["median"] / 1e9)
    assert len(hot["samples_s"]) == hot["stats"]["n"] >= FAST.min_samples
    assert first.row["host_launch_s"] == 2e-6
    assert second.row["hot"] is None and second.row["host_launch_s"] is None
    # The hot pass comes once, after the last cold sample.
    assert not any(cold for _, launches, cold in gpu.log if launches > 1)
    assert all(cold for _, launches, cold in cpu.log if launches > 1)


def test_a_hot_figure_that_is_the_hosts_and_not_the_gpus_says_so():
    backend = FakeBackend(gpu=True)
    (one,) = measurements([backend])
    finish([one])
    one.row["host_launch_s"] = one.row["hot"]["stats"]["median"]
    rows.quality_flags.judge(one.row)
    assert rows.quality_flags.LAUNCH_BOUND in one.row["flags"]


def test_more_than_the_device_can_do_is_flagged():
    protocol = Protocol(rounds=1, warmup_launches=1, warmup_s=0, min_samples=1, min_time_s=0, timeout_s=0)
    fast, slow = FakeBackend(seconds=[1.0, 1e-12], gpu=True), FakeBackend(gpu=True)
    first, second = measurements([fast, slow], protocol, device=GPU)
    finish([first, second], protocol)
    assert first.row["peak_kind"] == "FP32 without tensor cores"
    assert first.row["peak_fraction"] == pytest.approx(first.row["gflops"] / first.row["peak_gflops"])
    assert first.row["peak_fraction"] > 1 and "above-peak" in first.row["flags"]
    assert second.row["peak_fraction"] < 1 and "above-peak" not in second.row["flags"]


def test_a_row_of_a_process_that_died_is_continued():
    (one,) = measurements([FakeBackend()])
    for _, _, record in take_turns([one], 3):
        if isinstance(record, Finished):
            break
    known = {"a": record.row}
    backend = FakeBackend()
    again, other = measurements([backend, backend], known=known)
    finish([again, other])
    assert order(backend) == ["b", "a", "b", "a", "b"]
    assert again.row["samples_s"][: len(record.row["samples_s"])] == record.row["samples_s"]
    assert len(again.row["rounds"]) == 3


def test_the_rows_of_a_run_that_is_cut_short():
    (one,) = measurements([FakeBackend()])
    sent = [record for _, _, record in finish([one]) if isinstance(record, Finished)]
    enough, few = dict(sent[0].row), dict(sent[0].row)
    rows.cut_short(enough, FAST, "cancelled", "cancelled")
    assert enough["status"] == "ok" and "cancelled after round 1 of 3" in enough["flags"]
    rows.cut_short(few, Protocol(min_samples=10**9), "cancelled", "cancelled")
    assert few["status"] == "cancelled" and few["gflops"] is None
    assert few["message"] == "cancelled after round 1 of 3"


EXHIBIT = '// exhibit = "stores inside the loop"\n'


def test_an_exhibit_is_verified_and_never_timed():
    def wrong(a, b, c, launches):
        multiply(a, b, c, launches)
        c.view[0] += 1

    bad, good = FakeBackend(wrong), FakeBackend()
    first, second = measurements([bad, good], a=kernel("a", EXHIBIT), b=kernel("b", EXHIBIT))
    finish([first, second])
    assert first.row["exhibit"] and first.row["status"] == "wrong"
    assert first.row["message"].endswith("Exhibit: stores inside the loop")
    assert second.row["status"] == "skipped"
    assert "C is right at this size" in second.row["message"]
    assert bad.log == good.log == []
    assert first.row["gflops"] is second.row["gflops"] is None


def test_references_are_given_back_when_memory_runs_short(monkeypatch):
    references, backend = References(1), FakeBackend()
    small, large = (launch(kernel("a"), Problem.cube(size)) for size in (8, 16))
    references.random(small, backend)
    references.random(large, backend)
    both = references.nbytes
    monkeypatch.setattr(verification_reference, "available_memory", lambda: 0)
    references.random(launch(kernel("a", '// dtype = "int32"\n'), Problem.cube(8)), backend)
    assert 0 < references.nbytes < both


def test_a_protocol_without_a_round_is_refused():
    with pytest.raises(GemmvizError, match="rounds = 0"):
        Protocol.from_plain({"rounds": 0})


def test_a_file_keeps_some_thousand_samples_and_figures_speak_of_all():
    found = measurements([FakeBackend()])
    finish(found)
    row = found[0].row
    samples = [1.0 + i for i in range(10_000)]
    row |= {"samples_s": samples, "stats": row["stats"] | {"n": len(samples)}}
    rows.thin(row)
    assert len(row["samples_s"]) == rows.MOST_SAMPLES and row["stats"]["n"] == 10_000
    assert row["samples_s"][:2] == [1.0, 6.0] and row["samples_s"][-1] > 9_990
