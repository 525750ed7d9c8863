"""Attacks of a stranger's kernel, all in vain. After each, the window's process lives and the next run works."""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import attacks
import hostile
import pytest
from attacking import assert_goes_on, measured, record, result_of
from consenting import AllowsAll

from gemmviz.engine import start
from gemmviz.engine.messages import Failed, Recorded, RecordRequest
from gemmviz.engine.supervisor import Engine

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux has what the sandbox is made of"
)


@pytest.fixture
def outside(tmp_path):
    """A user's folder: the kernel knows its name, and may not touch it."""
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "kept.txt").chmod(0o644)
    return tmp_path


@pytest.mark.sweep("open*O_CREAT*", "unlink*", "rename*")
@pytest.mark.parametrize(
    "call",
    [
        'open("{0}/new.txt", O_CREAT | O_WRONLY, 0644)',
        'open("{0}/kept.txt", O_WRONLY | O_APPEND)',
        'truncate("{0}/kept.txt", 0)',
        'unlink("{0}/kept.txt")',
        'rename("{0}/kept.txt", "{0}/moved.txt")',
        'link("{0}/kept.txt", "{0}/linked.txt")',
        'symlink("/etc/passwd", "{0}/linked.txt")',
        'mkdir("{0}/new", 0755)',
        'chmod("{0}/kept.txt", 0777)',
        'chown("{0}/kept.txt", 1000, 1000)',
    ],
)
def test_no_file_outside_is_written_or_changed(engine, outside, call):
    assert result_of(engine, f"result = {call.format(outside)};") == -1
    assert [p.name for p in outside.iterdir()] == ["kept.txt"]
    kept = outside / "kept.txt"
    assert (kept.read_text(), kept.stat().st_mode & 0o777, kept.stat().st_uid) == ("kept", 0o644, os.getuid())


def test_a_kernel_that_is_timed_writes_no_file_either(engine, outside):
    row = measured(
        engine, hostile.source(f'    FILE *f = fopen("{outside}/new.txt", "w"); if (f) fclose(f);', attacks.C_TOP)
    )
    assert row["status"] == "ok"
    assert [p.name for p in outside.iterdir()] == ["kept.txt"]


@pytest.mark.parametrize("place", ["{home}/.ssh/id_x", "/etc/shadow", "/proc/{parent}/environ", "/proc/{parent}/mem"])
def test_no_file_of_the_user_is_read(engine, tmp_path, monkeypatch, place):
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/id_x").write_text("a secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    name = place.format(home=tmp_path, parent=os.getpid())
    assert Path(name).exists()
    assert result_of(engine, f'result = open("{name}", O_RDONLY);') == -1


def test_no_folder_is_listed(engine, outside):
    assert result_of(engine, f'result = open("{outside}", O_RDONLY | O_DIRECTORY);') == -1


