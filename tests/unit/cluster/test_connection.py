"""Addresses, certificates, and clusters that cannot be used: one sentence each."""

import errno
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest
from clusters import need_distributed

from gemmviz.catalogue.errors import ConstraintError, Unavailable
from gemmviz.cli import run
from gemmviz.cluster import connection, remote_engine, serving
from gemmviz.cluster.piece import Scheduler
from gemmviz.cluster.tls import Tls

need_distributed()


@pytest.fixture
def tls(tmp_path):
    return Tls(*(tmp_path / name for name in ("ca.pem", "own.pem", "own.key")))


def test_an_address_may_leave_out_scheme_and_port(tls):
    assert str(connection.address("localhost", None)) == "tcp://localhost:8786"
    assert str(connection.address("127.0.0.9:1", None)) == "tcp://127.0.0.9:1"
    assert str(connection.address("[::1]", None)) == "tcp://[::1]:8786"
    assert str(connection.address("lab.example:99", tls)) == "tls://lab.example:99"


@pytest.mark.parametrize("text", ["lab.example", "tcp://10.0.0.1:8786", "tcp://0.0.0.0", "tls://127.0.0.1"])
def test_beyond_loopback_certificates_are_required(text):
    with pytest.raises(ConstraintError, match="give --ca, --certificate and --key"):
        connection.address(text, None)


def test_the_window_knows_without_a_process_that_certificates_are_missing(monkeypatch):
    monkeypatch.setattr(remote_engine, "_Relay", None)
    with pytest.raises(Unavailable, match="needs certificates"):
        remote_engine.look(Scheduler("tls://10.0.0.1"))


def test_certificates_do_not_make_a_plain_connection_safe(tls):
    with pytest.raises(ConstraintError, match="so TLS is required"):
        connection.address("tcp://10.0.0.1", tls)


@pytest.mark.parametrize("text", ["", "http://a", "tls://", "tcp://127.0.0.1:port", "tcp://[::1"])
def test_other_texts_are_no_addresses(text, tls):
    with pytest.raises(ConstraintError, match="is not the address of a scheduler"):
        connection.address(text, tls)


def test_a_scheduler_listens_beyond_loopback_only_with_certificates(capsys):
    assert run(["cluster", "local", "--host", "0.0.0.0"]) == 2
    assert run(["cluster", "ssh", "lab", "--host", "10.0.0.1"]) == 2
    assert capsys.readouterr().err.count("so TLS is required") == 2
    assert run(["cluster", "local", "--ca", "ca.pem"]) == 2
    assert "TLS needs three files" in capsys.readouterr().err


def test_no_scheduler_is_one_sentence(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert run(["bench", "hostmult1", "--size", "8", "--cluster", f"127.0.0.1:{port}"]) == 2
    assert f"there is no scheduler at tcp://127.0.0.1:{port}: Connection refused" in capsys.readouterr().err


def test_a_worker_waits_for_its_scheduler_and_then_says_that_there_is_none(monkeypatch, capsys):
    monkeypatch.setattr(connection, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(connection, "_AGAIN_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert run(["cluster", "worker", f"127.0.0.1:{port}"]) == 2
    found = capsys.readouterr()
    why = f"there is no scheduler at tcp://127.0.0.1:{port}: Connection refused"
    assert (found.out, found.err) == (f"{why}; waiting for it\n", f"gemmviz: {why}\n")


def test_a_cluster_that_cannot_be_started_is_one_sentence(monkeypatch, capsys):
    async def fails(*arguments):
        raise RuntimeError("Scheduler failed to start.") from OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(serving, "_serve", fails)
    assert run(["cluster", "local", "--port", "9"]) == 2
    assert capsys.readouterr().err == "gemmviz: the cluster cannot be started at 127.0.0.1:9: Address already in use\n"


@pytest.mark.parametrize("at", ["tls://127.0.1.1:8786", "tls://[::1]:8786"])
def test_a_name_of_this_machine_that_others_cannot_reach_is_reported(at, capsys):
    serving._say_unreachable("desk.lab", at)
    found = at.removeprefix("tls://").removesuffix(":8786").strip("[]")
    assert capsys.readouterr().out == (
        f"On this machine desk.lab is {found}, which no other machine reaches: give its address in the network as "
        "--host.\n"
    )


def test_a_scheduler_for_this_machine_only_and_one_in_a_network_need_no_report(capsys):
    serving._say_unreachable("localhost", "tcp://127.0.0.1:8786")
    serving._say_unreachable("127.0.0.1", "tcp://127.0.0.1:8786")
    serving._say_unreachable("0.0.0.0", "tls://192.0.2.2:8786")
    serving._say_unreachable("desk.lab", "tls://192.0.2.2:8786")
    assert not capsys.readouterr().out


def test_missing_certificates_are_named(tls):
    with pytest.raises(Unavailable, match=r"cannot be used \(No such file"):
        tls.context()
    with pytest.raises(Unavailable, match=r"cannot be used \(No such file"):
        serving.serve(serving.Place("127.0.0.1", 0), tls, [])


def test_without_dask_the_line_that_installs_it_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(connection, "find_spec", lambda name: None if name == "distributed" else find_spec(name))
    assert run(["bench", "hostmult1", "--size", "8", "--cluster", "127.0.0.1"]) == 2
    assert "python -m pip install 'gemmviz[cluster]'" in capsys.readouterr().err


def test_whoever_works_alone_imports_nothing_of_it():
    code = """
import sys
from gemmviz.cli import run
run(["bench", "numpy", "--size", "4", "--quick", "--timeout", "0.01", "--json", "-"])
print(*sorted(name for name in sys.modules if name.startswith(("distributed", "dask", "gemmviz.cluster"))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "gemmviz.cluster gemmviz.cluster.tls"


def test_there_is_one_worker_per_gpu_and_one_without(monkeypatch):
    monkeypatch.setattr(serving, "gpus", lambda: ["4", "7"])
    with_gpus = [
        {"env": {"CUDA_VISIBLE_DEVICES": "4"}, "resources": {"GPU": 1}},
        {"env": {"CUDA_VISIBLE_DEVICES": "7"}, "resources": {"GPU": 1}},
    ]
    assert serving.workers(None) == with_gpus
    assert serving.workers(1) == with_gpus[:1]
    assert serving.workers(3) == [*with_gpus, {"env": {"CUDA_VISIBLE_DEVICES": ""}}]
    monkeypatch.setattr(serving, "gpus", lambda: [])
    assert serving.workers(None) == [{"env": {"CUDA_VISIBLE_DEVICES": ""}}]
