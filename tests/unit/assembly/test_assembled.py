"""Real compilations where NVRTC and nvdisasm are installed: nothing of this needs a GPU."""

import re
from collections import Counter
from pathlib import Path

import pytest
from listings import needs_tools, tiled_launch, tiled_listing
from small_kernel import kernel, source

from gemmviz.assembly import assemble as assembling
from gemmviz.assembly import toolkit
from gemmviz.assembly.assemble import assemble
from gemmviz.assembly.compiled import compiled, disassembled
from gemmviz.assembly.counts import by_line, counted
from gemmviz.assembly.summary import summary
from gemmviz.backends.nvrtc import has_mma_header, library_folder
from gemmviz.catalogue.errors import BuildError, ConstraintError, Unavailable
from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import launch
from gemmviz.catalogue.problem import Problem

NAMED = ("FFMA", "HMMA", "HGMMA", "LDS", "LDSM", "LDG", "LDGSTS", "STS", "STG", "UTMALDG", "BAR", "SYNCS")


def made(name, arch, **params):
    return assemble(launch(find(name, ladder()), Problem.cube(4096), params), arch, "", lambda _: None)


@pytest.mark.sweep("gpumult0-sm_80", "warp_specialised-sm_90a")
@needs_tools
@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("gpumult0", "sm_80"),
        ("gpumult0", "sm_90a"),
        ("matmul_kernel_2d_thread_tiling", "sm_80"),
        ("matmul_kernel_2d_thread_tiling", "sm_90a"),
        ("mma_pipeline", "sm_80"),
        ("warp_specialised", "sm_90a"),
    ],
)
def test_counts_are_those_of_the_disassembler_s_text(name, arch, tmp_path):
    wanted = launch(find(name, ladder()), Problem.cube(4096))
    tools = toolkit.toolkit()
    answer = compiled(wanted, arch, tools, tmp_path)
    text = disassembled(answer.cubin, tools)
    sections = re.split(r"(?=^\t\.section\t)", text, flags=re.MULTILINE)
    (own,) = (part for part in sections if part.startswith(f"\t.section\t.text.{answer.entry},"))
    by_hand = {n: len(re.findall(rf"\*/\s+(?:@!?U?P\w+\s+)?{n}[. ]", own)) for n in NAMED}
    listing = assembling.listed(wanted, arch, answer, text, tmp_path)
    found = counted(listing.instructions)
    assert {n: found[n] for n in NAMED} == by_hand
    assert sum(by_line(listing).values(), Counter()) == found
    assert summary(listing).loop is not None and found.total() == len(listing.instructions)


@needs_tools
def test_what_is_kept_for_tests_is_what_is_compiled(monkeypatch):
    now, before = assemble(tiled_launch(), "sm_80", "", lambda _: None), tiled_listing()
    if now.compiler != before.compiler:
        pytest.skip(f"the kept listing is of {before.compiler}, not of {now.compiler}")
    assert [one.text for one in now.instructions] == [one.text for one in before.instructions]
    assert [line.text for line in now.ptx] == [line.text for line in before.ptx]
    assert (now.usage, now.label) == (before.usage, before.label)


@needs_tools
def test_a_loop_multiplies_its_tile():
    listing = made("warp_specialised", "")
    loop = summary(listing).loop
    assert listing.architecture == "sm_90a" and loop.unit == "HGMMA"
    # A warp's quarter of 128 x 128 x 64.
    assert loop.products == 128 * 128 * 64 // 4
    names = [file.name for file in listing.files]
    assert names[0] == "62_warp_specialised.cu" and "gemmviz/ptx/wgmma.h" in names
    multiplied = [listing.where(one.place) for one in listing.instructions if one.stem == "HGMMA"]
    assert all("62_warp_specialised.cu:" in place for place in multiplied)
    assert any(place.startswith("gemmviz/ptx/wgmma.h:") for place in multiplied)


@needs_tools
@pytest.mark.skipif(not has_mma_header(), reason="mma.h is not installed")
def test_tensor_cores_through_mma_h():
    loop = summary(made("matmul_tc", "sm_80")).loop
    assert loop.unit == "HMMA" and loop.products == loop.counts["HMMA"] * 16 * 8 * 16


@needs_tools
def test_spilled_registers_are_said():
    body = "    float s[64];\n    for (int i = 0; i < 64; i++) s[i] = A[i * N + threadIdx.x];\n"
    body += "    for (int k = 0; k < N; k++)\n        #pragma unroll\n        for (int i = 0; i < 64; i++)\n"
    body += "            s[i] = s[i] * s[(i * 7 + 3) % 64] + B[k];\n"
    body += "    for (int i = 0; i < 64; i++) C[i * N + threadIdx.x] = s[i];\n"
    text = "__global__ void __launch_bounds__(1024, 2) k(float *A, float *B, float *C, int N)\n{\n" + body + "}\n"
    spilling = kernel(text, entry='"k"', params=None, block="[1024]", grid="[1]")
    listing = assemble(launch(spilling, Problem.cube(1024)), "sm_80", "", lambda _: None)
    assert listing.usage.spill_store_bytes > 0 and listing.usage.stack_bytes > 0
    stored = {one.stem for one in listing.instructions}
    assert {"LDL", "STL"} <= stored