def test_what_the_environment_holds_is_not_seen(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    engine = Engine(AllowsAll())
    try:
        assert result_of(engine, 'result = getenv("SECRET_TOKEN") ? 1 : 2;') == 2
    finally:
        engine.close()


@pytest.mark.parametrize(
    "family",
    ["AF_INET, SOCK_STREAM, 0", "AF_INET, SOCK_DGRAM, 0", "AF_INET6, SOCK_STREAM, 0", "AF_UNIX, SOCK_STREAM, 0"],
)
def test_no_socket_is_opened(engine, family):
    assert result_of(engine, f"result = socket({family});") == -1


def test_nobody_is_called(engine):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        body = (
            "int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in to = { .sin_family = AF_INET, "
            f".sin_port = htons({port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }}; "
            "result = connect(s, (struct sockaddr *)&to, sizeof to);"
        )
        assert result_of(engine, body) == -1
        with pytest.raises(BlockingIOError):
            server.accept()


def test_no_program_is_started(engine, outside):
    assert result_of(engine, f'result = execl("/bin/sh", "sh", "-c", "touch {outside}/new.txt", (char *)0);') == -1
    assert result_of(engine, f'result = system("touch {outside}/new.txt");') != 0
    assert [p.name for p in outside.iterdir()] == ["kept.txt"]


def test_what_runs_when_a_library_is_loaded_is_confined_too(engine, outside):
    opened = f'early = open("{outside}/new.txt", O_CREAT | O_WRONLY, 0644);'
    kind = 'constructor, no_sanitize("thread")'  # the recorder is not ready by then
    top = f"static int early;\n__attribute__(({kind})) static void at_load(void) {{ {opened} }}"
    assert result_of(engine, "result = early;", top) == -1
    assert [p.name for p in outside.iterdir()] == ["kept.txt"]


def test_a_library_that_ends_its_process_when_it_is_loaded_costs_one_run(engine):
    top = "__attribute__((constructor)) static void early(void) { _exit(7); }"
    reply = record(engine, attacks.attack("", top))
    assert isinstance(reply, Failed)
    assert "exit code 7" in reply.message
    assert_goes_on(engine)


@pytest.mark.parametrize("call", ["kill({0}, SIGCONT)", "kill(getppid(), SIGCONT)", "kill(-1, SIGCONT)"])
def test_no_other_process_gets_a_signal(engine, call):
    heard = []
    # A signal that does no harm where the sandbox fails.
    before = signal.signal(signal.SIGCONT, lambda *_: heard.append(1))
    try:
        answer = result_of(engine, f"result = {call.format(os.getpid())};")
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGCONT, before)
    assert answer == -1
    assert not heard


def test_no_other_process_is_traced(engine):
    assert result_of(engine, f"result = ptrace(PTRACE_SEIZE, {os.getpid()}, 0, 0);") == -1
    assert "TracerPid:\t0\n" in Path("/proc/self/status").read_text()


