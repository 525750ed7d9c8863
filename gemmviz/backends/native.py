"""C kernels: compiled for this CPU into a shared library, and called from there."""

import ctypes
import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz import data
from gemmviz.backends import entry
from gemmviz.backends.base import Build, DeviceFault, Prepared
from gemmviz.backends.compiler import Compiler, compiler
from gemmviz.backends.device_source import source_of_host
from gemmviz.backends.host import HostBackend, HostPrepared
from gemmviz.backends.library import load
from gemmviz.backends.toolchain import (
    build_folder,
    compile_object,
    compile_shared,
    included,
    line_directive,
    source_folder,
)
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.problem import Matrix
from gemmviz.sandbox import confined, kept

_GUARD = Path(__file__).with_name("stack_guard.c")
# No -ffast-math: the order of a sum, as defined by C, is a part of the lesson.
OPTIMISATION = ("-O3", "-march=native", "-std=gnu11")


class NativeBackend(HostBackend):
    """C kernels on the CPU."""

    name = "c"

    def prepare(self, launch: Launch) -> Prepared:
        """Compile the kernel, or take the library that was compiled before."""
        library, build = compile_kernel(launch)
        if confined.active():
            return _Apart(launch, build, library)
        return _NativePrepared(launch, build, library)


class _Apart(Prepared):
    """A kernel with its matrices in a separate process, which it may crash. The timing is done in that process."""

    def __init__(self, launch: Launch, build: Build, library: Path) -> None:
        self.build = build
        self._label = f"{launch.label} at {launch.problem}"
        try:
            self._session = confined.Session(_answering, (launch, build, library), library, ())
        except confined.Died as error:
            raise self._fault(error) from None

    def load(self, a: Matrix, b: Matrix) -> None:
        """Copy A and B to that process, in the kernel's layout."""
        self._ask("load", a, b)

    def poison(self) -> None:
        """Fill C and its guard zones."""
        self._ask("poison")

    def set_scalars(self, alpha: float, beta: float) -> None:
        """Set alpha and beta for the next launches."""
        self._ask("set_scalars", alpha, beta)

    def fill(self, c: Matrix | None, bias: Matrix | None) -> None:
        """Copy C and a bias to the kernel's memory."""
        self._ask("fill", c, bias)

    def run(self) -> None:
        """Launch once."""
        self._ask("run")

    def sample(self, launches: int, cold: bool) -> float:
        """Time some launches with the monotonic clock; `cold` changes nothing here."""
        return float(self._ask("sample", launches, cold))

    def fetch(self) -> Matrix:
        """Return a copy of C."""
        return np.asarray(self._ask("fetch"))

    def intact(self) -> bool:
        """Whether nothing was written around C."""
        return bool(self._ask("intact"))

    def close(self) -> None:
        """End the process."""
        self._session.close()

    def _ask(self, name: str, *arguments: object) -> Any:
        try:
            return self._session.ask(name, *arguments)
        except confined.Died as error:
            raise self._fault(error) from None

    def _fault(self, error: confined.Died) -> DeviceFault:
        return DeviceFault(f"{self._label}: {error}")


def _answering(launch: Launch, build: Build, library: Path) -> Callable[..., object]:
    prepared = _NativePrepared(launch, build, library)
    prepared.guard_stack()
    asked = ("load", "poison", "set_scalars", "fill", "run", "sample", "fetch", "intact")
    questions = {name: getattr(prepared, name) for name in asked}
    return lambda name, *arguments: questions[name](*arguments)


