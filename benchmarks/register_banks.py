"""The cycles of a kernel's multiply-adds, given the banks of its registers: a model.

    python benchmarks/register_banks.py KERNEL [--set NAME=VALUE] [--size N] [--arch sm_90]

Compiles a kernel of the ladder with NVRTC, as ``gemmviz bench`` does, takes the loop with the most FFMAs apart, and
prints what it costs. No GPU is needed, only NVRTC (CuPy's wheels or a CUDA toolkit) and nvdisasm (a toolkit); with
``--listing FILE``, what ``nvdisasm -c`` wrote elsewhere, neither.

The model: registers stand in two banks, the even and the odd ones, and each gives one operand per cycle. An operand
that the FFMA right before had in the same place, and marked ``.reuse``, is not read again. An FFMA takes as many cycles
as it has to read from the fuller bank, at least one; every other instruction of the loop takes one.

It is a model, and not what NVIDIA says. It comes from FP32 kernels on an H200 that differed in little but the order of
their FFMAs and the numbers of their registers: where it said between 1.1 and 1.5 cycles, it told the change of their
GFLOPS within a few percent. Beyond that it says too much: a kernel of 1.83 cycles ran faster than that, so the hardware
seems to even out some conflicts between neighbours. The second figure is what was left if it evened out all of them.
Bank conflicts in shared memory, barriers and waiting for data are no part of it.
"""

import argparse
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gemmviz.backends.nvrtc import compile_launch, first_line
from gemmviz.catalogue.errors import BuildError, GemmvizError, Unavailable
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


def asked_of_nvrtc(wanted: Launch) -> tuple[str, tuple[str, ...]]:
    """Return the code and the flags that the CUDA backend would hand to CuPy."""
    heard: dict[str, Any] = {}

    class Heard(Exception):
        pass

    class Listener:
        @staticmethod
        def RawModule(**given: Any) -> None:
            heard.update(given)
            raise Heard

    with suppress(Heard):
        compile_launch(Listener, wanted)
    # CuPy adds this one by itself.
    return heard["code"], (*heard["options"], "-ftz=true")


def folders(*names: str) -> Iterator[Path]:
    """Yield the folders of these names in NVIDIA's wheels and in CUDA toolkits."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for name in names:
            yield from sorted(Path(place).glob(f"*/{name}"))
    homes = [os.environ[variable] for variable in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(variable)]
    for home in (*homes, "/usr/local/cuda"):
        for name in names:
            yield Path(home) / name


def nvrtc() -> ctypes.CDLL:
    """Return NVRTC.

    Raises
    ------
    Unavailable
        When it is not installed.
    """
    for folder in folders("lib", "lib64"):
        for library in sorted(folder.glob("libnvrtc.so.*"), key=lambda path: len(path.name)):
            # NVRTC looks for this one by its name alone, and finds it once it is loaded.
            for builtins in folder.glob("libnvrtc-builtins.so.*"):
                with suppress(OSError):
                    ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(library))
    raise Unavailable("there is no libnvrtc: it comes with gemmviz[cuda13], or a CUDA toolkit")


def compiled(wanted: Launch, arch: str) -> bytes:
    """Return a launch's machine code (an ELF file), for `arch` where the kernel asks for nothing more exact.

    Raises
    ------
    BuildError
        When NVRTC refuses it.
    """
    code, flags = asked_of_nvrtc(wanted)
    if not any(flag.startswith("--gpu-architecture") for flag in flags):
        flags += (f"--gpu-architecture={arch}",)
    library = nvrtc()
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernel.cu", 0, None, None)
    try:
        library.nvrtcAddNameExpression(program, wanted.entry.encode())
        as_c = (ctypes.c_char_p * len(flags))(*map(str.encode, flags))
        failed = library.nvrtcCompileProgram(program, len(flags), as_c)
        what = "ProgramLog" if failed else "CUBIN"
        size = ctypes.c_size_t()
        getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        answer = ctypes.create_string_buffer(size.value)
        getattr(library, f"nvrtcGet{what}")(program, answer)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise BuildError(f"{wanted.label}: NVRTC refuses it: {first_line(answer.value.decode())}")
    return answer.raw


def listing(machine_code: bytes) -> str:
    """Return the machine code as nvdisasm writes it.

    Raises
    ------
    Unavailable
        When nvdisasm is not installed.
    """
    places = (None, *map(str, folders("bin")))
    tool = next((found for place in places if (found := shutil.which("nvdisasm", path=place))), None)
    if tool is None:
        raise Unavailable("nvdisasm is not on the PATH, nor in CUDA_HOME/bin: it comes with the CUDA toolkit")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(machine_code)
        return subprocess.run([tool, "-c", str(file)], check=True, capture_output=True, text=True).stdout


def longest_loop(text: str) -> list[str]:
    """Return the instructions of the loop with the most FFMAs; of two with as many, the inner one.

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
    best: list[str] = []
    most = 0, 0
    for number, instruction in enumerate(instructions):
        jump = _JUMP.search(instruction)
        if jump and labels.get(jump[1], number + 1) <= number:
            loop = instructions[labels[jump[1]] : number + 1]
            worth = sum(_FFMA.search(one) is not None for one in loop), -len(loop)
            if worth > most:
                best, most = loop, worth
    if not best:
        raise GemmvizError("no loop of this kernel has an FFMA")
    return best


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


def main() -> int:
    """Print the model's figures for a kernel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", metavar="KERNEL", help=options.KERNEL_HELP)
    options.add_launch(parser, 4096)
    parser.add_argument("--arch", default="sm_90", help="where the kernel names none itself (default sm_90)")
    parser.add_argument("--listing", type=Path, metavar="FILE", help="its machine code, as nvdisasm -c writes it")
    args = parser.parse_args()
    try:
        kernel = find(args.kernel, ladder())
        if kernel.backend != "cuda":
            raise GemmvizError(f"{kernel.name} is no CUDA kernel")
        wanted = launch(kernel, options.problem(args), options.params(args))
        text = args.listing.read_text() if args.listing else listing(compiled(wanted, args.arch))
        found = cost(longest_loop(text))
    except GemmvizError as error:
        print(error, file=sys.stderr)
        return 1
    ffmas = found.cycles.total()
    taken = sum(cycles * count for cycles, count in found.cycles.items())
    rest = found.others.total()
    print(f"{wanted.label}: {max(map(int, _REGISTER.findall(text))) + 1} registers")
    if spills := len(re.findall(r"\b(?:STL|LDL)\b", text)):
        print(f"  {spills} instructions move registers to memory and back")
    spread = ", ".join(f"{count} take {cycles}" for cycles, count in sorted(found.cycles.items()))
    print(f"  {ffmas} FFMAs in the loop: {taken / ffmas:.3f} cycles each (modelled; {spread})")
    print(f"  {found.evened / ffmas:.3f} if the hardware evened out all conflicts between neighbours")
    names = ", ".join(f"{count} {name}" for name, count in found.others.most_common())
    print(f"  {rest} other instructions: {names}")
    print(f"  {(taken + rest) / ffmas:.3f} cycles per FFMA with these")
    return 0


if __name__ == "__main__":
    sys.exit(main())
