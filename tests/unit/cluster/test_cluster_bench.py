"""``gemmviz bench --cluster`` with real workers: one cluster with TLS for all tests of this file."""

import json
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import hostile
import pytest
import tuning_kernels
from clusters import GEMMVIZ, Line, certificates, cluster, need_distributed

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.tuning import kept
from gemmviz.catalogue.errors import Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.cli import run
from gemmviz.cluster import course, pieces, work
from gemmviz.cluster.connection import connected
from gemmviz.cluster.course import Course, Job
from gemmviz.cluster.piece import Scheduler, Seat
from gemmviz.cluster.remote_engine import RemoteEngine, look
from gemmviz.cluster.sources import collected
from gemmviz.cluster.tls import Tls
from gemmviz.engine.consent import Named
from gemmviz.engine.messages import BenchDone, BenchRequest, Failed, Probed, ProbeRequest, Result, Sample

need_distributed()
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("certificates"), "cluster")


@pytest.fixture(scope="module")
def address(tls):
    with cluster(2, *tls) as (at, _):
        yield at


def bench(address, tls, target, *arguments):
    code = run(["bench", *arguments, "--quick", "--json", str(target), "--cluster", address, *tls])
    return code, results.read_results(target)["results"] if target.exists() else []


def test_each_size_is_measured_by_one_worker_and_says_where(address, tls, tmp_path, capsys):
    code, rows = bench(address, tls, tmp_path / "r.json", "hostmult1", "hostmult0", "--size", "8", "16")
    assert code == 0
    assert [(r["kernel"], r["M"], r["status"]) for r in rows] == [
        (name, size, "ok") for size in (8, 16) for name in ("hostmult1", "hostmult0")
    ]
    document = results.read_results(tmp_path / "r.json")
    assert {row["measured_on"]["host"] for row in rows} == {one["host"] for one in document["machines"]}
    assert document["env"] == document["machines"][0]["env"]
    assert "GFLOPS as measured on" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_wrong_kernel_and_a_crash_are_rows_as_on_one_machine(address, tls, tmp_path):
    for name, text in (("wrong", hostile.WRONG), ("crash", hostile.SEGFAULT), ("right", hostile.RIGHT)):
        (tmp_path / f"{name}.c").write_text(text)
    paths = [str(tmp_path / f"{name}.c") for name in ("wrong", "crash", "right")]
    code, rows = bench(address, tls, tmp_path / "r.json", *paths, "--size", "8")
    assert (code, [row["status"] for row in rows]) == (1, ["wrong", "crash", "ok"])


def test_without_a_gpu_one_sentence_says_so(address, tls, tmp_path, capsys):
    code, (row,) = bench(address, tls, tmp_path / "r.json", "gputiled", "--size", "16")
    assert (code, row["status"]) == (0, "skipped")
    assert "no worker announces a GPU" in capsys.readouterr().err


def test_a_proof_elsewhere_needs_a_gpu_there(address, tls, capsys):
    assert run(["prove", "gputiled", "--size", "32", "--cluster", address, *tls]) == 2
    assert "gputiled was not proved: " in capsys.readouterr().err


def test_another_version_is_named_and_not_used(address, tls, tmp_path, monkeypatch, capsys):
    other = replace(course.software(), gemmviz="0.0.1")
    monkeypatch.setattr(course, "software", lambda: other)
    assert bench(address, tls, tmp_path / "r.json", "hostmult1", "--size", "8") == (2, [])
    output = capsys.readouterr().err
    assert "this side has 0.0.1" in output and "no worker of the cluster can be used" in output
    # A worker that joins later compares, too.
    monkeypatch.setattr(course, "difference", lambda *sides: "")
    code, (row,) = bench(address, tls, tmp_path / "r.json", "hostmult1", "--size", "8")
    assert (code, row["status"]) == (1, "cancelled")
    assert "was not used: it has gemmviz" in row["message"]


def test_certificates_of_another_authority_are_refused(address, tls, tmp_path, capsys):
    other = certificates(tmp_path, "other")
    assert bench(address, other, tmp_path / "r.json", "hostmult1", "--size", "8")[0] == 2
    assert "is not accepted: " in capsys.readouterr().err
    mixed = [*tls[:2], *other[2:]]
    assert bench(address, mixed, tmp_path / "r.json", "hostmult1", "--size", "8")[0] == 2
    assert "does not accept this certificate" in capsys.readouterr().err
    assert bench(address, [], tmp_path / "r.json", "hostmult1", "--size", "8")[0] == 2
    assert "needs certificates" in capsys.readouterr().err
    assert run(["cluster", "worker", address, *other]) == 2
    assert "is not accepted: " in capsys.readouterr().err


