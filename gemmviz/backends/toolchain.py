"""Compiles and links with the C compiler of this machine, confined if there is a sandbox."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from gemmviz.backends import zig
from gemmviz.backends.compiler import compiler, environment, first_line, run_compiler
from gemmviz.catalogue.errors import BuildError, CompileStopped, Unavailable
from gemmviz.catalogue.header_places import HeaderPlaces, nearest_first
from gemmviz.catalogue.includes import begins, search_folders, with_headers
from gemmviz.catalogue.source_files import is_cuda
from gemmviz.language import tr
from gemmviz.sandbox import confined, rules, scratch

_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n]+?):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_ASKED = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?:\d+:)? (?:note: in instantiation of|  required from)", re.MULTILINE
)
# The messages of the C library, and of Zig.
# Clang's and GCC's words; CUDA's own functions begin with two underscores.
_UNKNOWN = re.compile(r"undeclared identifier '(?P<name>__[a-z]\w*)'|'(?P<other>__[a-z]\w*)' was not declared")
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\bNoSpaceLeft\b|\bDiskQuota\b")


def compile_shared(sources: Sequence[Path | str], output: Path, flags: Sequence[str], blame: Path) -> None:
    """Compile and link `sources` into the shared library `output`.

    Parameters
    ----------
    sources
        Files and the ``-x language`` switches between them, in order.
    output
        The path of the library, in a build folder that the compiler may write.
    flags
        Further arguments.
    blame
        The user's file: errors in it keep their line number.

    Raises
    ------
    BuildError
        When the compiler refuses the source, with its first error as message.
    Unavailable
        When there is no compiler.
    """
    _build([*flags, "-shared", "-fPIC", *map(str, sources)], output, blame)


def compile_object(
    source: Path, output: Path, flags: Sequence[str], blame: Path, precompiled: Path | None = None
) -> None:
    """Compile `source` into the object file `output`; otherwise as `compile_shared`.

    Parameters
    ----------
    source, output, flags, blame
        As for `compile_shared`.
    precompiled
        The header after ``-include``, from `precompile` with the same flags. If it cannot be used any more, because
        a header of the system has changed, it is removed, and the header itself is read.
    """
    _build([*flags, "-c", "-fPIC", str(source)], output, blame, precompiled)


def precompiling(header: Path, output: Path, flags: Sequence[str]) -> list[str] | None:
    """Return the command that precompiles a C++ header; None if the compiler is not Clang from the ``ziglang`` wheel.

    It names all folders of system headers: these are others within the sandbox.
    """
    tool = compiler()
    command = zig.direct(tool.start, tool.version, [*flags, "-c", "-fPIC", str(header)], output, _ask)
    return command and zig.of_header(command)


def precompile(header: Path, output: Path, flags: Sequence[str]) -> bool:
    """Precompile a C++ header, and return whether the compiler could."""
    command = precompiling(header, output, flags)
    return command is not None and _started(command, output.parent, [*flags, str(header)]).code == 0


def preprocess(source: Path, output: Path, flags: Sequence[str], blame: Path) -> None:
    """Write `source` with expanded macros and includes, and line markers, to the file `output`.

    Otherwise as `compile_shared`.
    """
    _build([*flags, "-E", str(source)], output, blame)


def _build(arguments: Sequence[str], output: Path, blame: Path, precompiled: Path | None = None) -> None:
    """Start the compiler, and raise its error."""
    if "-shared" in arguments and zig.is_zig(compiler().start):
        without = [zig.WITHOUT_RUNTIME, *arguments]
        result = _result([zig.COMPLETE, *without], output)
        if zig.UNDEFINED in result.errors:
            # A name that the kernel's author has forgotten is reported when the library is loaded.
            result = _result(arguments if zig.OF_RUNTIME in result.errors else without, output)
    else:
        result = _result(arguments, output, precompiled)
    if result.stopped and not _DIAGNOSTIC.search(result.errors):
        raise CompileStopped(tr("{file} does not compile: {why}", file=blame.name, why=result.stopped))
    if result.code != 0:
        raise no_room(result.errors, output.parent) or first_error(result.errors, blame)


def _result(arguments: Sequence[str], output: Path, precompiled: Path | None = None) -> confined.Compiled:
    """Start Clang or the linker directly if possible, and the compiler itself if they fail without a diagnostic."""
    tool = compiler()
    if command := zig.direct(tool.start, tool.version, arguments, output, _ask):
        read = [*arguments, str(precompiled)] if precompiled else arguments
        result = _started(zig.with_precompiled(command, precompiled), output.parent, read)
        if result.code == 0 or result.stopped or _DIAGNOSTIC.search(result.errors) or zig.UNDEFINED in result.errors:
            return result
        # Other errors than those of a source are the command's own, or the linker's: Zig knows better.
        if precompiled:
            precompiled.unlink(missing_ok=True)
    return _started([*tool.start, *arguments, "-o", str(output)], output.parent, arguments)


def _ask(command: list[str], folder: Path) -> str:
    """Return Zig's output about the commands that it starts."""
    return _started(command, folder, [], zig.VERBOSE).errors


