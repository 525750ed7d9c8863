"""The recorder's C side: its layers, what its comments name, its warnings, and that Python knows how its data lie."""

import ctypes
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gemmviz.backends.compiler import compiler
from gemmviz.backends.toolchain import compile_object, compile_shared
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.simt import build, layout, recorder

SIMT = Path(build.__file__).parent
RUNTIME = SIMT / "runtime"
FILES = sorted(f for folder in ("runtime", "prelude", "include") for f in (SIMT / folder).rglob("*.[ch]"))
WARNINGS = ["-Wall", "-Wextra", "-Wmissing-prototypes", "-Wstrict-prototypes", "-Wshadow", "-Werror"]
# What comments name that others wrote, or that a kernel's author has.
FOREIGN = {"math.h", "mma.h"}
NOTHING = """// ---gemmviz
// entry = "k"
// args = ["A", "B", "C", "N"]
// block = ["1"]
// grid = ["1"]
// ---
__global__ void k(const float *A, const float *B, float *C, int N) { C[0] = A[0]; }"""


def layers() -> dict[str, int]:
    """The layer of each file, as the list in running.h has them."""
    comment = (RUNTIME / "running.h").read_text().split("#pragma once")[0]
    lines = re.findall(r"^//   ((?:[\w/*]+ )+) ", comment, re.MULTILINE)
    return {name: number for number, line in enumerate(lines) for name in line.split()}


def test_every_file_of_the_runtime_has_a_layer() -> None:
    files = {f.stem for f in RUNTIME.glob("*.[ch]")}
    assert files | {"kernel_calls/*"} == set(layers())


def test_a_file_of_the_runtime_includes_its_own_layer_and_those_below() -> None:
    of = layers()
    upwards = []
    for file in RUNTIME.glob("*.[ch]"):
        for name in re.findall(r'#include "([^"]+)\.h"', file.read_text()):
            included = "kernel_calls/*" if name.startswith("kernel_calls/") else name
            if of[included] > of[file.stem]:
                upwards.append(f"{file.name} includes {name}.h")
    assert not upwards


def test_no_two_files_of_the_runtime_include_each_other() -> None:
    includes = {f.stem: set(re.findall(r'#include "(\w+)\.h"', f.read_text())) for f in RUNTIME.glob("*.c")}
    assert not [(a, b) for a in includes for b in includes if a < b and b in includes[a] and a in includes[b]]


def test_a_prototype_of_the_runtime_stands_in_a_header() -> None:
    prototype = re.compile(r"^(?!static|typedef|return|else)[a-z][\w ]*[ *]\w+\([^;{}=]*\)[^;{}=]*;$", re.MULTILINE)
    found = {f.name: prototype.findall(f.read_text()) for f in RUNTIME.glob("*.c")}
    assert not {name: lines for name, lines in found.items() if lines}


@cache
def named_files() -> set[str]:
    return {f.name for f in SIMT.parent.rglob("*.[chp]*")}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_comments_name_files_that_exist(file: Path) -> None:
    known = named_files() | FOREIGN
    comments = re.findall(r"//.*", file.read_text())
    named = {name for line in comments for name in re.findall(r"\b\w+\.(?:c|h|py)\b", line)}
    assert named <= known


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_lines_have_at_most_120_columns(file: Path) -> None:
    assert max(map(len, file.read_text().splitlines())) <= 120


@pytest.mark.thorough
def test_the_compiler_has_nothing_to_say_about_the_runtime(tmp_path: Path) -> None:
    flags = [flag for flag in build.runtime_flags(compiler()) if flag != "-w"]
    for file in sorted(RUNTIME.glob("*.c")):
        compile_object(file, tmp_path / f"{file.stem}.o", [*flags, *WARNINGS], file)


# Signals of the timers that come late: after the kernel, and after the handlers.
LATE = """
#include "stop.h"
#include <signal.h>
gv_running gv_now;
static gv_run run;
static void nothing(void *what) { (void)what; }
static void begin(void)
{
    gv_now.run = &run;
    gv_guard_begin();
    gv_guarded(nothing, 0);
}
int after_the_kernel(int number)
{
    begin();
    raise(number);
    gv_guard_end();
    return run.status;
}
int fault_after_the_kernel(int address)
{
    begin();
    return *(volatile char *)(size_t)address;
}
int after_the_handlers(int number)
{
    sigset_t set;
    begin();
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, 0);
    raise(number);
    gv_guard_end();
    sigprocmask(SIG_UNBLOCK, &set, 0);
    return run.status;
}
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("late")
    (folder / "late.c").write_text(LATE)
    flags = [flag for flag in build.runtime_flags(compiler()) if flag != "-fvisibility=hidden"]
    for source in (folder / "late.c", RUNTIME / "stop.c"):
        compile_object(source, folder / f"{source.stem}.o", [*flags, f"-I{RUNTIME}"], source)
    compile_shared([folder / "late.o", folder / "stop.o"], folder / "late.so", build._link_flags(compiler()), folder)
    return folder / "late.so"


@pytest.mark.parametrize("when", ["after_the_kernel", "after_the_handlers"])
@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGPROF])
def test_a_time_limit_that_ends_too_late_is_ignored(late: Path, when: str, number: signal.Signals) -> None:
    code = f"import ctypes, sys; sys.exit(ctypes.CDLL({str(late)!r}).{when}({int(number)}))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_a_fault_after_the_kernel_has_the_handler_of_before(late: Path) -> None:
    code = f"import ctypes; ctypes.CDLL({str(late)!r}).fault_after_the_kernel(8)"
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], timeout=60, capture_output=True, check=False
    )
    assert b"Fatal Python error: Segmentation fault" in ended.stderr and ended.returncode == -signal.SIGSEGV


@pytest.mark.skipif(compiler().kind != "clang", reason="another compiler brings the rounding with it")
def test_a_double_is_rounded_to_a_half_once(tmp_path: Path) -> None:
    text = """
