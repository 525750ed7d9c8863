"""The effect of each mechanism by itself, and the remaining protection if Linux offers less."""

import ast
import os
import platform
import re
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import psygnal
import pytest

from gemmviz import data
from gemmviz.sandbox import in_force, kept, landlock, rules, scratch, seccomp, wire
from gemmviz.sandbox.engine import Applied
from gemmviz.sandbox.seccomp import Filter
from gemmviz.sandbox.syscalls import REFUSED_WHILE_RUNNING, RUNNING, numbers
from gemmviz.simt.diagnostics import Diagnostic

MACHINES = ("x86_64", "aarch64")
KILL, ALLOW, EPERM, ENOSYS = "kill", "allow", 1, 38


def verdict(which, forks, machine, call, arguments=(), architecture=None):
    """Return the filter's verdict on a system call: runs its program as seccomp(2) and bpf(4) describe it."""
    codes = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
    number = call if isinstance(call, int) else numbers(machine)[call]
    filled = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    memory = struct.pack("<IIQ6Q", number, architecture or codes[machine], 0, *filled)
    steps = seccomp.program(which, forks, machine)
    at, register = 0, 0
    while True:
        step = steps[at]
        at += 1
        match step.code:
            case 0x20:
                (register,) = struct.unpack_from("<I", memory, step.value)
            case 0x15:
                at += step.yes if register == step.value else step.no
            case 0x35:
                at += step.yes if register >= step.value else step.no
            case 0x45:
                at += step.yes if register & step.value else step.no
            case 0x06:
                return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(step.value, step.value & 0xFFFF)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("which", list(Filter))
@pytest.mark.parametrize("call", ["socket", "connect", "ptrace", "mount", "bpf", "keyctl", "io_uring_setup"])
def test_no_filter_lets_a_socket_or_another_process_be_reached(which, machine, call):
    assert verdict(which, True, machine, call) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_programs_are_started_by_the_engine_and_the_compiler_only(machine):
    answers = [verdict(which, True, machine, "execve") for which in (Filter.ENGINE, Filter.COMPILING, Filter.RUNNING)]
    assert answers == [ALLOW, ALLOW, EPERM]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("forks", "flags", "answer"),
    [
        (True, 17, ALLOW),
        (False, 17, EPERM),
        (False, 0x003D0F00, ALLOW),  # a thread, as the C library starts one
        (True, 0x10000000 | 17, EPERM),  # a namespace of users
    ],
)
def test_a_kernel_makes_threads_and_processes_only_where_the_recorder_does(machine, forks, flags, answer):
    assert verdict(Filter.RUNNING, forks, machine, "clone", (flags,)) == answer
    assert verdict(Filter.RUNNING, forks, machine, "clone3") == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_nobody_types_into_a_terminal(machine):
    assert [verdict(which, True, machine, "ioctl", (0, 0x5412)) for which in Filter] == [EPERM] * 3
    assert verdict(Filter.RUNNING, True, machine, "ioctl", (0, 0x5401)) == ALLOW


def test_the_calls_of_another_architecture_end_the_process():
    assert verdict(Filter.RUNNING, True, "x86_64", "read", architecture=0x40000003) == KILL
    assert verdict(Filter.RUNNING, True, "x86_64", 0x40000000 + 1) == KILL


def test_what_nobody_thought_of_is_not_there_for_a_kernel():
    assert verdict(Filter.RUNNING, True, "x86_64", 9999) == ENOSYS


def test_nothing_is_both_allowed_and_refused():
    assert not RUNNING & REFUSED_WHILE_RUNNING
    assert all(set(RUNNING | REFUSED_WHILE_RUNNING) >= set(numbers(machine)) - {"clone3"} for machine in MACHINES)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the header is that of x86-64")
def test_the_numbers_are_those_of_this_linux():
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the C library's headers are not installed")
    words = (line.split() for line in header.read_text().splitlines() if line.startswith("#define __NR_"))
    theirs = {name.removeprefix("__NR_"): int(number) for _, name, number in words}
    ours = numbers("x86_64")
    assert {name: n for name, n in ours.items() if theirs.get(name, n) != n} == {}
    assert len(ours.keys() & theirs.keys()) > 200


def test_a_folder_in_which_a_home_lies_is_never_opened_whole(monkeypatch, tmp_path):
    home = tmp_path / "home/me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{home}:{home.parent}:{tmp_path}:/opt/lib:relative")
    opened = rules.engine(tmp_path / "scratch", [], [home / "bin"])
    folders = {str(p) for p in (*opened.read, *opened.execute, *opened.write)}
    assert not folders & {str(home), str(home.parent), str(tmp_path), "/", "relative"}
    assert str((home / "bin").resolve()) in folders


def test_what_confines_the_engine_is_there_before_anything_that_has_threads():
    code = "import sys, gemmviz.engine.start; print(sorted({'numpy', 'cupy', 'ml_dtypes'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.fixture
