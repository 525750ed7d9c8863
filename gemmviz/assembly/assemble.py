"""Compiles and disassembles a launch: from its source to a `Listing`."""

from collections.abc import Callable, Iterable
from pathlib import Path

from gemmviz import data
from gemmviz.assembly import architecture, ptx, sass
from gemmviz.assembly.compiled import Compiled, compiled, disassembled
from gemmviz.assembly.listing import (
    MOST_DEPTH,
    MOST_FILES,
    MOST_INSTRUCTIONS,
    MOST_LABEL,
    MOST_OPERANDS,
    MOST_PTX,
    MOST_PTX_LINE,
    NO_PLACE,
    Frame,
    Instruction,
    Listing,
    PtxLine,
    SourceFile,
)
from gemmviz.assembly.toolkit import toolkit
from gemmviz.assembly.usage import usage
from gemmviz.backends.toolchain import build_folder, source_folder
from gemmviz.catalogue.dtypes import is_float
from gemmviz.catalogue.errors import BuildError, ConstraintError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import Launch
from gemmviz.language import tr
from gemmviz.language.numbers import thousands

_MOST_SOURCE = 1 << 20  # characters of an included file that are shown


def assemble(launch: Launch, wanted: str, device: str, progress: Callable[[str], None]) -> Listing:
    """Return the machine code of a launch.

    Parameters
    ----------
    launch
        The launch of a CUDA kernel.
    wanted
        The architecture; empty: the GPU's, else one that suits the kernel.
    device
        The compute capability of this machine's GPU; empty without one.
    progress
        Takes a text about the current work.

    Raises
    ------
    BuildError
        When the source is refused; ``line`` is the line of the kernel's file.
    ConstraintError
        When the kernel is not a CUDA kernel, or does not suit the architecture.
    Unavailable
        When NVRTC or nvdisasm is missing.
    """
    kernel = launch.kernel
    if kernel.backend != "cuda":
        raise ConstraintError(tr("{kernel} is not a CUDA kernel: it has no SASS", kernel=kernel.name))
    made_for = architecture.chosen(wanted, kernel.capability, device)
    tools = toolkit()
    with build_folder() as name:
        folder = Path(name).resolve()
        progress(tr("Compiling {kernel} for {arch}", kernel=kernel.name, arch=made_for))
        made = compiled(launch, made_for, tools, folder)
        progress(tr("Disassembling {kernel}", kernel=kernel.name))
        return listed(launch, made_for, made, disassembled(made.cubin, tools), folder)


def listed(launch: Launch, made_for: str, made: Compiled, text: str, folder: Path) -> Listing:
    """Combine the outputs of the compiler and of the disassembler.

    Parameters
    ----------
    launch
        The launch.
    made_for
        The architecture.
    made
        NVRTC's output.
    text
        nvdisasm's output.
    folder
        The folder in which NVRTC ran: file names without a folder are in it.

    Raises
    ------
    BuildError
        When they do not contain the machine code.
    ConstraintError
        When it is too long.
    """
    found = list(sass.rows(text, made.entry))
    while found and found[-1].opcode == "NOP":  # fills the last line of the instruction cache
        found.pop()
    if not found:
        raise BuildError(tr("nvdisasm lists no instruction of {entry}", entry=made.entry[:200]))
    lines = list(ptx.lines(made.ptx, made.entry))
    if len(found) > MOST_INSTRUCTIONS or len(lines) > MOST_PTX:
        text = tr("the machine code is too long to show: {count} instructions", count=thousands(len(found)))
        raise ConstraintError(text)
    places = _Places(launch.kernel, folder)
    numbers = {line.number: index for index, line in enumerate(lines)}
    instructions = [
        Instruction(
            *(row.address, row.predicate, row.opcode, row.operands[:MOST_OPERANDS]),
            *(places.index(row.place), numbers.get(row.ptx, NO_PLACE), row.label),
        )
        for row in found
    ]
    shown = [PtxLine(line.text[:MOST_PTX_LINE], places.index(line.place)) for line in lines]
    return Listing(
        label=launch.label[:MOST_LABEL],
        entry=made.entry,
        architecture=made_for,
        compiler=f"NVRTC {made.version}",
        integer=not is_float(launch.kernel.accumulate),
        threads=launch.threads,
        usage=usage(made.log, made.entry, launch.shared_bytes),
        files=places.files,
        places=places.found,
        instructions=instructions,
        ptx=shown,
        architectures=architecture.offered(made.architectures),
    )


class _Places:
    """Numbers the places, and gives each file a name for people."""

    def __init__(self, kernel: Kernel, folder: Path) -> None:
        self.files = [SourceFile(kernel.path.name, kernel.text)]
        self.found: list[list[Frame]] = []
        self._numbers: dict[sass.Raw, int] = {(): NO_PLACE}
        self._files = {str(folder / kernel.path.name): 0, kernel.path.name: 0}
        ours = (data.root("kernels") / "include").resolve()
        self._scratch = folder
        self._folders = (source_folder(kernel.path), source_folder(kernel.path).resolve(), ours)

    def index(self, raw: sass.Raw) -> int:
        """Return the number of a place; if it has more inlined calls than allowed, only the innermost are used."""
        raw = raw[:MOST_DEPTH]
        if raw not in self._numbers:
            self._numbers[raw] = len(self.found)
            self.found.append([Frame(self._file(name), line) for name, line in raw])
        return self._numbers[raw]

    def _file(self, name: str) -> int:
        if name not in self._files:
            if len(self.files) == MOST_FILES:
                raise ConstraintError(tr("the machine code comes from more than {count} files", count=MOST_FILES))
            self._files[name] = len(self.files)
            path = Path(name)  # NVRTC may put the folder in which it runs in front of a relative name
            path = path.relative_to(self._scratch) if path.is_relative_to(self._scratch) else path
            self.files.append(_named(path, self._folders))
        return self._files[name]


def _named(path: Path, folders: Iterable[Path]) -> SourceFile:
    """Return a file of the kernel's folder or of gemmviz's headers with its text, any other file by its name only.

    A name without a folder is that of a `#line` directive: it counts from the kernel's folder.
    """
    for folder in folders:
        file = folder / path  # an absolute path stays as it is
        if file.is_relative_to(folder) and file.resolve().is_relative_to(folder.resolve()) and file.is_file():
            try:
                text = file.read_text(encoding="utf-8", errors="replace")[:_MOST_SOURCE]
            except OSError:
                text = ""
            return SourceFile(str(file.relative_to(folder)), text)
    return SourceFile(path.name)