def test_a_cancellation_keeps_what_was_measured_and_frees_the_worker(address, tls):
    right, endless = (("/nowhere/right.c", hostile.RIGHT), ("/nowhere/endless.c", hostile.SLEEPS))
    kernels = [{"path": path, "text": text, "params": {}} for path, text in (right, endless)]
    protocol = Protocol.quick().to_plain()
    requests = [BenchRequest(1, kernels, [(8, 8, 8)], protocol), BenchRequest(2, kernels[1:], [(9, 9, 9)], protocol)]
    jobs = [Job(*collected(request, []), False, 600.0) for request in requests]
    cancel = threading.Event()
    with connected(address, Tls(*map(Path, tls[1::2]))) as client:
        course = Course(client, jobs)
        for _, reply in course.run(cancel):
            if isinstance(reply, Result):  # of the right kernel; the endless one is next
                cancel.set()
        first, second = course.heard
        assert isinstance(first.last, BenchDone)
        assert [row["status"] for row in first.last.document["results"]] == ["ok", "cancelled"]
        assert all("measured_on" in row for row in first.last.document["results"][:1])
        assert second.why == "cancelled" or isinstance(second.last, BenchDone)
        end = time.monotonic() + 60
        while busy(client) and time.monotonic() < end:
            time.sleep(0.1)
        assert not busy(client)


def test_tuned_parameters_are_those_of_the_device_that_all_workers_have(address, tls, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.c").write_text(tuning_kernels.c_source())
    kernel = parse(tuning_kernels.c_source(), tmp_path / "mine.c")
    cpu = look(Scheduler(address, *tls[1::2]))[0].cpu
    size = dict.fromkeys("MNK", 16)
    one = kept.Tuned("mine", kernel.sha256, cpu, "2026-11-27", **size, params={"P": 3}, gflops=1.0, gain=2.0, rounds=3)
    monkeypatch.setattr(kept, "kept", lambda: ([one], []))
    code, (row,) = bench(address, tls, tmp_path / "r.json", str(tmp_path / "mine.c"), "--size", "8", "--tuned")
    assert (code, row["status"], row["params"]) == (0, "ok", {"P": 3})
    assert f"mine at 8 x 8 x 8: P=3, tuned at 16 x 16 x 16 on {cpu}" in capsys.readouterr().err


def test_tuned_parameters_need_workers_with_the_same_device(monkeypatch, capsys):
    seats = [Seat("a", "h", "", "", "abacus (2 cores)", False), Seat("b", "i", "", "", "slide rule (1 cores)", False)]
    monkeypatch.setattr("gemmviz.cli.clustering.look", lambda scheduler: seats)
    assert run(["bench", "hostmult0", "--size", "8", "--tuned", "--cluster", "127.0.0.1:1"]) == 2
    assert (
        "needs workers with the same device; this cluster has abacus (2 cores), slide rule" in capsys.readouterr().err
    )


@pytest.mark.thorough
def test_a_search_runs_on_a_worker_and_is_kept_here(address, tls, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "mine.c").write_text(tuning_kernels.c_source())
    arguments = ["tune", str(tmp_path / "mine.c"), "--size", "16", "--seconds", "5", "--json", str(tmp_path / "t.json")]
    assert run([*arguments, "--cluster", address, *tls]) == 0
    outcome = json.loads((tmp_path / "t.json").read_text())
    assert outcome["tried"] and outcome["params"] and not outcome["cancelled"]
    assert "Kept for `gemmviz bench" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_check_on_a_cluster_finds_what_it_finds_here(address, tls, tmp_path, capsys):
    arguments = ["check", "gputiled~no-second-barrier", "--size", "8", "16", "--set", "TS=4"]
    assert run([*arguments, "--json", str(tmp_path / "here.json")]) == 1
    assert run([*arguments, "--json", str(tmp_path / "there.json"), "--cluster", address, *tls]) == 1
    here, there = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("here", "there"))
    assert here == there and here["sizes"][0]["findings"]


def busy(client):
    """Return whether a worker serves a piece; what Dask runs there must not be a function of this file."""
    return any(client.run(lambda: bool(work._running)).values())


@pytest.mark.thorough
def test_a_network_that_is_lost_costs_no_row_that_has_arrived(address, tls):
    kernels = [
        {"path": f"/nowhere/{name}.c", "text": text, "params": {}}
        for name, text in (("right", hostile.RIGHT), ("endless", hostile.SLEEPS))
    ]
    requests = [BenchRequest(n, kernels, [(8 + n, 8, 8)], Protocol.quick().to_plain()) for n in range(4)]
    files, line = Tls(*map(Path, tls[1::2])), Line(address)
    with connected(line.address, files) as client:
        course, arrived = Course(client, [Job(*collected(one, []), False, 600.0) for one in requests]), set()
        for number, reply in course.run(threading.Event()):
            if isinstance(reply, Result):
                arrived.add(number)
                line.cut()
    assert arrived
    for number, (request, heard) in enumerate(zip(requests, course.heard, strict=True)):
        assert heard.why == "the connection to the cluster was lost"
        first, second = pieces.piece_document(request, heard)["results"]
        assert (first["status"] == "ok") == (number in arrived) == ("measured_on" in first)
        assert (second["status"], second["message"]) == ("cancelled", heard.why)
    with connected(address, files) as client:  # the endless kernels still run
        client.run(work.cancel, course.id)
        end = time.monotonic() + 60
        while busy(client) and time.monotonic() < end:
            time.sleep(0.1)
        assert not busy(client)


