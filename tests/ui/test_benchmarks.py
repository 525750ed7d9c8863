# ruff: noqa: E402  (modules that need Qt are imported after `need_qt`)
"""Each script under ``benchmarks`` runs at its smallest size. The scripts only print speeds and do not judge them."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from window_driving import need_qt

need_qt()

from PySide6.QtCore import QEvent

from gemmviz.backends.cupy_check import cuda_verdict
from gemmviz.catalogue.errors import Unavailable
from gemmviz.proving import ncu
from gemmviz.ui.stage.stage import Stage

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("the benchmarks are not beside these tests", allow_module_level=True)

# A loop of two FFMAs. The second one reuses an operand, and all three operands of the first one are in one bank.
LISTING = """
.L_x_0:
        /*0010*/                   FFMA R0, R2, R4, R6 ;
        /*0020*/                   FFMA R1, R2.reuse, R5, R7 ;
        /*0030*/                   ISETP.NE.AND P0, PT, R8, RZ, PT ;
        /*0040*/              @P0  BRA `(.L_x_0) ;
"""
MISSED = (0, 1)
"""The exit code of a script that measures: 1 where a target is missed, on a busy machine or a small one."""
CASES = {
    "cpu.py": (["hostmult1", "--size", "16", "--rounds", "1"], (0,), "hostmult1 .*%"),
    "cluster_order.py": (["--runs", "1"], (0,), r"12 kernels.* most work first +1\.\d\d .* large ones cut"),
    "disturbance.py": (["hostmult1", "--size", "4", "--rounds", "1", "--quick"], MISSED, "hostmult1 .*/"),
    "duel.py": (["--quick", "--cpu"], MISSED, r"frame of gputiled \| .*alone [0-9n]"),
    "frames.py": (["--rungs", "hostmult_threads", "--quick"], MISSED, r"hostmult_threads +gestures +[\d.]+"),
    "mutants.py": (["--sample", "1", "--jobs", "1"], (0,), "all +1 +1 "),
    "mutants.py --originals": (["--only", "gpumult1", "--jobs", "1"], (0,), "gpumult1 .*launches, nothing found"),
    "provenance.py": (["--quick"], MISSED, r"matmul_tc_2d_warp_tiling.* at \d+ +[\d.]+"),
    "recording.py": (["--quick", "hostmult0", "stream_k"], (0,), r"hostmult0 .* M .*stream_k.* M "),
    "register_banks.py": (["gputiled", "--listing", "{listing}"], (0,), "2 FFMAs in the loop: 2.500 cycles each"),
    "sandbox.py": (
        ["--quick"],
        MISSED,
        r"with +start .*start, median of 2 pairs: [+-].*answer, the best .* x \d",
    ),
    "window.py": (
        ["--rungs", "gputiled", "--quick", "--memory", "--minutes", "0.01", "--cpu"],
        MISSED,
        "first painted window.*frame of gputiled.*while a benchmark runs.*growth of memory",
    ),
}
APART = {"recording.py", "sandbox.py"}
"""Started as from the command line: it starts itself again. All others are called in this process."""
ELSEWHERE = {"cluster.py", "faults.py", "fuzzing.py", "reference.py", "soak.py", "wild.py"}
"""Tried by `test_fault_table`, `test_fuzzing`, `test_reference_results`, `test_soak` and `test_wild`."""
ON_A_GPU = {"sanitizer.py", "several_gpus.py", "shapes.py", "wavefronts.py", "wild_gpu.py", "wmma_fragments.py"}


def run(script, *arguments):
    name, *first = script.split()
    command = [sys.executable, str(FOLDER / name), *first, *arguments]
    return subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)


@pytest.fixture
def called(qapp, monkeypatch, capsys):
    """Calls a script's main function with arguments; its modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(Stage, "paintEvent", Stage.paintEvent)  # scripts that time it put another one there
    before = set(sys.modules)

    def call(script, *arguments):
        name, *first = script.split()
        monkeypatch.setattr(sys, "argv", [name, *first, *arguments])
        try:
            code = importlib.import_module(Path(name).stem).main() or 0
        finally:  # the window of a script that failed would end the process during a later test
            for window in qapp.topLevelWidgets():
                window.close()
                window.deleteLater()
            qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        output = capsys.readouterr()
        return subprocess.CompletedProcess(sys.argv, code, output.out, output.err)

    yield call
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == FOLDER:
            del sys.modules[name]


@pytest.mark.sweep("cpu.py", "frames.py", "register_banks.py")
@pytest.mark.parametrize("script", CASES)
def test_a_script_runs_at_its_smallest_size(script, tmp_path, called):
    arguments, codes, text = CASES[script]
    (tmp_path / "listing").write_text(LISTING, encoding="utf-8")
    start = run if script in APART else called
    done = start(script, *(argument.format(listing=tmp_path / "listing") for argument in arguments))
    assert done.returncode in codes and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert re.search(text, done.stdout, re.DOTALL), done.stdout + done.stderr


@pytest.mark.parametrize("script", sorted(ON_A_GPU))
def test_a_script_for_a_gpu_explains_itself(script, called, capsys):
    with pytest.raises(SystemExit) as ended:
        called(script, "--help")
    assert not ended.value.code and "usage" in capsys.readouterr().out


@pytest.mark.thorough
def test_programs_for_the_sanitizer_compile_or_a_missing_compiler_is_reported():
    done = run("sanitizer.py", "gpumult1", "--build", "--quick")
    assert done.returncode == 0 or (done.returncode == 2 and "nvcc" in done.stderr), done.stdout + done.stderr


def test_requests_are_counted_or_a_missing_tool_is_reported():
    missed = ""
    try:
        ncu.tool()
    except Unavailable as error:
        missed = str(error)
    if not missed and not (verdict := cuda_verdict()).usable:
        pytest.skip(f"Nsight Compute is here, but: {verdict}")
    done = run("wavefronts.py", "--count", "1")
    assert (done.returncode, done.stderr.strip()) == ((2, missed) if missed else (0, "")), done.stdout + done.stderr
    assert missed or re.search(r"^(\d+) of \1 requests take", done.stdout), done.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("script", ["wmma_fragments.py"])
def test_a_script_for_a_gpu_runs_there(script):
    done = run(script)
    assert done.returncode == 0 and "all agree" in done.stdout, done.stdout + done.stderr


def test_every_script_is_tested():
    scripts = {file.name for file in FOLDER.glob("*.py") if "\nif __name__ ==" in file.read_text(encoding="utf-8")}
    assert scripts == {script.split()[0] for script in CASES} | ELSEWHERE | ON_A_GPU


def test_scripts_import_modules_that_exist():
    package = FOLDER.parent / "gemmviz"
    imported = {
        (script.name, module)
        for script in FOLDER.glob("*.py")
        for module in re.findall(r"^\s*from gemmviz\.([\w.]+) import", script.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(imported) > 100
    places = {(script, package.joinpath(*module.split("."))) for script, module in imported}
    assert not [(script, at) for script, at in places if not (at.is_dir() or at.with_suffix(".py").is_file())]