def nothing_offered(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(seccomp, "offered", lambda: False)
    monkeypatch.setattr(in_force, "applied", Applied())


def test_without_a_warden_it_is_said_that_nothing_is_in_force():
    (only,) = in_force.report()
    assert not only.on
    assert "people you trust" in only.says


def test_a_linux_that_offers_nothing_is_told_so_point_by_point(monkeypatch, nothing_offered):
    monkeypatch.setattr(in_force.confined, "active", lambda: True)
    monkeypatch.setattr(in_force.confined, "has_namespace", lambda: False)
    found = {m.name: m for m in in_force.report()}
    open_ = [name for name, m in found.items() if not m.on]
    assert open_ == ["Sandbox, files", "Sandbox, system calls", "Sandbox, network", "Sandbox, signals"]
    assert "can open connections" in found["Sandbox, network"].says


def test_values_come_back_through_the_wire():
    value = {
        "array": np.arange(6, dtype=np.uint16).reshape(2, 3),
        "records": np.array([(1, 2.5)], [("a", "<i8"), ("b", "<f4")]),
        "plain": [1, 2.5, float("inf"), None, "text", True, (1, (2, 3))],
        "noticed": Diagnostic("out of bounds", 3, "text", 2, "A"),
    }
    back = across(value)
    assert np.array_equal(back["array"], value["array"]) and back["array"].dtype == np.uint16
    assert back["records"].tolist() == [(1, 2.5)]
    assert (back["plain"], back["noticed"]) == (value["plain"], value["noticed"])


def test_a_large_array_is_read_where_it_lies():
    reading, writing = os.pipe()
    there = np.arange(100_000, dtype=np.uint32)
    wire.send(writing, b"t" * 16, there, readable=True)
    back = wire.receive(reading, b"t" * 16, {}, 1 << 20, wire.Memory(os.getpid()))
    assert np.array_equal(back, there) and back.ctypes.data != there.ctypes.data


def test_an_address_that_is_no_memory_is_refused():
    with pytest.raises(wire.Malformed):
        across(np.arange(3, dtype=np.uint16), lambda body: with_address(body, 64), memory=wire.Memory(os.getpid()))


def with_address(body, address):
    """The message with its array at an address, and its length put right."""
    text = body[32:-6].replace(b'"shape": [3]', b'"shape": [3], "address": %d' % address)
    return body[:16] + struct.pack("<QQ", len(text), 6) + text + body[-6:]


def across(value, spoil=lambda body: body, classes=(Diagnostic,), memory=None):
    reading, writing = os.pipe()
    wire.send(writing, b"t" * 16, value)
    body = spoil(os.read(reading, 1 << 16))
    os.write(writing, body)
    os.close(writing)
    return wire.receive(reading, b"t" * 16, {c.__name__: c for c in classes}, 1 << 20, memory)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: b"x" + body[1:],
        lambda body: body[:16] + struct.pack("<QQ", 1 << 60, 0) + body[32:],
        lambda body: body[:24] + struct.pack("<Q", 1 << 60) + body[32:],
        lambda body: body.replace(b'"<u2"', b'"|O8"'),
        lambda body: body.replace(b"[3]", b"[9]"),
        lambda body: body.replace(b"[3]", b"[-3]"),
        lambda body: body.replace(b'"shape"', b'"other"'),
        lambda body: with_address(body, 64),  # whose memory?
    ],
)
def test_bytes_that_are_no_message_are_refused(spoil):
    with pytest.raises((wire.Malformed, EOFError)):
        across(np.arange(3, dtype=np.uint16), spoil)


def test_a_class_that_was_not_asked_for_is_refused():
    with pytest.raises(wire.Malformed):
        across(Diagnostic("crash", 1, "text"), classes=())


