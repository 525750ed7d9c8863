"""What NVRTC and nvdisasm write is read completely: instructions, lines, inlined calls, PTX, registers."""

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from listings import ENTRY, KNOWN, kept, tiled_launch, tiled_listing

from gemmviz import data
from gemmviz.assembly import ptx, sass
from gemmviz.assembly.assemble import listed
from gemmviz.assembly.compiled import Compiled
from gemmviz.assembly.counts import by_line, counted
from gemmviz.assembly.listing import NO_PLACE, Frame, Instruction, Listing, SourceFile, Usage
from gemmviz.assembly.usage import usage

# Of a kernel for Hopper that calls a function of a header, from nvdisasm 13.5.
INLINED = """
	.section	.text.other,"ax",@progbits
        /*0000*/                   EXIT ;
	.section	.text.mine,"ax",@progbits
.text.mine:
	//## File "/build/my.cu", line 81
	//## File ".nv_debug_ptx_txt", line 83
        /*0000*/                   USHF.L.U32 UR14, UR4, 0x7, URZ ;
.L_x_7:
.L_x_4:
	//## File "/inc/gemmviz/ptx.h", line 17 inlined at "/inc/gemmviz/ptx.h", line 197
	//## File "/inc/gemmviz/ptx.h", line 197 inlined at "/build/my.cu", line 111
	//## File "/build/my.cu", line 111
	//## File ".nv_debug_ptx_txt", line 167
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ], R2 ;
	//## File ".nv_debug_ptx_txt", line 175
        /*0020*/              @!P0 BRA `(.L_x_4) ;
"""


def test_each_instruction_of_the_kernel_is_read_and_none_of_another_one():
    text = kept("sass")
    own = text[text.index(f".section	.text.{ENTRY}") : text.index(".section	.text.gv_describe")]
    by_hand = Counter(re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?\w+ )?\s*([A-Z0-9]+)", own))
    listing = tiled_listing()
    found = Counter(one.stem for one in listing.instructions)
    assert found == by_hand - Counter({"NOP": by_hand["NOP"]}), "the code ends with NOPs that fill a line"
    assert found["FFMA"] and found["LDS"] and found["BAR"]
    addresses = [one.address for one in listing.instructions]
    assert addresses == list(range(0, 16 * len(addresses), 16))


def test_a_place_holds_until_the_next_and_inlined_calls_are_a_stack():
    first, second, third = sass.rows(INLINED, "mine")
    assert (first.place, first.ptx, first.label) == ((("/build/my.cu", 81),), 83, "")
    stack = (("/inc/gemmviz/ptx.h", 17), ("/inc/gemmviz/ptx.h", 197), ("/build/my.cu", 111))
    assert (second.place, second.ptx, second.label) == (stack, 167, ".L_x_7 .L_x_4")
    assert (third.place, third.ptx) == (stack, 175)
    assert (third.predicate, third.opcode, third.operands) == ("@!P0", "BRA", "`(.L_x_4)")
    assert second.opcode == "SYNCS.PHASECHK.TRANS64.TRYWAIT" and second.operands == "P0, [R3+URZ], R2"


def test_lines_are_those_of_the_source():
    listing = tiled_listing()
    source = listing.files[0].text.splitlines()
    multiplies = {listing.line(one.place) for one in listing.instructions if one.stem == "FFMA"}
    assert {source[line - 1].strip() for line in multiplies} == {"sum += As[ty][k] * Bs[k][tx];"}
    barriers = {listing.line(one.place) for one in listing.instructions if one.stem == "BAR"}
    assert {source[line - 1].strip() for line in barriers} == {"__syncthreads();"} and len(barriers) == 2
    lines = by_line(listing)
    assert sum(lines.values(), Counter()) == counted(listing.instructions)
    assert listing.where(listing.instructions[0].place).startswith("30_gputiled.cu:")


def test_sass_and_ptx_name_each_other():
    listing = tiled_listing()
    for name, message in (("FFMA", "fma.rn"), ("LDG", "ld.global"), ("STS", "st.shared"), ("BAR", "bar.sync")):
        beside = {listing.ptx[one.ptx].text.split()[0] for one in listing.instructions if one.stem == name}
        assert beside and all(text.startswith(message) for text in beside), (name, beside)
    # Both say the same line of the source.
    for one in listing.instructions:
        if one.stem in ("FFMA", "BAR"):
            assert listing.line(one.place) == listing.line(listing.ptx[one.ptx].place)