_Float16 __truncdfhf2(double exact);
void round_all(const double *exact, _Float16 *rounded, int count)
{
    for (int i = 0; i < count; i++) rounded[i] = __truncdfhf2(exact[i]);
}
"""
    (tmp_path / "caller.c").write_text(text)
    flags = [flag for flag in build.runtime_flags(compiler()) if flag != "-fvisibility=hidden"]
    for source in (tmp_path / "caller.c", RUNTIME / "halves.c"):
        compile_object(source, tmp_path / f"{source.stem}.o", flags, source)
    objects = [tmp_path / "caller.o", tmp_path / "halves.o"]
    compile_shared(objects, tmp_path / "halves.so", build._link_flags(compiler()), objects[0])
    numbers = np.random.default_rng(1)
    halves = numbers.integers(0, 0x7C00, 4000).astype(np.uint16).view(np.float16)  # all but infinities and NaNs
    halves, nearer = (h.astype(np.float64) for h in (halves, np.nextafter(halves, np.float16(0))))
    ties = np.concatenate([halves + nearer, -halves - nearer]) / 2
    near = [np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf), ties * (1 + 2.0**-30), ties * (1 - 2.0**-30)]
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.999, 65520.0, -1e300, 5e-324, 2.0**-25, 1.5 * 2.0**-25]
    exact = np.concatenate([halves, ties, *near, numbers.normal(size=1000), special])
    with np.errstate(all="ignore"):
        expected = exact.astype(np.float16)
    rounded = np.zeros_like(expected)
    code = ctypes.CDLL(str(tmp_path / "halves.so"))
    code.round_all(ctypes.c_void_p(exact.ctypes.data), ctypes.c_void_p(rounded.ctypes.data), len(exact))
    numbered = ~np.isnan(exact)
    assert np.array_equal(rounded.view(np.uint16)[numbered], expected.view(np.uint16)[numbered])
    assert np.isnan(rounded[~numbered]).all()


def built() -> Path:
    return build.build(launch(parse(NOTHING, Path("nothing.cu")), Problem.cube(4), {}))


def test_both_sides_describe_the_same_layout() -> None:
    code = ctypes.CDLL(str(built()))
    layout.check(code)
    assert layout.described()["gv_run.count"] == layout.RecorderRun.count.offset


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("EventKind", {"GV_EVENT_FENCE": 99}),
        ("a field", {"gv_box.order": 4}),
        ("a column", {"sizeof *gv_run.site": 4}),
        ("what C does not know", {"gv_run.forgotten": 0}),
    ],
)
def test_a_recorder_that_differs_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, other: dict[str, int]) -> None:
    ours = layout.described()
    monkeypatch.setattr(layout, "_agreed", set())  # otherwise a recorder is compared once in a process
    monkeypatch.setattr(layout, "described", lambda: ours | other)
    job = launch(parse(NOTHING, Path("nothing.cu")), Problem.cube(4), {})
    with pytest.raises(RuntimeError, match=re.escape(next(iter(other)))):
        recorder.count(built(), job, deadline_s=5, limit=100)


def test_every_structure_field_and_number_of_the_headers_is_compared() -> None:
    text = "".join((RUNTIME / name).read_text() for name in ("recording.h", "kernel_calls/hopper.h"))
    text = re.sub(r"//.*", "", text)
    wanted = set(re.findall(r"\b(GV_\w+) = ", "".join(re.findall(r"enum\b[^{;]*{([^}]*)}", text))))
    for body, name in re.findall(r"typedef struct(?: \w+)? {([^}]*)} (\w+);", text):
        if name in ("gv_layout_line", "gv_operand", "gv_wgmma_product"):  # what compares; what Python never sees
            continue
        # Only names are left behind: no extents, and of a pointer to a function no parameters.
        bare = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", re.sub(r"\[\w+\]", "", body))
        fields = [re.findall(r"\w+", part)[-1] for part in bare.replace(",", ";").split(";")[:-1]]
        wanted |= {f"sizeof {name}"} | {f"{kind}{name}.{field}" for field in fields for kind in ("", "sizeof ")}
    assert len(wanted) > 250
    assert wanted <= layout.described().keys()


def test_a_number_that_python_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = layout.described()
    del ours["GV_NOTE_LATE"]
    monkeypatch.setattr(layout, "_agreed", set())
    monkeypatch.setattr(layout, "described", lambda: ours)
    with pytest.raises(RuntimeError, match="GV_NOTE_LATE: 8, None"):
        layout.check(ctypes.CDLL(str(built())))


@pytest.mark.parametrize("folder", ["runtime", "prelude", "include"])
def test_a_change_to_any_c_file_makes_another_recorder(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_HERE", tmp_path)
    for name in ("runtime", "prelude", "include"):
        (tmp_path / name / "deep").mkdir(parents=True)
        monkeypatch.setattr(build, f"_{name.upper()}", tmp_path / name)
    changed = tmp_path / folder / "deep" / "file.h"
    changed.write_text("// one\n")
    before = build.runtime_texts()
    changed.write_text("// two\n")
    later_ns = changed.stat().st_mtime_ns + 10**9  # the clock of a file system goes by milliseconds
    os.utime(changed, ns=(later_ns, later_ns))
    assert build.runtime_texts() != before