def test_what_is_kept_is_found_again_and_what_was_changed_is_not(tmp_path):
    made = tmp_path / "made.so"
    made.write_bytes(b"code")
    folder = tmp_path / "kept"
    folder.mkdir()
    assert kept.find(folder, "key") is None
    file = kept.keep(made, folder, "key")
    assert kept.find(folder, "key") == file and file.read_bytes() == b"code"
    inode = file.stat().st_ino
    assert kept.keep(made, folder, "key") == file
    assert file.stat().st_ino == inode, "a user who was allowed to read the file cannot read it any more"
    file.write_bytes(b"evil")
    assert kept.find(folder, "key") is None
    kept.keep(made, folder, "key")
    real = file.rename(tmp_path / "elsewhere.so")
    file.symlink_to(real)
    assert kept.find(folder, "key") is None


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(data.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


def test_the_cache_is_used_where_it_is_ours(cache):
    assert data.cache_folder("native") == (cache / "native", "")
    assert stat.S_IMODE((cache / "native").stat().st_mode) == 0o700


def test_a_cache_that_is_a_link_is_not_used(cache, tmp_path):
    (tmp_path / "theirs").mkdir()
    (cache / "native").symlink_to(tmp_path / "theirs")
    folder, note = data.cache_folder("native")
    assert folder.resolve().parent != (tmp_path / "theirs") and folder.resolve() != tmp_path / "theirs"
    assert "a link" in note


def test_what_others_could_write_into_the_cache_is_thrown_away(cache):
    (cache / "native").mkdir()
    (cache / "native/planted.so").write_bytes(b"evil")
    (cache / "native").chmod(0o777)
    assert data.cache_folder("native") == (cache / "native", "")
    assert list((cache / "native").iterdir()) == []
    assert stat.S_IMODE((cache / "native").stat().st_mode) == 0o755


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_somebody_elses_cache_is_not_used(cache):
    (cache / "native").mkdir()
    os.chown(cache / "native", 12345, 12345)
    folder, note = data.cache_folder("native")
    assert folder.parent != cache
    assert "belongs to somebody else" in note


def test_sources_are_followed_where_they_may_lead(tmp_path):
    home = tmp_path / "me"
    (home / "kernels").mkdir(parents=True)
    for name in ("kernels/a.h", "kernels/notes.txt", "b.cuh", ".hidden.h", "kernels/deep.h"):
        (home / name).write_text('#include "deep.h"\n')
    (home / "kernels/link.h").symlink_to(home / "kernels/notes.txt")
    names = ["a.h", "notes.txt", "../b.cuh", "../.hidden.h", "link.h", "missing.h", str(home / "b.cuh"), "/etc/passwd"]
    text = "\n".join(f'#include "{name}"' for name in names)
    found = {p.relative_to(home).as_posix() for p, _ in scratch.reached(text, home / "kernels")}
    assert found == {"kernels/a.h", "kernels/deep.h", "b.cuh"}


def test_of_the_files_beside_a_source_only_links_are_resolved(tmp_path, monkeypatch):
    (tmp_path / "a.cu").write_text("")
    (tmp_path / ".hidden.cu").write_text("")
    (tmp_path / "folder.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "again.cu").symlink_to(tmp_path / "a.cu")
    (tmp_path / "secret.cu").symlink_to("/etc/passwd")
    resolved, may_be_read = [], scratch._may_be_read
    monkeypatch.setattr(scratch, "_may_be_read", lambda *args: (resolved.append(args[0].name), may_be_read(*args))[1])
    assert [file.name for file in scratch.neighbours([tmp_path])] == ["a.cu", "again.cu"]
    assert sorted(resolved) == ["again.cu", "secret.cu"]


def test_every_package_that_gemmviz_imports_outside_of_window_and_cluster_may_be_read():
    import gemmviz

    root = Path(gemmviz.__file__).parent
    named, known = set(), {*sys.stdlib_module_names, "gemmviz"}
    for file in root.rglob("*.py"):
        if file.is_relative_to(root / "ui") or file.is_relative_to(root / "cluster"):
            continue  # neither runs in the sandbox
        text = file.read_text(encoding="utf-8")
        if known.issuperset(re.findall(r"^\s*(?:import|from) +(\w+)", text, re.MULTILINE)):
            continue  # to parse all files would take seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                named |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named.add(node.module.partition(".")[0])
    others = named - set(sys.stdlib_module_names) - {"gemmviz", "PySide6", "pyqtgraph"}
    assert others <= set(rules._PACKAGES)


def test_packages_beside_python_are_importable_in_the_engine(tmp_path):
    folder = tmp_path / "packages"
    shutil.copytree(Path(psygnal.__file__).parent, folder / "psygnal")
    (folder / "mine_alone.py").write_text("VALUE = 1")
    code = (
        "from gemmviz.engine import start; from gemmviz.sandbox import engine, scratch\n"
        "engine.confine(scratch.make(), start._caches(), start._programs())\n"
        "import mine_alone, psygnal; print(mine_alone.VALUE, psygnal.__file__)"
    )
    path = os.pathsep.join([str(folder), str(Path(rules.__file__).parents[2])])
    text = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert text.stdout.split() == ["1", str(folder / "psygnal" / "__init__.py")], text.stderr


@pytest.mark.parametrize("machine", MACHINES)
def test_the_engine_may_listen_on_a_local_socket_as_the_driver_does_and_connect_to_nothing(machine):
    def answer(call, *arguments):
        return verdict(Filter.ENGINE, True, machine, call, arguments)

    assert answer("socket", 1) == answer("bind") == answer("listen") == ALLOW
    assert {answer("socket", family) for family in (0, 2, 10, 16, 17, 40)} == {EPERM}
    assert {answer(call) for call in ("connect", "accept", "accept4")} == {EPERM}
    for which in (Filter.COMPILING, Filter.RUNNING):
        assert verdict(which, False, machine, "socket", (1,)) == EPERM


def test_libraries_find_a_folder_for_temporary_files_in_the_engine():
    code = (
        "import tempfile; from gemmviz.engine import child, setting, start; from gemmviz.sandbox import scratch\n"
        "child.main = lambda connection, given: print(tempfile.TemporaryDirectory().name, given.scratch)\n"
        "start.main(None, setting.Setting(scratch.make()))"
    )
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    made, folder = text.stdout.split() if text.stdout else ("", text.stderr)
    assert Path(made).parent == Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