def test_ptx_is_that_of_the_kernel_with_the_calls_that_were_inlined():
    text = """
.visible .entry other(
)
{
	.loc	1 9 1
	ret;
}
.visible .entry mine(
	.param .u64 a
)
{
	.loc	1 30 5
	mov.u32 	%r1, 1;
	.loc	2 7 3, function_name $L__info_string0, inlined_at 1 30 5
	{
	add.u32 	%r1, %r1, 1;
	}
	.loc	2 1 1, function_name $L__info_string1, inlined_at 2 7 3

	ret;
}
.visible .entry third(
	.file	1 "/build/my.cu"
	.file	2 "/build/tile.cuh"
"""
    found = list(ptx.lines(text, "mine"))
    assert [line.text.strip() for line in found][:4] == [".visible .entry mine(", ".param .u64 a", ")", "{"]
    assert found[-1].text == "}" and not any("third" in line.text or ".loc" in line.text for line in found)
    place = {line.text.split()[0]: line.place for line in found}
    assert place["mov.u32"] == (("/build/my.cu", 30),)
    assert place["add.u32"] == (("/build/tile.cuh", 7), ("/build/my.cu", 30))
    assert place["ret;"] == (("/build/tile.cuh", 1), ("/build/tile.cuh", 7), ("/build/my.cu", 30))
    assert text.splitlines()[found[0].number - 1] == found[0].text


def test_registers_and_spills_are_those_of_the_kernel():
    assert usage(kept("log"), ENTRY, 0) == Usage(registers=32, shared_bytes=512, barriers=1)
    log = """ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas         .     40 bytes stack frame, 36 bytes spill stores, 48 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 40 bytes cumulative stack size, 1024 bytes smem, 388 bytes cmem[0]
"""
    assert usage(log, "b", 4096) == Usage(255, 5120, 40, 36, 48, 2)
    assert usage(log, "c", 0) == Usage()


def test_a_listing_goes_through_the_pipe_and_no_index_points_to_nothing():
    listing = tiled_listing()
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(listing), type=Listing) == listing
    parts = {"label": "", "entry": "", "architecture": "", "compiler": "", "integer": False, "threads": 1}
    for wrong in (
        {"instructions": [Instruction(0, "", "NOP", "", place=0)]},
        {"instructions": [Instruction(0, "", "NOP", "", ptx=0)]},
        {"places": [[Frame(1, 1)]]},
    ):
        with pytest.raises(ValueError, match="is out of range"):
            Listing(**parts, usage=Usage(), files=[SourceFile("my.cu")], **wrong)
        plain = parts | {"usage": {}, "files": [{"name": "my.cu"}]} | msgspec.to_builtins(wrong)
        with pytest.raises(msgspec.ValidationError, match="is out of range"):
            msgspec.msgpack.decode(msgspec.msgpack.encode(plain), type=Listing)
    assert Instruction(0, "", "NOP", "").place == NO_PLACE


def test_what_comes_from_headers_is_named_by_its_file(tmp_path):
    made_of = tiled_launch()
    beside, ours = made_of.kernel.path.parent / "50_matmul_tc.cu", data.root("kernels") / "include"
    text = INLINED.replace("/inc/gemmviz/ptx.h", str(ours.resolve() / "gemmviz" / "ptx.h"))
    text = text.replace("/build/my.cu", str(beside), 1).replace("/build/my.cu", "/build/30_gputiled.cu")
    made = Compiled(tmp_path / "x", "", "", "mine", "13.5", KNOWN)
    listing = listed(made_of, "sm_90", made, text, Path("/build"))
    assert [file.name for file in listing.files] == ["30_gputiled.cu", "50_matmul_tc.cu", "gemmviz/ptx.h"]
    assert all(file.text for file in listing.files)
    assert listing.where(listing.instructions[1].place) == "gemmviz/ptx.h:17, gemmviz/ptx.h:197, 30_gputiled.cu:111"
    # The line of the kernel's own file is that of the call.
    assert listing.line(listing.instructions[1].place) == 111
    assert listing.line(listing.instructions[0].place) == 0
    assert listing.architectures == ["sm_75", "sm_80", "sm_90", "sm_90a"]
