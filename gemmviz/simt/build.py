"""Builds a kernel for recording: compiles its unmodified source with instrumentation, and links the runtime to it."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from gemmviz import data
from gemmviz.backends import entry
from gemmviz.backends.compiler import Compiler, compiler
from gemmviz.backends.device_source import source_of_device, source_of_host
from gemmviz.backends.toolchain import (
    build_folder,
    compile_object,
    compile_shared,
    included,
    line_directive,
    source_folder,
)
from gemmviz.catalogue.cxx_standard import cxx_standard
from gemmviz.catalogue.errors import BuildError
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.plain_code import plain_code
from gemmviz.sandbox import confined, kept
from gemmviz.simt import dynamic_shared, local_bounds, precompiled
from gemmviz.simt.inline_ptx import passes
from gemmviz.simt.inline_ptx.rewriting import has_asm
from gemmviz.simt.loop_pragmas import without_idle_pragmas

_HERE = Path(__file__).parent
# As compiled, the compiler merges loads like a GPU compiler: it does not load a value in a register again, and it moves
# a load that is constant in a loop before the loop. As written, it merges nothing: it keeps every access of the source.
_LEVEL = {False: "-O1", True: "-O0"}
# In both views no loop is unrolled or vectorised, and no multiplication is fused with an addition.
# A frame larger than a page must touch the guard page below its fibre's stack, and not skip it.
# An uninitialised local variable must not be right by chance: it starts as NaN, or as an improbable number.
_COMMON = [
    *("-g", "-ffp-contract=off", "-fno-omit-frame-pointer", "-fstack-clash-protection", "-w"),
    "-ftrivial-auto-var-init=pattern",
    # A C++ compiler may assume that every loop ends. An endless loop must stay, so that it can be reported.
    "-fno-finite-loops",
    # Nor may it leave out what follows an access through a null pointer: the access itself stops the run.
    "-fno-delete-null-pointer-checks",
]
_PLAIN = {
    "clang": [
        *("-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-sanitize=undefined"),
        # Otherwise a read before a write to the same address is not instrumented.
        *("-mllvm", "-tsan-instrument-read-before-write=1"),
        # A volatile variable may be a flag that other blocks wait for.
        *("-mllvm", "-tsan-distinguish-volatile=1"),
        # Otherwise a loop that copies or clears becomes one memcpy or memset, and the widths of its accesses are lost.
        *("-mllvm", "-disable-loop-idiom-all"),
        # Otherwise a read in a loop with one iteration and a write is moved out of the loop and loses its line.
        *("-mllvm", "-licm-mssa-optimization-cap=0"),
        # A local array is tested at each use unless the compiler sees that no function keeps its address. An unrolled
        # loop has many uses.
        *("-mllvm", "-capture-tracking-max-uses-to-explore=8192"),
        # The registers of a postponed instruction (runtime/postponed.h) have their place until the function ends.
        *("-mllvm", "-no-stack-coloring"),
        # Nobody reads where a local variable is at each instruction: to find that takes a third of a large compilation.
        *("-mllvm", "-livedebugvalues-input-bb-limit=0", "-mllvm", "-livedebugvalues-input-dbg-value-limit=0"),
        # An instruction without a line is written as one, also where no local variable begins.
        *("-mllvm", "-use-unknown-locations=Enable"),
    ],
    "gcc": [
        *("-fno-tree-vectorize", "-fno-unroll-loops"),
        "--param=tsan-distinguish-volatile=1",
        # Dynamic shared memory is declared in one place and defined in another. It needs no initialiser.
        "-fno-extern-tls-init",
        # Otherwise all libraries of the process share the arrays of a template: a variant would use those of its base.
        "-fno-gnu-unique",
        # As for clang: no other variable gets the place of a register.
        "-fstack-reuse=none",
    ],
}
# Arithmetic on halves is rounded after each operation, as on a GPU.
_HALF = {"clang": ["-Xclang", "-ffloat16-excess-precision=none"], "gcc": ["-fexcess-precision=16"]}
# Kernels read floats as halves or words through casts, and nvcc allows it; it also allows the word
# register, and a list of numbers that become narrower.
_CXX = ["-x", "c++", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-Wno-register", "-Wno-narrowing"]
# The printf of the prelude prints nothing; the compiler and a fortified system header would replace it.
_UNPRINTED = ["-fno-builtin-printf", "-U_FORTIFY_SOURCE"]
# A C kernel's threads become recorded threads of one run; see runtime/pthreads.c.
_THREADS = ["-Dpthread_create=gv_thread_create", "-Dpthread_join=gv_thread_join"]
# The runtime is linked to every recorder, the prelude stands before every CUDA kernel, and the headers replace CUDA's.
# Functions of the C++ library that run on the device because they are constexpr.
_USES_ALGORITHMS = re.compile(r"\bstd\s*::\s*(?:max|min|clamp)\b")
_RUNTIME, _PRELUDE, _INCLUDE = _HERE / "runtime", _HERE / "prelude", _HERE / "include"
_ZONE = "shared_zone-"
# Headers for the GPU that are plain CUDA C++ also serve the recorder. They are searched after its own headers.
_SHARED_HEADERS = data.root("kernels") / "include"
_WORDS = _SHARED_HEADERS / "nvrtc"  # the prelude includes one of them
_OWN_WARP_SIZE = re.compile(
    r"^[ \t]*(?:(?:static|inline|__device__|__constant__)\s+)*(?:const|constexpr)\s+(?:\w+\s+)+warpSize\s*[={]", re.M
)
# A variable or parameter with the name of an index: the recorder's macro of that name would be in the way.
_OWN_INDEX = re.compile(
    r"\b(?:dim3|u?int3|uint|int|unsigned|size_t|auto)\b[\s&]*(?:const\b[\s&]*)?\b(?:threadIdx|blockIdx|blockDim|gridDim)"
    r"\s*[=,;(){\[]"
)
_INDEX_OBJECTS = "#include <gemmviz/index_objects.h>"
_ALIGNED_SHARED = re.compile(r"(\b__shared__\s+)alignas\b")


def build(launch: Launch, *, as_written: bool = False) -> Path:
    """Return the instrumented shared library of a launch, from the cache if it was built before.

    Parameters
    ----------
    launch
        The kernel's text is compiled unchanged; `launch.kernel.path` gives it a name in messages.
    as_written
        Whether to keep every access of the source; by default the compiler may merge some.

    Raises
    ------
    BuildError
        When the compiler refuses the source; ``line`` is the line of the kernel's file.
    Unavailable
        When there is no compiler.
    """
    tool, texts = compiler(), runtime_texts()
    source = _wrapper(launch)
    inline_ptx = launch.kernel.backend == "cuda" and has_asm([source])
    flags = _flags(tool, launch, as_written, source, "inline_ptx.h" if inline_ptx else "cuda.h")
    folder, _ = data.cache_folder("recorders")
    beside = included(launch.kernel.text, source_folder(launch.kernel.path))
    headers = [*beside, *included(launch.kernel.text, _SHARED_HEADERS)]
    folder_of_headers = entry.folder_of_headers(source, launch, translates_asm=inline_ptx)
    neutral = _with_neutral_folders(flags, launch, folder_of_headers)
    link, of_runtime = _link_flags(tool), runtime_flags(tool)
    translator = _translator() if inline_ptx else ()
    key = _digest([source, *headers, str((neutral, of_runtime, link)), tool.key, *texts, *translator])
    kept_name = f"{launch.kernel.name}-{key}"
    if known := kept.find(folder, kept_name):
        return known
    with build_folder() as name:
        work = Path(name)
        wrapper = work / ("wrapper.c" if launch.kernel.backend == "c" else "wrapper.cpp")
        wrapper.write_text(source, encoding="utf-8")
        instrumented = work / "kernel.o"
        prelude = precompiled.prelude(tool, flags, texts, folder)
        macros = precompiled.macros(tool, flags, texts, folder) if inline_ptx and prelude else None
        try:
            if inline_ptx:
                reached = passes.Headers([source, *headers], folder_of_headers, (_HERE, _SHARED_HEADERS), macros)
                wrapper, flags = passes.without_asm(wrapper, flags, launch.kernel, reached)
            compile_object(wrapper, instrumented, flags, launch.kernel.path, prelude)
        except BuildError as error:
            raise entry.explain(error, launch) from None
        runtime = _runtime_objects(tool, texts, folder)
        zone = next(part for part in runtime if part.name.startswith(_ZONE))  # thread-local memory is in this order
        objects = [zone, instrumented, *(part for part in runtime if part != zone), zone]
        library = work / "kernel.so"
        compile_shared(objects, library, link, launch.kernel.path)
        return kept.keep(library, folder, kept_name)


def _with_neutral_folders(flags: list[str], launch: Launch, folder: Path | None) -> str:
    """Return the flags with neutral names for the folders of this copy of gemmviz, of this process and of the kernel.

    The key of a library has the texts in these folders, so a library of another checkout or of the wheel can be used.
    A kernel without own headers (`folder` is None) can be copied or moved.
    """
    own = str(launch.kernel.path.parent) if folder else entry.ANY_FOLDER
    neutral = str(flags).replace(str(source_folder(launch.kernel.path)), own)
    return neutral.replace(str(_HERE), "simt").replace(str(data.root("kernels")), "kernels")


def _runtime_objects(tool: Compiler, texts: Sequence[str], folder: Path) -> list[Path]:
    """Return the object files of the runtime. They are compiled once, as this takes longer than most kernels do."""
    plain = runtime_flags(tool)
    key = _digest([str(plain), tool.key, *texts])

    def known(part: Path) -> Path | None:
        return kept.find(folder, f"{part.stem}-{key}")

    def made(part: Path) -> Path:
        with build_folder() as name:
            new = Path(name) / "part.o"
            compile_object(part, new, plain, part)
            return kept.keep(new, folder, f"{part.stem}-{key}")

    parts = sorted(_RUNTIME.glob("*.c"))
    found = [known(part) for part in parts]
    if confined.active() or None not in found:  # the sandbox runs one job after another
        return [object_file or made(part) for part, object_file in zip(parts, found, strict=True)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # starting the compiler takes most of the time
        return list(pool.map(lambda part: known(part) or made(part), parts))


def _flags(tool: Compiler, launch: Launch, as_written: bool, source: str, prelude: str) -> list[str]:
    if launch.kernel.backend == "c":
        language = ["-x", "c", "-std=gnu11", *_THREADS, f"-I{_INCLUDE}"]
    else:
        folders = (f"-I{_INCLUDE}", f"-I{_SHARED_HEADERS}")
        language = [
            *_CXX,
            f"-std={cxx_standard(source)}",
            *_HALF[tool.kind],
            *_UNPRINTED,
            *(("-include", str(_PRELUDE / "algorithms.h")) if _USES_ALGORITHMS.search(source) else ()),
            "-include",
            str(_PRELUDE / prelude),
            *folders,
        ]
    plain = [_LEVEL[as_written], *_COMMON, *_PLAIN[tool.kind]]
    plain += local_bounds.FLAGS if local_bounds.is_watched(launch) else ()
    plain += ["-fdeclspec"] if tool.kind == "clang" and _INDEX_OBJECTS in source else []
    return [*language, *plain, "-fsanitize=thread", *entry.flags(launch)]


def runtime_flags(tool: Compiler) -> list[str]:
    """Return the compiler flags for the recorder's runtime."""
    # No debug information: it would be read together with that of each kernel.
    unsanitised = ["-fno-sanitize=all"] if tool.kind == "clang" else []
    # Only functions that Python calls are visible; all other calls are then direct.
    plain = ["-O2", "-g0", "-w", "-std=gnu11", "-U_FORTIFY_SOURCE", "-fvisibility=hidden", "-fomit-frame-pointer"]
    return [*plain, *unsanitised]


