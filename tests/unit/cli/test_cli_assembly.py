"""``gemmviz assembly`` as typed."""

import json
from pathlib import Path

import pytest
from listings import HAS_TOOLS, needs_tools

from gemmviz import cli
from gemmviz.catalogue.includes import VARIABLE


@needs_tools
def test_counts_and_the_listing_are_printed(capsys):
    assert cli.run(["assembly", "gputiled", "--set", "TS=8", "--arch", "sm_80"]) == 0
    output = capsys.readouterr().out
    assert "gputiled<8> for sm_80, compiled by NVRTC" in output
    assert (
        "registers per thread, 512 bytes of shared memory per block" in output and "spilled registers: none" in output
    )
    assert "per FFMA" in output and "products per warp and iteration" in output
    assert "// 30_gputiled.cu:33\n" in output and "BAR.SYNC" in output and "bar.sync" not in output
    assert cli.run(["assembly", "gputiled", "--set", "TS=8", "--arch", "sm_80", "--ptx"]) == 0
    output = capsys.readouterr().out
    assert "bar.sync" in output and "BAR.SYNC" not in output
    assert cli.run(["assembly", "gputiled", "--counts"]) == 0
    output = capsys.readouterr().out
    assert "per FFMA" in output and "BAR.SYNC" not in output


@needs_tools
def test_all_of_it_comes_as_json(capsys):
    assert cli.run(["assembly", "warp_specialised", "--json", "-"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["schema_version"], output["provenance"], output["architecture"]) == (1, "compiled", "sm_90a")
    assert output["loop"]["unit"] == "HGMMA" and output["loop"]["products_per_warp"] == 128 * 128 * 64 // 4
    assert sum(sum(counts.values()) for counts in output["lines"].values()) == len(output["instructions"])
    assert output["files"][0] == "62_warp_specialised.cu" and output["usage"]["registers"] > 0
    loop = [output["instructions"][at]["opcode"] for at in output["loop"]["instructions"]]
    assert sum(name.startswith("HGMMA") for name in loop) == output["loop"]["counts"]["HGMMA"]


@needs_tools
def test_a_text_that_does_not_compile_is_named_with_its_line(tmp_path, capsys):
    file = tmp_path / "wrong.cu"
    file.write_text(
        '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// block = [1]\n// grid = [1]\n// ---\n'
        "__global__ void k(const float *A, const float *B, float *C)\n{\n    C[0] = a;\n}\n"
    )
    assert cli.run(["assembly", str(file)]) == 1
    assert 'wrong.cu:9: identifier "a" is undefined' in capsys.readouterr().err


@needs_tools
def test_a_header_in_another_folder_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "here").mkdir()
    (tmp_path / "far/deep").mkdir(parents=True)
    (tmp_path / "far/deep/real.h").write_text("#include <vector>\ntypedef float real;\nstd::vector<real> host();\n")
    file = tmp_path / "here/mine.cu"
    file.write_text(
        '// ---gemmviz\n// entry = "k"\n// args = ["A", "B", "C"]\n// block = [1]\n// grid = [1]\n// ---\n'
        "#include <deep/real.h>\n__global__ void k(const real *A, const real *B, real *C)\n{\n    C[0] = A[0];\n}\n"
    )
    assert cli.run(["assembly", str(file), "--counts"]) == 1
    assert 'identifier "real" is undefined' in capsys.readouterr().err
    assert cli.run(["assembly", str(file), "--counts", "-I", str(tmp_path / "far")]) == 0
    assert "1 LDG" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hostmult1"], "hostmult1 is not a CUDA kernel"),
        (["cublas"], "cublas is not a CUDA kernel"),
        (["gputiled", "--arch", "volta"], "'volta' is not an architecture: write sm_80 or sm_90a"),
        (["warp_specialised", "--arch", "sm_80"], "this kernel needs exactly compute capability 9.0, not sm_80"),
        (["matmul_tc", "--size", "20"], "nearest size that works is"),
    ],
)
def test_what_cannot_be_compiled_is_a_usage_error(arguments, says, capsys):
    assert cli.run(["assembly", *arguments]) in (1, 2)
    assert says in capsys.readouterr().err


@pytest.mark.skipif(HAS_TOOLS, reason="NVRTC and nvdisasm are here")
def test_where_a_tool_is_missing_a_line_installs_it(capsys):
    assert cli.run(["assembly", "gputiled"]) == 2
    assert "pip install 'gemmviz[assembly]'" in capsys.readouterr().err
