"""``gemmviz bench --cluster`` with real workers: one cluster with TLS for all tests of this file."""

import json
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import hostile
import pytest
from clusters import GEMMVIZ, certificates, cluster

from gemmviz.bench import results
from gemmviz.cli import run
from gemmviz.cluster import course

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


WAIT_S = 12  # for a busy machine: after it, an endless kernel runs on each worker


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
    code, rows = bench(address, tls, tmp_path / "r.json", "hostmult1", "numpy", "--size", "8", "16", "24")
    assert code == 0
    assert [(r["kernel"], r["M"], r["status"]) for r in rows] == [
        (name, size, "ok") for size in (8, 16, 24) for name in ("hostmult1", "numpy")
    ]
    document = results.read_results(tmp_path / "r.json")
    assert {row["measured_on"]["host"] for row in rows} == {one["host"] for one in document["machines"]}
    assert document["env"] == document["machines"][0]["env"]
    assert "GFLOPS as measured on" in capsys.readouterr().out


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


def test_another_version_is_named_and_not_used(address, tls, tmp_path, monkeypatch, capsys):
    other = replace(course.software(), gemmviz="0.0.1")
    monkeypatch.setattr(course, "software", lambda: other)
    assert bench(address, tls, tmp_path / "r.json", "hostmult1", "--size", "8") == (2, [])
    said = capsys.readouterr().err
    assert "this side has 0.0.1" in said and "no worker of the cluster can be used" in said
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


def test_ctrl_c_keeps_what_was_measured_and_frees_the_workers(address, tls, tmp_path):
    (tmp_path / "endless.c").write_text(hostile.ENDLESS)
    target = tmp_path / "r.json"
    names = ["hostmult1", str(tmp_path / "endless.c")]
    command = [*GEMMVIZ, "bench", *names, "--size", "8", "12", "--json", str(target), "--quick"]
    process = subprocess.Popen([*command, "--cluster", address, *tls], stderr=subprocess.DEVNULL)
    time.sleep(WAIT_S)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - begun < 20  # the workers answer at once; the rest is this busy process's own end
    rows = json.loads(Path(target).read_text())["results"]
    assert [(row["M"], row["kernel"]) for row in rows] == [(s, k) for s in (8, 12) for k in ("hostmult1", "endless")]
    assert {row["status"] for row in rows if row["kernel"] == "endless"} == {"cancelled"}
    assert all("measured_on" in row for row in rows)
    # Both workers are free again: two sizes need both, and an endless kernel has a deadline of a minute.
    begun = time.monotonic()
    code, rows = bench(address, tls, tmp_path / "again.json", "hostmult1", "--size", "8", "16")
    assert code == 0 and time.monotonic() - begun < 50
