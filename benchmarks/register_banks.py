"""A model of the cycles that a kernel's multiply-adds take, from the banks of its registers.

    python benchmarks/register_banks.py KERNEL [--set NAME=VALUE] [--size N] [--arch sm_90]

Compiles a kernel of the ladder with NVRTC, as ``gemmviz bench`` does, disassembles the loop with the most FFMAs, and
prints its cycles; if a shorter loop is inside it, also those of that loop. It needs no GPU, only NVRTC and nvdisasm
(``gemmviz[assembly]``, or a CUDA toolkit); with ``--listing FILE``, the output of ``nvdisasm -c`` from another machine,
it needs neither.

The model: registers are in two banks, the even and the odd ones, and each bank delivers one operand per cycle. An
operand that the previous FFMA had in the same position, and marked ``.reuse``, is not read again. An FFMA takes as many
cycles as it reads operands from the bank that it reads more from, and at least one; every other instruction of the loop
takes one.

NVIDIA does not document this model. It was fitted to FP32 kernels on an H200 that differ in little but the order of
their FFMAs and the numbers of their registers: between 1.1 and 1.5 cycles it predicts the change of their GFLOPS within
a few percent. Above that it predicts too many cycles: a kernel of 1.83 cycles ran faster, so the hardware appears to
resolve some conflicts between neighbouring instructions. The second figure assumes that the hardware resolves all of
them. The model leaves out bank conflicts in shared memory, barriers and waiting for data.
"""

import argparse
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gemmviz.assembly import architecture
from gemmviz.assembly.compiled import compiled, disassembled
from gemmviz.assembly.toolkit import toolkit
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.cli import options

_LABEL = re.compile(r"\s*(\.L_\w+):")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?) ;")
_JUMP = re.compile(r"BRA\b.*`\((\.L_\w+)\)")
_FFMA = re.compile(r"\bFFMA(?:\.\w+)* R\w+, (\S+), (\S+), (\S+)$")
_OPCODE = re.compile(r"(?:@\S+ )?(\w+)")
_REGISTER = re.compile(r"(?<!\w)R(\d+)")


@dataclass(frozen=True)
class Cost:
    """The cycles of the FFMAs of a loop.

    Attributes
    ----------
    cycles
        The number of FFMAs of one, two and three cycles.
    evened
        Cycles of all FFMAs together if only the total of each bank's reads counted.
    others
        The number of each other instruction, by its name.
    """

    cycles: Counter[int]
    evened: int
    others: Counter[str]


def listing(wanted: Launch, arch: str) -> str:
    """Return a launch's machine code as nvdisasm writes it.

    Raises
    ------
    BuildError
        When NVRTC refuses it.
    Unavailable
        When NVRTC or nvdisasm is not installed.
    """
    made_for = architecture.chosen(arch, wanted.kernel.capability, "")
    tools = toolkit()
    with tempfile.TemporaryDirectory() as folder:
        return disassembled(compiled(wanted, made_for, tools, Path(folder)).cubin, tools)


def longest_loop(text: str) -> tuple[list[str], list[str]]:
    """Return the instructions of the loop with the most FFMAs, and of a loop inside it.

    Of two with as many FFMAs it is the inner one. The second list is empty if no loop inside it has any.

    Raises
    ------
    GemmvizError
        When no loop has any.
    """
    instructions: list[str] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if found := _LABEL.match(line):
            labels[found[1]] = len(instructions)
        elif found := _INSTRUCTION.search(line):
            instructions.append(found[1])
    loops: list[tuple[tuple[int, int], range]] = []
    for number, instruction in enumerate(instructions):
        jump = _JUMP.search(instruction)
        if jump and labels.get(jump[1], number + 1) <= number:
            loop = range(labels[jump[1]], number + 1)
            ffmas = sum(_FFMA.search(instructions[place]) is not None for place in loop)
            if ffmas:
                loops.append(((ffmas, -len(loop)), loop))
    if not loops:
        raise GemmvizError("no loop of this kernel has an FFMA")
    worth, best = max(loops, key=lambda one: one[0])
    inside = [one for one in loops if one[0] < worth and one[1].start >= best.start and one[1].stop <= best.stop]
    inner = max(inside, key=lambda one: one[0])[1] if inside else range(0)
    return instructions[best.start : best.stop], instructions[inner.start : inner.stop]


def cost(loop: list[str]) -> Cost:
    """Return the model's figures for a loop's instructions."""
    cycles: Counter[int] = Counter()
    others: Counter[str] = Counter()
    reads = [0, 0]
    before = ["", "", ""]
    for instruction in loop:
        ffma = _FFMA.search(instruction)
        if ffma is None:
            opcode = _OPCODE.match(instruction)
            others[opcode[1] if opcode else instruction] += 1
            before = ["", "", ""]
            continue
        now = [operand.rstrip(",") for operand in ffma.groups()]
        # One register in two places is read once.
        needed = {
            int(register[1])
            for operand, last in zip(now, before, strict=True)
            if (register := _REGISTER.search(operand))
            and not (".reuse" in last and _REGISTER.findall(last) == [register[1]])
        }
        odd = sum(register % 2 for register in needed)
        even = len(needed) - odd
        cycles[max(1, odd, even)] += 1
        reads[0] += even
        reads[1] += odd
        before = now
    return Cost(cycles, max(*reads, cycles.total()), others)


def describe(found: Cost, which: str) -> None:
    """Print the figures of a loop."""
    ffmas = found.cycles.total()
    taken = sum(cycles * count for cycles, count in found.cycles.items())
    rest = found.others.total()
    spread = ", ".join(f"{count} take {cycles}" for cycles, count in sorted(found.cycles.items()))
    print(f"  {ffmas} FFMAs in {which}: {taken / ffmas:.3f} cycles each (modelled; {spread})")
    print(f"  {found.evened / ffmas:.3f} if the hardware evened out all conflicts between neighbours")
    names = ", ".join(f"{count} {name}" for name, count in found.others.most_common())
    print(f"  {rest} other instructions: {names}")
    print(f"  {(taken + rest) / ffmas:.3f} cycles per FFMA with these")


def main() -> int:
    """Print the model's figures for a kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    options.add_launch(parser, 4096)
    parser.add_argument("--arch", default="", help="architecture (default sm_90, or what the kernel needs)")
    parser.add_argument("--listing", type=Path, metavar="FILE", help="its machine code, as nvdisasm -c writes it")
    args = parser.parse_args()
    try:
        kernel = find(args.kernel, ladder())
        if kernel.backend != "cuda":
            raise GemmvizError(f"{kernel.name} is not a CUDA kernel")
        wanted = launch(kernel, options.problem(args), options.params(args))
        text = args.listing.read_text() if args.listing else listing(wanted, args.arch)
        loops = longest_loop(text)
    except GemmvizError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{wanted.label}: {max(map(int, _REGISTER.findall(text))) + 1} registers")
    if spills := len(re.findall(r"\b(?:STL|LDL)\b", text)):
        print(f"  {spills} instructions move registers to memory and back")
    for loop, which in zip(loops, ("the loop", "a loop inside it"), strict=True):
        if loop:
            describe(cost(loop), which)
    return 0


if __name__ == "__main__":
    sys.exit(main())
