"""Scripts under ``benchmarks`` that measure on a GPU, with stubs in place of the GPU and of CUDA's programs."""

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import pytest
from fake_backend import FakeBackend

from gemmviz.backends import driver, machine
from gemmviz.catalogue.kernel import code
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual
from gemmviz.engine import benching

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("the benchmarks are not beside these tests", allow_module_level=True)

GPU = SimpleNamespace(name="Stub", uuid="GPU-0")
NVCC = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho "C: 0 of 16 are wrong"\\n' > "$2"
chmod +x "$2"
"""
SANITIZER = """#!/bin/sh
[ "$1" = --help ] && exit
for program; do :; done
"$program"
echo "========= ERROR SUMMARY: {errors} errors"
"""


@pytest.fixture
def script(monkeypatch):
    """Imports a script; its modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == FOLDER:
            del sys.modules[name]


def call(module, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    return module.main()


def test_a_kernel_of_the_wild_is_measured(script, monkeypatch, tmp_path, capsys):
    wild, wild_gpu = script("wild"), script("wild_gpu")
    text = find("hostmult0", ladder()).text
    start = code(text)[0]
    row = wild.Row("owner/name", "plain.c", "hostmult0", described=True, right=True, matter=text[:start])
    other = wild.Row("owner/name", "plain.c", "no_guess")
    row.path(tmp_path).parent.mkdir()
    row.path(tmp_path).write_text(text[start:], encoding="utf-8")
    table = tmp_path / "wild.json"
    wild.write_rows(table, [row, other])
    assert call(wild_gpu, monkeypatch, table, tmp_path, "--size", 8) == 0
    found = wild.read_rows(table)
    assert found[row.name].measured == "ok" and found[row.name].gflops > 0 and tuple(found[row.name].size) == (8, 8, 8)
    assert asdict(found[other.name]) == asdict(other) | {"size": list(other.size)}
    assert "1 of 1 were measured" in capsys.readouterr().out


@pytest.mark.parametrize(("error", "code_", "said"), [(0.5, 0, "error 0.50 of the bound"), (2.0, 1, "WRONG (2.00")])
def test_shapes_prints_the_rows_that_it_keeps(script, monkeypatch, tmp_path, capsys, error, code_, said):
    shapes = script("shapes")
    monkeypatch.setattr(shapes, "driver", lambda: SimpleNamespace(device=GPU, version="1"))
    monkeypatch.setattr(shapes, "schedule_for_this_gpu", lambda: None)
    kernel = find(shapes.RUNGS["fp16"][0], ladder())
    # Two launches of equal speed, and a third that takes twice as long.
    seconds = {"rung": 1e-3, "cublas": 1e-3, "set 1": 2e-3}
    noisy = iter(range(1000))

    def played(names, each):
        return {name: seconds[name] * (1 + 1e-6 * next(noisy)) for name in names}

    row = shapes.raced(SimpleNamespace(starts=seconds, round=played), None)
    assert row["algorithms"] == 1 and row["over_set"][0] == pytest.approx(2, rel=1e-3)
    low, high = row["over_cublas"][1:]
    assert low < row["over_cublas"][0] < high and high - low < 1e-3
    row |= {"type": "fp16", "size": [4096, 4096, 4096], "sha256": kernel.sha256, "uuid": GPU.uuid}
    row |= {"params": usual(kernel, Problem(4096, 4096, 4096)), "error_before": 0.25, "error_after": error}
    kept = tmp_path / "shapes.json"
    kept.write_text(json.dumps({"rows": [row]}))
    arguments = ("--types", "fp16", "--only", "square", "--seconds", 0, "--json", kept)
    assert call(shapes, monkeypatch, *arguments) == code_
    output = capsys.readouterr().out
    assert said in output and "4096x4096x4096" in output and "fp16: 1 sizes, over cuBLAS 1.000" in output


def multiply(a, b, c, launches):
    """Multiply as `fake_backend.multiply`; C of 2 bytes is bfloat16."""
    of_c = c.view.view(ml_dtypes.bfloat16) if c.view.itemsize == 2 else c.view
    of_c[:] = (a.astype("float32") @ b.astype("float32")).astype(of_c.dtype).reshape(-1)


def test_kernels_for_several_gpus_take_turns(script, monkeypatch, tmp_path, capsys):
    several = script("several_gpus")
    monkeypatch.setattr(driver, "driver", lambda: SimpleNamespace(count=2, device=GPU, version="1"))
    monkeypatch.setattr(machine, "schedule_for_this_gpu", lambda: None)
    monkeypatch.setattr(benching, "Backends", lambda: SimpleNamespace(find=lambda name: FakeBackend(multiply)))
    monkeypatch.setattr(several, "_WARM_UP_S", 0.0)
    kept = tmp_path / "several.json"
    arguments = ("--alone", "--parts", "--sizes", 512, "--fp32", 512, "--turns", 10, "--json", kept)
    assert call(several, monkeypatch, *arguments) == 0
    lines = json.loads(kept.read_text())["lines"]
    fp32 = [f"{rung}_fp32" for rung in several.RUNGS if rung != "fused_panels"]  # its code is for bfloat16
    assert [line["what"] for line in lines] == [*several.RUNGS, *several.PARTS, *fp32], capsys.readouterr().out
    assert all(line["right_after"] is (None if line["what"] in several.PARTS else True) for line in lines)
    assert all(len(line["samples_s"]) == 10 for line in lines)


def test_too_few_gpus_are_reported(script, monkeypatch, capsys):
    several = script("several_gpus")
    monkeypatch.setattr(driver, "driver", lambda: SimpleNamespace(count=1, device=GPU, version="1"))
    assert call(several, monkeypatch, "--alone") == 2
    assert "2 GPUs are needed, there are 1" in capsys.readouterr().out


@pytest.mark.parametrize(("errors", "code_"), [(0, 0), (3, 1)])
def test_the_sanitizer_is_run_and_its_summary_is_read(script, monkeypatch, tmp_path, capsys, errors, code_):
    for name, text in (("nvcc", NVCC), ("compute-sanitizer", SANITIZER.format(errors=errors))):
        program = tmp_path / name
        program.write_text(text)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    sanitizer = script("sanitizer")
    folder = tmp_path / "programs"
    assert call(sanitizer, monkeypatch, "gpumult1", "--quick", "--folder", folder, "--jobs", 2) == code_
    output = capsys.readouterr().out
    assert f"| 0 wrong | {errors} | {errors} | {errors} | {errors} |" in output and "1 launches of 1 rungs" in output
    assert "gpumult1" in (folder / "000_gpumult1.cu").read_text()


@pytest.mark.parametrize(
    ("name", "constant", "row"), [("every_shape_fp32", "SHIFT = 1;", 397), ("every_shape", "", 448)]
)
def test_a_program_for_the_sanitizer_has_the_constants_and_the_rows_of_the_launch(script, name, constant, row):
    text = script("sanitizer_programs").program(launch(find(name, ladder()), Problem(261, 397, 301)))
    assert constant in text and f"storedB[k * {row} + j] = " in text