class _NativePrepared(HostPrepared):
    def __init__(self, launch: Launch, build: Build, library: Path) -> None:
        super().__init__(launch, build)
        code = load(library, launch)
        self._guard, self._entry = code.gemmviz_guard_stack, code.gv_call
        self._entry.argtypes = [ctypes.c_void_p, ctypes.c_longlong]
        self._entry.restype = None
        addresses = {"A": self.a.ctypes.data, "B": self.b.ctypes.data, "C": self.c.read.ctypes.data, D: self.c.address}
        addresses[BIAS] = self.c.bias.ctypes.data
        names = launch.kernel.args
        self._cells = {
            name: np.array(launch.scalar(name), np.float64 if name in ("alpha", "beta") else np.int64)
            for name in names
            if name not in (*MATRICES, D, BIAS)
        }
        addresses |= {name: cell.ctypes.data for name, cell in self._cells.items()}
        self._arguments = (ctypes.c_void_p * len(names))(*(addresses[name] for name in names))

    def guard_stack(self) -> None:
        """End this process by a special signal if the kernel overflows the stack: see `stack_guard.c`.

        Only for a separate process, which does not use the signals of a crash otherwise.
        """
        self._guard()

    def bind(self) -> None:
        """Pass the scalars."""
        for name, cell in self._cells.items():
            cell[...] = self.launch.scalar(name)

    def call(self, launches: int) -> None:
        """Run the kernel; ctypes lets other threads of Python run at the same time."""
        each = 1 if self.launch.kernel.zeroed else launches
        for _ in range(launches // each):
            if self.launch.kernel.zeroed:
                self.c.clear()
            self._entry(ctypes.addressof(self._arguments), each)


def compile_kernel(launch: Launch) -> tuple[Path, Build]:
    """Return the shared library of a C kernel.

    Libraries are kept in the user's cache folder under the SHA-256 of everything that determines their content.

    Returns
    -------
    tuple
        The library, and the facts about its build.

    Raises
    ------
    BuildError
        When the compiler refuses the source; ``line`` is the line of the kernel's file.
    Unavailable
        When there is no compiler.
    """
    tool = compiler()
    flags = compile_flags(tool, launch)
    wrapper = _wrapper(launch)
    copies, own = str(source_folder(launch.kernel.path)), str(launch.kernel.path.parent)
    folders = (Path(copies), _our_headers())
    headers = [text for folder in folders for text in included(launch.kernel.text, folder)]
    # The folder of their copies differs between processes, but does not change the result.
    reported = tuple(flag.replace(copies, own) for flag in flags)
    # Without own headers a copy of the file in another folder has the same code.
    shown = own if entry.folder_of_headers(wrapper, launch) else entry.ANY_FOLDER
    neutral = (flag.replace(copies, shown) for flag in flags)
    parts = [wrapper, _GUARD.read_text(encoding="utf-8"), *headers, *neutral, *tool.command, tool.key]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    folder, note = data.cache_folder("native")
    notes = (note,) if note else ()
    if known := kept.find(folder, key):
        return known, Build(None, reported, notes=notes)
    started = time.perf_counter()
    with build_folder() as name:
        source, compiled, library = (Path(name) / f"kernel.{kind}" for kind in ("c", "o", "so"))
        source.write_text(wrapper, encoding="utf-8")
        try:
            compile_object(source, compiled, [*flags, "-w"], launch.kernel.path)
            plain = [*OPTIMISATION, *_plain(tool)]
            compile_shared([compiled, _guard(tool, plain, folder)], library, [*plain, "-lm"], launch.kernel.path)
        except BuildError as error:
            raise entry.explain(error, launch) from None
        made = kept.keep(library, folder, key)
    return made, Build((time.perf_counter() - started) * 1e3, reported, notes=notes)


def compile_flags(tool: Compiler, launch: Launch) -> tuple[str, ...]:
    """Return the flags that determine a kernel's machine code."""
    return (*OPTIMISATION, *_plain(tool), *entry.flags(launch), f"-I{_our_headers()}")


def _plain(tool: Compiler) -> tuple[str, ...]:
    # Otherwise `zig cc` inserts checks for undefined behaviour.
    return ("-fno-sanitize=undefined",) if tool.kind == "clang" else ()


def _guard(tool: Compiler, flags: Sequence[str], folder: Path) -> Path:
    """Return the compiled guard of the stack, which all kernels have in common, from the cache folder."""
    parts = [_GUARD.read_text(encoding="utf-8"), *flags, *tool.command, tool.key]
    key = "guard-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()
    if known := kept.find(folder, key):
        return known
    with build_folder() as name:
        made = Path(name) / "guard.o"
        compile_object(_GUARD, made, [*flags, "-w"], _GUARD)
        return kept.keep(made, folder, key)


def _our_headers() -> Path:
    return data.root("kernels") / "include"


def _wrapper(launch: Launch) -> str:
    """Return C that includes the kernel's file and calls its entry, so that C itself converts the scalars."""
    return "\n".join(
        (
            line_directive(launch.kernel.path),
            source_of_host(launch),
            '#line 1 "gemmviz_arguments"',
            "static void gv_once(void **a)",
            f"{{ {entry.call(launch)} }}",
            # Through a volatile pointer: otherwise the compiler may remove all launches except the last.
            "static void (*volatile gv_pointer)(void **) = gv_once;",
            "void gv_call(void **a, long long n)",
            "{ for (long long i = 0; i < n; i++) gv_pointer(a); }",
            "",
        )
    )