@pytest.mark.thorough
def test_ctrl_c_ends_the_command(address, tls, tmp_path):
    (tmp_path / "endless.c").write_text(hostile.SLEEPS)
    target = tmp_path / "r.json"
    command = [*GEMMVIZ, "bench", str(tmp_path / "endless.c"), "--size", "8", "12", "--json", str(target)]
    process = subprocess.Popen([*command, "--cluster", address, *tls], stderr=subprocess.DEVNULL)
    with connected(address, Tls(*map(Path, tls[1::2]))) as client:
        end = time.monotonic() + 120
        while not busy(client) and time.monotonic() < end:
            time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    rows = json.loads(target.read_text())["results"]
    assert [(row["M"], row["kernel"], row["status"]) for row in rows] == [
        (8, "endless", "cancelled"),
        (12, "endless", "cancelled"),
    ]


def scheduler(address, tls):
    return Scheduler(address, *tls[1::2])


@pytest.mark.thorough
def test_an_engine_elsewhere_answers_as_one_of_this_machine(address, tls, tmp_path):
    seats = look(scheduler(address, tls))
    assert len(seats) == 2 and {seat.gpu for seat in seats} == {""} and not any(seat.busy for seat in seats)
    kernels = []
    for name, text in (("right", hostile.RIGHT), ("endless", hostile.SLEEPS)):
        (tmp_path / f"{name}.c").write_text(text)
        kernels.append(parse(text, tmp_path / f"{name}.c"))
    entries = [{"path": str(kernel.path), "text": kernel.text, "params": {}} for kernel in kernels]
    engine = RemoteEngine(Named(kernels), scheduler(address, tls), seats[1])
    try:
        *_, probed = engine.run(ProbeRequest(1), threading.Event())
        assert isinstance(probed, Probed) and probed.facts["device"] is None
        # Two sizes are two pieces on the same worker; the second kernel is cancelled, and what was measured is kept.
        cancel, arrived = threading.Event(), []
        sizes = [(8, 8, 8), (12, 12, 12)]
        for reply in engine.run(BenchRequest(2, entries, sizes, Protocol.quick().to_plain()), cancel):
            arrived.append(reply)
            if isinstance(reply, Result) and reply.final:
                assert [seat.busy for seat in look(scheduler(address, tls))] == [False, True]
                cancel.set()
        assert any(isinstance(reply, Sample) and reply.seconds for reply in arrived)
        done = arrived[-1]
        assert isinstance(done, BenchDone) and done.run == 2
        found = [(row["M"], row["status"]) for row in done.document["results"]]
        assert found == [(8, "ok"), (8, "cancelled"), (12, "cancelled"), (12, "cancelled")]
        # A text without consent is not sent.
        (held,) = engine.run(BenchRequest(3, [{"path": "/nowhere/x.c", "text": "x", "params": {}}], sizes), cancel)
        assert isinstance(held, Failed) and held.kind == "untrusted"
    finally:
        engine.close()


def test_an_engine_elsewhere_says_why_it_cannot_be_used(address, tls):
    with pytest.raises(Unavailable, match="there is no scheduler at"):
        look(Scheduler("tls://127.0.0.1:1", *tls[1::2]))
    with pytest.raises(Unavailable, match="needs certificates"):
        look(Scheduler(address))
    gone = Seat(address="tls://127.0.0.1:1", host="gone", gpu="", uuid="", cpu="a CPU", busy=False)
    engine = RemoteEngine(Named([]), scheduler(address, tls), gone)
    *_, last = engine.run(ProbeRequest(1), threading.Event())
    engine.close()
    assert isinstance(last, Failed) and "a CPU on gone: this worker has left the cluster" in last.message


@pytest.mark.thorough
def test_claims_are_measured_on_one_device_and_judged_here(address, tls, tmp_path, capsys):
    target = tmp_path / "claims.json"
    arguments = ["claims", "s0-register-cpu", "--quick", "--json", "--save", str(target)]
    assert run([*arguments, "--cluster", address, *tls]) == 0
    out, err = capsys.readouterr()
    assert "gemmviz: measured on " in err
    (claim,) = json.loads(out)
    assert claim["verdict"]["state"] != "not run"
    rows = results.read_results(target)["results"]
    assert len(rows) > 1
    assert all(row["status"] == "ok" and row["measured_on"] for row in rows)
