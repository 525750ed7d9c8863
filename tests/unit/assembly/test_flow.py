"""The main loop is found in any order of blocks: nested, left early, moved to the end, behind a meeting of threads."""

from dataclasses import replace

from listings import tiled_listing

from gemmviz.assembly.flow import innermost, loops
from gemmviz.assembly.listing import Instruction
from gemmviz.assembly.summary import summary


def code(text):
    """Read lines like ``L1: @P0 BRA L1``."""
    made = []
    for line in text.strip().splitlines():
        label, _, rest = line.strip().rpartition(": ")
        predicate, _, rest = _split(rest)
        opcode, _, operands = rest.partition(" ")
        where = " ".join(f".L_{name}" for name in label.split())
        for name in ("L1", "L2", "L3", "L4"):
            operands = operands.replace(name, f"`(.L_{name})")
        made.append(Instruction(16 * len(made), predicate, opcode, operands, label=where))
    return made


def _split(rest):
    predicate, space, after = rest.partition(" ")
    return (predicate, space, after) if rest.startswith("@") else ("", "", rest)


def held(text):
    """Return the index ranges of the loops, the shortest first."""
    return sorted((list(loop.instructions) for loop in loops(code(text))), key=len)


def main(text):
    found = code(text)
    loop = innermost(loops(found), [int(one.stem == "FFMA") for one in found])
    return list(loop.instructions) if loop else None


def test_a_loop_is_a_branch_back_and_all_that_leads_to_it():
    text = """
        MOV
    L1: FFMA
        @P0 BRA L1
        EXIT
    """
    assert held(text) == [[1, 2]] == [main(text)]
    assert held("MOV\n@P0 BRA L1\nFFMA\nL1: EXIT") == []


def test_the_innermost_loop_with_products_is_the_main_loop():
    text = """
    L1: MOV
    L2: FFMA
        FFMA
        @P0 BRA L2
    L3: LDS
        @P1 BRA L3
        FFMA
        @P2 BRA L1
        EXIT
    """
    assert held(text) == [[4, 5], [1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7]]
    assert main(text) == [1, 2, 3]
    # Of two loops side by side it is the one with more products: the other one does what is left.
    assert main("L1: FFMA\nFFMA\n@P0 BRA L1\nL2: FFMA\n@P1 BRA L2\nEXIT") == [0, 1, 2]
    assert main("L1: LDS\n@P0 BRA L1\nFFMA\nEXIT") is None


def test_a_part_that_stands_at_the_end_belongs_to_its_loop():
    text = """
    L1: FFMA
        @P0 BRA L2
    L3: FFMA
        @P1 BRA L1
        EXIT
    L2: NANOSLEEP
        BRA L3
    """
    assert main(text) == [0, 1, 2, 3, 5, 6]


def test_a_loop_may_be_left_and_two_branches_may_lead_back():
    text = """
    L1: FFMA
        @P0 EXIT
        @P1 BRA L1
        MOV
        BRA UP0, L1
        EXIT
    """
    assert held(text) == [[0, 1, 2, 3, 4]]


def test_threads_meet_where_the_barrier_says():
    text = """
    L1: BSSY B0, L2
        @P0 BRA L3
        FFMA
    L3: BSYNC B0
    L2: FFMA
        @P1 BRA L1
        EXIT
    """
    assert main(text) == [0, 1, 2, 3, 4, 5]
    moved = """
    L1: BSSY B0, L2
        @P0 BRA L3
        BSYNC B0
    L2: FFMA
        @P1 BRA L1
        EXIT
    L3: LDS
        BSYNC B0
    """
    assert main(moved) == [0, 1, 2, 3, 4, 6, 7]


def test_products_and_sums_apart_are_products_where_nothing_does_both():
    listing = tiled_listing()
    apart = []
    for instruction in listing.instructions:
        fused = instruction.stem == "FFMA"
        apart += [replace(instruction, opcode="FMUL.FTZ")] * fused + [replace(instruction, opcode="FADD.FTZ")] * fused
        apart += [] if fused else [instruction]
    loop = summary(replace(listing, instructions=apart)).loop
    fused = summary(listing).loop
    assert (loop.unit, loop.products, loop.counts["FADD"]) == ("FMUL", fused.products, fused.counts["FFMA"])
    # Beside instructions that do both, a multiplication scales something.
    scaled = [*listing.instructions, replace(listing.instructions[0], opcode="FMUL")]
    whole = summary(replace(listing, instructions=scaled)).whole
    assert whole.products == summary(listing).whole.products and whole.counts["FMUL"] == 1


def test_the_main_loop_of_tiles_multiplies_one_tile_and_reads_it_from_shared_memory():
    listing = tiled_listing()
    found = summary(listing)
    loop = found.loop
    assert loop.unit == "FFMA" and loop.products == 32 * loop.counts["FFMA"]
    assert loop.counts["FFMA"] % 8 == 0 and found.whole.counts["FFMA"] >= loop.counts["FFMA"]
    # As many bytes as the values that it multiplies: 8 of each matrix for 8 products.
    assert loop.shared_bytes == 8 * loop.counts["FFMA"]
    assert loop.counts["BAR"] == 2 * loop.counts["FFMA"] // 8
    assert loop.ratio("LDS") == loop.counts["LDS"] / loop.counts["FFMA"]