def _started(
    command: Sequence[str], folder: Path, arguments: Sequence[str], variables: Mapping[str, str] | None = None
) -> confined.Compiled:
    """Start the compiler, confined if there is a sandbox.

    Parameters
    ----------
    command
        The command.
    folder
        The folder that it may write.
    arguments
        The arguments that name further files and folders, which it may read.
    variables
        Further environment variables.
    """
    ours = environment() | dict(variables or {})
    own = confined.scratch()
    if own is None:
        answer = run_compiler(command, ours)
        return confined.Compiled(answer.returncode, answer.stdout, answer.stderr)
    program = shutil.which(command[0]) or command[0]
    cache = Path(ours["ZIG_GLOBAL_CACHE_DIR"])
    # Clang's headers are next to zig. Only `zig cc` writes its cache; the linker reads a library there.
    beside = [Path(program).resolve().parent, cache] if Path(program).name == "zig" else []
    writes = [cache] if tuple(command[: len(compiler().start)]) == compiler().start else []
    access = rules.compiling(folder, [*beside, scratch.copies(own), *_read_by(arguments)], writes, compiler().programs)
    return confined.compile_with([program, *command[1:]], ours | {"TMPDIR": str(folder)}, folder, access)


_OWN_LINE_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:line[ \t]+)?\d[^\n]*", re.MULTILINE)
_FOLDER_FLAGS = re.compile("^(?:-I|-iquote|-idirafter)(?=/)")


def _read_by(arguments: Sequence[str]) -> list[Path]:
    """Return the files and folders among a compiler's arguments."""
    named = [Path(_FOLDER_FLAGS.sub("", a)) for a in arguments if a.startswith("/") or _FOLDER_FLAGS.match(a)]
    return [path for path in named if path.exists()]


def line_directive(path: Path) -> str:
    """Return the directive with which the compiler counts lines as in the file of that name."""
    escaped = path.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'#line 1 "{escaped}"'


def without_line_directives(text: str) -> str:
    """Return a text in which lines count as they stand in it: its own ``#line`` directives are empty lines."""
    return _OWN_LINE_DIRECTIVE.sub("", text)


def included(text: str, folder: Path) -> list[str]:
    """Return the texts of the files that `text`, in `folder`, includes, directly or indirectly."""
    return [body.decode("utf-8", "replace") for _, body in sorted(scratch.reached(text, folder))]


def with_own_headers(text: str, path: Path) -> str:
    """Return a CUDA source in which the includes of its own headers are replaced by their texts.

    Lines have the numbers that they have in `text`, also where a generator left directives with other ones.

    Parameters
    ----------
    text, path
        The source, and its path.
    """
    own = confined.scratch()
    place = source_folder(path) / path.name

    @cache
    def folders() -> list[Path]:  # most sources have no header of their own: then nobody asks
        return [scratch.copy_of(folder, own) for folder in search_folders(path)]

    def around() -> Iterator[Path]:
        yield from scratch.neighbours(folders())

    @cache
    def places() -> HeaderPlaces:
        if own is None:
            return scratch.header_places(path, folders())
        # The folders of the user are closed to this process: those with copies stand for them.
        return HeaderPlaces(folders(), lambda: nearest_first(scratch.copied_folders(own), place))

    return with_headers(
        without_line_directives(text),
        place,
        lambda name, folder: scratch.own_header(name, folder, places()),
        scratch.text_of,
        begins(place, text, around(), scratch.text_of),
    )


def no_room(text: str, folder: Path) -> Unavailable | None:
    """Return the error of a compiler that had no room to write, which no source causes; None for other errors."""
    if not _FULL.search(text):
        return None
    return Unavailable(
        tr(
            "there is no room left to compile in {folder}: make room there, or let {variable} name another folder",
            folder=folder,
            variable="XDG_CACHE_HOME",
        )
    )


def first_error(text: str, blame: Path) -> BuildError:
    """Return the compiler's first error, by preference the first one in the file `blame`."""
    found = list(_DIAGNOSTIC.finditer(text))
    ends = [*(d.start() for d in found[1:]), len(text)]
    begins = [0, *(d.end() for d in found)]
    for error, begin, end in zip(found, begins, ends, strict=False):
        # Clang prints the place of a template's use after an error, GCC before it.
        after, around = text[error.end() : end], text[begin:end]
        line = _line_in(blame, error) or _asked_for(blame, after) or _asked_for(blame, around)
        if line:
            return BuildError(f"{blame.name}:{line}: {_error_text(error)}{_why(error, blame)}", line)
    if found:
        file = Path(found[0]["file"]).name
        return BuildError(f"{blame.name}: {_error_text(found[0])}", file=file)
    why = first_line(text) or tr("the compiler printed no message")
    return BuildError(tr("{file} does not compile: {why}", file=blame.name, why=why))


def _line_in(blame: Path, error: re.Match[str]) -> int:
    return int(error["line"]) if Path(error["file"]).name == blame.name else 0


def _asked_for(blame: Path, text: str) -> int:
    """Return the line of the file `blame` that instantiates a template, or 0."""
    found = [m for m in _ASKED.finditer(text) if Path(m["file"]).name == blame.name]
    return int(found[-1]["line"]) if found else 0


def _why(error: re.Match[str], blame: Path) -> str:
    """Return a sentence about a function of CUDA that the recorder does not know, if that is the error."""
    name = _UNKNOWN.search(error["text"]) if is_cuda(blame) else None
    if name is None:
        return ""
    return ". " + tr(
        "The recorder does not know {name}: if it is a function of CUDA, define it in the file, or use another one.",
        name=name["name"] or name["other"],
    )


def _error_text(error: re.Match[str]) -> str:
    """Return the text of an error; for an assertion, its own sentence."""
    return re.sub(r"^static assertion failed(?: due to requirement '.*?')?: ", "", error["text"])


def source_folder(path: Path) -> Path:
    """Return the folder of the files that a user's file includes."""
    return scratch.folder_of(path, confined.scratch())


def build_folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a new build folder as a context, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="gemmviz-", dir=confined.scratch())
