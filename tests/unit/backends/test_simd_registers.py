"""The tile of the SIMD kernels stays in registers with each compiler: in memory a vector is ten times slower."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gemmviz import data
from gemmviz.backends.compiler import compiler

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="reads the machine code of x86-64")
CPUS = {512: "cascadelake", 256: "haswell"}
SUMS = {512: 14 * 2, 256: 6 * 2}
GCC = shutil.which("gcc")


def assembly(command: tuple[str, ...], folder: Path, name: str, cpu: str, bits: int) -> str:
    out = folder / "kernel.s"
    params = ["-DTHREADS=0", f"-DBITS={bits}", "-DMC=84", "-DKC=1024", "-DNC=4096"]
    flags = ["-O3", f"-march={cpu}", "-std=gnu11", "-g0", "-w", f"-I{data.root('kernels') / 'include'}"]
    source = data.root("kernels") / "cpu" / name
    subprocess.run([*command, *flags, *params, "-S", "-o", str(out), str(source)], check=True, timeout=120)
    return out.read_text()


@pytest.mark.parametrize("name", ["17a_simd.c", "17b_simd_threads.c"])
@pytest.mark.parametrize(("cpu", "bits", "wide"), [(512, 0, 512), (256, 0, 256), (512, 256, 256)])
@pytest.mark.parametrize("which", ["the one that gemmviz takes", "gcc"])
def test_each_sum_of_a_tile_is_a_register(
    tmp_path: Path, which: str, cpu: int, bits: int, wide: int, name: str
) -> None:
    if which == "gcc" and GCC is None:
        pytest.skip("no gcc here")
    command = ("gcc",) if which == "gcc" else compiler().command
    text = assembly(command, tmp_path, name, CPUS[cpu], bits)
    # The products of a tile's loop are as many as its sums, each into a register of its own.
    register = {512: "zmm", 256: "ymm"}[wide]
    sums = re.findall(rf"vfmadd\d+ps\s.*%{register}(\d+)\s*(?:#.*)?$", text, re.MULTILINE)
    assert len(set(sums)) >= SUMS[wide]
    other = {512: "ymm", 256: "zmm"}[wide]
    assert not re.search(rf"vfmadd\d+ps\s.*%{other}", text)
    # None of them goes by way of the stack between two steps of k: the loop has no vector that is stored there.
    loops = re.split(r"^\.L\w+:", text, flags=re.MULTILINE)
    hot = [loop for loop in loops if len(re.findall(r"vfmadd\d+ps", loop)) >= SUMS[wide]]
    assert hot
    assert not any(re.search(r"vmov\w+\s+%[xyz]mm\d+, -?\d*\(%[er]?[sb]p\)", loop) for loop in hot)