@needs_tools
def test_a_local_header_is_named_and_shown(tmp_path):
    (tmp_path / "tile.cuh").write_text("__device__ float twice(float x)\n{\n    return x + x;\n}\n")
    code = (
        '#include "tile.cuh"\n__global__ void k(float *A, float *B, float *C, int N)\n{\n    C[0] = twice(A[0]);\n}\n'
    )
    file = tmp_path / "mine.cu"
    file.write_text(source(code, entry='"k"', params=None, block="[32]", grid="[1]"))
    listing = assemble(launch(parse(file.read_text(), file), Problem.cube(64)), "sm_80", "", lambda _: None)
    (added,) = (one for one in listing.instructions if one.stem == "FADD")
    line = file.read_text().splitlines().index("    C[0] = twice(A[0]);") + 1
    assert listing.where(added.place) == f"tile.cuh:3, mine.cu:{line}"
    assert listing.line(added.place) == line and listing.files[1].text.startswith("__device__")


@needs_tools
def test_what_is_wrong_is_said_with_its_line():
    code = "__global__ void k(float *A, float *B, float *C, int N)\n{\n    C[0] = a;\n}\n"
    broken = kernel(code, entry='"k"', params=None, block="[32]", grid="[1]")
    with pytest.raises(BuildError, match=r'07_mine\.cu:9: identifier "a" is undefined') as found:
        assemble(launch(broken, Problem.cube(64)), "sm_80", "", lambda _: None)
    assert found.value.line == 9
    with pytest.raises(ConstraintError, match=r"does not know sm_20: it has .*sm_80"):
        assemble(tiled_launch(), "sm_20", "", lambda _: None)


def test_a_loop_for_the_processor_has_no_sass():
    with pytest.raises(ConstraintError, match="is not a CUDA kernel"):
        assemble(launch(find("hostmult1", ladder()), Problem.cube(8)), "", "", lambda _: None)


@needs_tools
def test_where_libcu_is_missing_a_line_installs_it(monkeypatch):
    text = source("#include <cuda/barrier>\n__global__ void k(float *A, float *B, float *C, int N) {}\n", entry='"k"')
    wanted = launch(parse(text, Path("mine.cu")), Problem.cube(16))
    monkeypatch.setattr("gemmviz.assembly.compiled.library_folder", lambda: None)
    says = r"\"(cuda|nv)/\w+\": it is part of libcu\+\+: pip install 'gemmviz\[assembly\]'$"
    with pytest.raises(Unavailable, match=says):
        assemble(wanted, "sm_80", "", lambda _: None)


@needs_tools
@pytest.mark.skipif(library_folder() is None, reason="the headers of libcu++ are not here")
def test_barriers_and_pipelines_of_libcu_are_compiled():
    code = """#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
__global__ void k(float *A, float *B, float *C, int N)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    __shared__ float part[32];
    if (threadIdx.x == 0) init(&full, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&part[threadIdx.x], A + threadIdx.x, sizeof(float), full);
    full.arrive_and_wait();
    C[threadIdx.x] = part[threadIdx.x] * B[0];
}
"""
    text = source(code, entry='"k"', params=None, block='["32"]', grid='["1"]')
    listing = assemble(launch(parse(text, Path("mine.cu")), Problem.cube(32)), "sm_80", "", lambda _: None)
    assert counted(listing.instructions)["LDGSTS"] > 0


def test_where_a_tool_is_missing_a_line_installs_it(monkeypatch):
    monkeypatch.setattr(toolkit, "_programs", lambda: iter(()))
    monkeypatch.setattr(toolkit, "_libraries", lambda: iter(()))
    with pytest.raises(Unavailable) as found:
        toolkit.toolkit()
    assert str(found.value) == "Machine code needs NVRTC and nvdisasm: pip install 'gemmviz[assembly]'"
    monkeypatch.setattr(toolkit, "_libraries", lambda: iter([Path("libnvrtc.so.13")]))
    with pytest.raises(Unavailable, match=r"^Machine code needs nvdisasm: pip install"):
        toolkit.toolkit()


def test_of_several_compilers_it_is_that_of_cupy_else_the_newest(monkeypatch):
    places = [Path(f"/x/libnvrtc.so.{version}") for version in ("12", "13", "11.2")]
    monkeypatch.setattr(toolkit, "_libraries", lambda: iter(places))
    monkeypatch.setattr(toolkit, "_programs", lambda: iter([Path("/x/nvdisasm")]))
    for cupy, version in ((None, "13"), (12, "12"), (13, "13")):
        monkeypatch.setattr(toolkit, "cupy_major", lambda cupy=cupy: cupy)
        assert toolkit.toolkit().nvrtc.name == f"libnvrtc.so.{version}"