def _link_flags(tool: Compiler) -> list[str]:
    # If a kernel needs Clang's own runtime, the wheel's Clang builds it, optimised and without the checks for undefined
    # behaviour: with these flags the native builds use the same one.
    return ["-g", "-O3", "-lm", *(["-fno-sanitize=undefined"] if tool.kind == "clang" else [])]


def _wrapper(launch: Launch) -> str:
    """Return the unchanged kernel with a function that calls its entry with arguments from an array of pointers."""
    kernel = launch.kernel
    # CUDA allows an attribute here, thread_local does not: a word of the same length stands for an allowed form.
    code = source_of_host(launch) if kernel.backend == "c" else source_of_device(launch, _has_header)
    code = code if kernel.backend == "c" else without_idle_pragmas(code)
    # Launches that differ only in their front matter have the same machine code, and share it.
    code = FENCE.sub(lambda found: "\n" * found[0].count("\n"), code, count=1)
    text = _ALIGNED_SHARED.sub(r"\1gvalign", code)
    text, before, behind = dynamic_shared.defined(text, launch.shared_bytes)
    # CUDA lets a file declare its own constant of this name; the recorder's is in the way.
    before = ["#define warpSize gv_own_warp_size", *before] if _OWN_WARP_SIZE.search(code) else before
    before = [_INDEX_OBJECTS, *before] if kernel.backend != "c" and _OWN_INDEX.search(plain_code(code)) else before
    lines = [*before, line_directive(kernel.path), text, f'#line 1 "{entry.ARGUMENTS}"', *behind]
    extern = "" if kernel.backend == "c" else 'extern "C" '
    # An anchor in the same thread-local segment as the shared arrays gives the address of that segment.
    anchor = "_Thread_local" if kernel.backend == "c" else "thread_local"
    lines += [
        "#ifdef GV_SHARED_START",  # memory with a value stands before memory without: the shared arrays follow it
        "thread_local char gv_anchor[GV_SHARED_START] __attribute__((aligned(65536))) = {1};",
        "#else",
        f"{anchor} char gv_anchor[1];",
        "#endif",
        f'{extern}__attribute__((no_sanitize("thread"))) char *gv_anchor_address(void) {{ return gv_anchor; }}',
        f'{extern}__attribute__((no_sanitize("thread"))) void gv_entry(void **a)',
        f"{{ {entry.call(launch, code)} }}",
    ]
    return "\n".join(lines) + "\n"