def daemons():
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            dead = comm.with_name("stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if comm.read_text().strip() == "gv-daemon" and not dead:
                found.append(int(comm.parent.name))
        except OSError:
            continue
    return found


def cancelled(engine, request):
    """Serve a request, and cancel it once the process that its kernel leaves behind is there."""
    cancel, seen = threading.Event(), []

    def wait():
        end = time.monotonic() + 60
        while not seen and time.monotonic() < end:
            time.sleep(0.05)
            seen.extend(daemons())
        cancel.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    list(engine.run(request, cancel))
    waiting.join()
    assert seen


@pytest.fixture
def no_daemons():
    yield
    for pid in daemons():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.sweep("c, *")
@pytest.mark.parametrize("of", ["c, recorded", "cuda, recorded", "c, timed"])
def test_what_forks_and_leaves_its_session_is_gone_when_its_run_is(engine, no_daemons, of):
    if of == "cuda, recorded":
        record(engine, attacks.device_attack(attacks.DAEMON), "/nowhere/mine.cu", 32)
    elif of == "c, recorded":
        record(engine, attacks.attack(attacks.DAEMON))
    else:
        measured(engine, attacks.attack(attacks.DAEMON))
    assert daemons() == []


def test_what_forks_and_leaves_its_session_is_gone_when_the_run_is_cancelled(engine, no_daemons):
    text = attacks.device_attack(attacks.DAEMON + " for (volatile int forever = 1; forever;) sleep(1);")
    cancelled(engine, RecordRequest(1, "/nowhere/mine.cu", text, 32, 32, 32))
    assert daemons() == []
    assert_goes_on(engine)


@pytest.mark.sweep("without_anything")
@pytest.mark.parametrize("beginning", [attacks.without_namespaces, attacks.without_anything])
def test_where_linux_offers_less_what_a_kernel_starts_still_ends_with_its_run(monkeypatch, no_daemons, beginning):
    monkeypatch.setattr(start, "main", beginning)
    engine = Engine(AllowsAll())
    try:
        assert_goes_on(engine)
        record(engine, attacks.device_attack(attacks.DAEMON), "/nowhere/mine.cu", 32)
        assert daemons() == []
        text = attacks.device_attack(attacks.DAEMON + " for (volatile int forever = 1; forever;) sleep(1);")
        cancelled(engine, RecordRequest(1, "/nowhere/mine.cu", text, 32, 32, 32))
        assert daemons() == []
    finally:
        engine.close()


def test_writing_to_every_descriptor_reaches_nobody_and_is_said(engine):
    body = (
        'for (int f = 0; f < 256; f++) { ssize_t ignored = write(f, "garbage, and more of it than a head has", 40); }'
    )
    reply = record(engine, attacks.attack(body))
    assert isinstance(reply, Failed)
    assert (reply.kind, "wrote to the channel for its result" in reply.message) == ("crash", True)
    assert_goes_on(engine)


def test_a_forged_message_moves_nothing_in_the_parent(engine, outside):
    reply = record(engine, attacks.attack("forge();", attacks.FORGED.format(place=outside / "forged")))
    assert isinstance(reply, Failed)
    assert not (outside / "forged").exists()
    assert_goes_on(engine)


def test_closing_every_descriptor_costs_one_run(engine):
    text = attacks.attack("for (int f = 0; f < 256; f++) close(f); sleep(30);")
    reply = record(engine, text, deadline_s=1.0)
    assert isinstance(reply, Failed)
    assert reply.kind == "crash"
    assert_goes_on(engine)


@pytest.mark.sweep(
    "#include*zero*-cu",
    "#include*shadow*-c",
    "#include*.secret*-cu",
    "#include*/secret*-cu",
    "asm*{0}*-c",
    "asm*{0}*-cu",
)
@pytest.mark.parametrize("suffix", ["c", "cu"])
@pytest.mark.parametrize(
    "line",
    [
        '#include "/dev/zero"',
        '#include "/etc/shadow"',
        '#include "{0}/.secret.h"',
        '#include "{0}/secret.h"',
        'asm(".incbin \\"/etc/shadow\\"");',
        'asm(".incbin \\"{0}/secret.h\\"");',
    ],
)
def test_a_source_includes_no_file_of_the_user(engine, outside, line, suffix):
    for name in ("secret.h", ".secret.h"):
        (outside / name).write_text("__device__ int stolen() { return 7; } // this is a secret\n")
    line = line.format(outside)
    if suffix == "c":
        text = attacks.attack("", line)
    elif line.startswith("asm"):  # outside of the kernel it would be left out with the rest of the host's code
        text = attacks.device_attack(line)
    else:
        text = attacks.device_attack("s += stolen();", line)
    reply = record(engine, text, f"/nowhere/mine.{suffix}", 32)
    assert isinstance(reply, Failed)
    assert reply.kind == ("refused" if text.find("asm") > text.find("__global__") > 0 else "compile")
    assert "this is a secret" not in reply.message and "root:" not in reply.message
    # Not even an endless file is read until the compiler is stopped.
    assert "stopped" not in reply.message


def test_an_include_of_which_nothing_is_used_is_left_out_unread(engine, outside):
    (outside / "secret.h").write_text("this is a secret\n")
    reply = record(engine, attacks.device_attack("", f'#include "{outside}/secret.h"'), "/nowhere/mine.cu", 32)
    assert isinstance(reply, Recorded)
    assert "this is a secret" not in str(reply.recording.text)


def test_headers_beside_a_file_are_found_and_their_change_is_seen(engine, tmp_path):
    (tmp_path / "kernel").mkdir()
    (tmp_path / "common").mkdir()
    (tmp_path / "kernel/one.h").write_text('#include "../common/two.h"\n#define ONE TWO\n')
    for value in (3, 5):
        (tmp_path / "common/two.h").write_text(f"#define TWO {value}\n")
        text = attacks.attack("result = ONE;", '#include "one.h"\n')
        reply = record(engine, text, str(tmp_path / "kernel/mine.c"))
        assert isinstance(reply, Recorded), reply
        assert reply.recording.c[0, 0] == value


def test_the_scratch_folder_is_gone_with_its_engine(monkeypatch, tmp_path):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = Engine(AllowsAll())
    try:
        assert_goes_on(engine)
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        engine.close()
    assert list(tmp_path.iterdir()) == []
