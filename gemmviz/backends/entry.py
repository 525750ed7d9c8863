"""The call of a kernel's entry in compiled C or C++: from an array of pointers, one per argument."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from gemmviz.backends import unsupported
from gemmviz.backends.toolchain import source_folder
from gemmviz.catalogue.batch import POINTERS
from gemmviz.catalogue.errors import BuildError, CompileStopped
from gemmviz.catalogue.launch import Launch
from gemmviz.catalogue.matrices import BIAS, MATRICES, D
from gemmviz.catalogue.tensor_map import SUFFIX
from gemmviz.language import tr

ARGUMENTS = "gemmviz_arguments"
"""The name that compilers give to the call of the entry in their messages."""
ANY_FOLDER = "any folder"
"""Stands for the kernel's folder in the key of a library that is the same in every folder."""
# The words with which a source can read a file, or ask whether there is one.
_READS_FILES = re.compile(r"include|import|embed|incbin")
_READS_FILES_OR_ASM = re.compile(r"include|import|embed|asm")
_SYSTEM_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n\\]+)>", re.MULTILINE)
_SPLICE = re.compile(r"\\[ \t]*\n")
_ENUM = re.compile(r"\benum\s+(?:class\s+|struct\s+)?(\w+)\s*[:{]")
_ENUMS_OF_CUBLAS = ("cublasOperation_t",)


def call(launch: Launch, code: str = "") -> str:
    """Return the statement that calls the entry with the values that ``void **a`` points to.

    Element i of ``a`` is a matrix, or points to a tensor map, a ``long long`` or (alpha, beta) a ``double``; the
    compiler converts them to the types of the kernel's own prototype.

    Parameters
    ----------
    launch
        The launch.
    code
        The text that is compiled: a number for a value of one of its enumerations has to be cast.
    """
    arguments = []
    enums = _enumerated(launch.kernel.args, launch.entry, code)
    in_structs = {index for first, end in launch.kernel.structs for index in range(first, end)}
    for index, name in enumerate(launch.kernel.args):
        if index in in_structs and name not in (*MATRICES, D, BIAS, *POINTERS):
            kind = "double" if name in ("alpha", "beta") else "long long"
            arguments.append(f"gv_number<{kind}>{{{name if name.isdecimal() else f'*({kind} *)a[{index}]'}}}")
        elif name in (*MATRICES, D, BIAS, *POINTERS):
            # C++ does not convert void pointers: the recorder's header has a type that does.
            arguments.append(f"a[{index}]" if launch.kernel.backend == "c" else f"gv_pointer{{a[{index}]}}")
        elif index in enums:
            arguments.append(f"gv_number<long long>{{{name}}}")
        elif name.isdecimal():  # a literal, because 0 can also be a pointer
            arguments.append(name)
        elif name.endswith(SUFFIX):
            arguments.append(f"gv_tensor_map_at{{a[{index}]}}")
        else:
            arguments.append(f"*({'double' if name in ('alpha', 'beta') else 'long long'} *)a[{index}]")
    given = in_braces(arguments, launch.kernel.structs)
    pointers = iter(launch.kernel.struct_pointers)
    given = [_behind_pointer(one) if one.startswith("{") and next(pointers) else one for one in given]
    return f"{launch.entry}({', '.join(given)});"


def _enumerated(args: Sequence[str], entry: str, code: str) -> set[int]:
    """Return the places of the numbers that a kernel takes as values of an enumeration of its text."""
    names = {*_ENUM.findall(code), *_ENUMS_OF_CUBLAS} if any(map(str.isdecimal, args)) else set()
    plain = re.split(r"[\s<]", entry)[0].rpartition("::")[2]
    head = re.search(rf"\b{re.escape(plain)}\s*\(([^;{{}}()]*)\)\s*\{{", code) if names else None
    parameters = head[1].split(",") if head else []
    if len(parameters) != len(args):
        return set()
    typed = (re.findall(r"\w+", one)[:-1] for one in parameters)
    return {at for at, words in enumerate(typed) if args[at].isdecimal() and not names.isdisjoint(words)}


def _behind_pointer(members: str) -> str:
    """Return a pointer to a structure with such members; the prototype of the kernel decides its type."""
    return f"gv_made([&](auto *p) {{ *p = {members}; }})"


def in_braces(arguments: Sequence[str], structs: Sequence[tuple[int, int]]) -> list[str]:
    """Return the arguments, with the members of each structure in braces.

    Parameters
    ----------
    arguments
        All arguments in order.
    structs
        For each structure its first member, and the index after its last one: see `gemmviz.catalogue.kernel.Kernel`.
    """
    joined, at = [], 0
    for first, end in structs:
        joined += [*arguments[at:first], f"{{{', '.join(arguments[first:end])}}}"]
        at = end
    return [*joined, *arguments[at:]]


def flags(launch: Launch) -> list[str]:
    """Return the parameters that become macros, and the folder of the kernel's own headers.

    The compiler's own headers have priority for ``<...>``: a file of that folder must not replace a system header.
    """
    macros = [f"-D{name}={value}" for name, value in launch.macros.items()]
    if launch.batch:
        macros += [f"-DGV_BATCH_COUNT={launch.batch.count}", f"-DGV_BATCH_ENTRY={launch.batch.entry}"]
    folder = source_folder(launch.kernel.path)
    return [*macros, f"-iquote{folder}", f"-idirafter{folder}"]


def folder_of_headers(source: str, launch: Launch, *, translates_asm: bool = False) -> Path | None:
    """Return the folder with the kernel's own headers; None if its code is the same in every folder.

    It is, if the source includes nothing but system headers, of which the folder has none.

    Parameters
    ----------
    source
        The text that is compiled.
    launch
        The launch that it is made for.
    translates_asm
        Whether other code replaces its asm statements. The assembler can include files, too.
    """
    folder = source_folder(launch.kernel.path)
    text = _SPLICE.sub("", source)
    names = _SYSTEM_INCLUDE.findall(text)
    reads = (_READS_FILES if translates_asm else _READS_FILES_OR_ASM).search(_SYSTEM_INCLUDE.sub("", text))
    # Where this cannot be asked, as with a name of 300 characters, the compiler cannot look either.
    there = any(os.path.exists(folder / name) for name in names)  # noqa: PTH110
    return folder if reads or there else None


def explain(error: BuildError, launch: Launch) -> BuildError:
    """Return the error with its reason: a feature that cannot be recorded, or a prototype that does not fit ``args``.

    The prototype is the reason if the error has no line, and if no limit stopped the compiler.
    """
    if isinstance(error, CompileStopped):
        return error
    kernel = launch.kernel
    error = unsupported.explain(error, kernel) if kernel.backend == "cuda" else error
    if error.line is not None:
        return error
    if error.file not in ("", ARGUMENTS):  # a header: the compiler's text describes the error
        text = str(error).removeprefix(f"{kernel.path.name}: ")
        return BuildError(f"{kernel.path.name}: {error.file}: {text}", file=error.file)
    reason = str(error).split(": ", 1)[-1]
    text = tr(
        "entry {entry} cannot be called with args {args}: {why}",
        entry=kernel.entry,
        args=f"[{', '.join(kernel.args)}]",
        why=reason,
    )
    return BuildError(f"{kernel.path.name}: {text}", kernel.line_of("args"))