def _has_header(name: str) -> bool:
    """Return whether the recorder has a header of CUDA. The compiler has the headers of C and C++."""
    return not name.startswith(("cuda", "cooperative_groups", "mma.h", "nv/")) or (_INCLUDE / name).is_file()


def runtime_texts() -> tuple[str, ...]:
    """Return the name and the text of every C file of the recorder: a change of one makes a new build necessary."""
    folders = (_RUNTIME, _PRELUDE, _INCLUDE, _WORDS)
    return _texts(tuple(sorted(found for folder in folders for found in _sources(str(folder)))))


@lru_cache(maxsize=1)
def _translator() -> tuple[str, ...]:
    """Return the text of every file that translates inline PTX to C++, for the key of a recorder."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted((_HERE / "inline_ptx").glob("*.py")))


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, modification time and size of every C file below a folder. Every recording calls this."""
    with os.scandir(folder) as inside:
        for entry in inside:
            if entry.is_dir():
                yield from _sources(entry.path)
            elif entry.name.endswith((".c", ".h")):
                found = entry.stat()
                yield entry.path, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=1)
def _texts(files: tuple[tuple[str, int, int], ...]) -> tuple[str, ...]:
    paths = [Path(path) for path, _, _ in files]
    return tuple(text for f in paths for text in (f"{f.parent.name}/{f.name}", f.read_text(encoding="utf-8")))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
