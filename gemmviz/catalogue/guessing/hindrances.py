"""Why no launch of a kernel was right: the reason in its files, or the missing front matter; one sentence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gemmviz.catalogue.declarations import declarations, macros
from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.element_types import ELEMENTS
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.kernel_text import kernel_line, kernel_text
from gemmviz.catalogue.guessing.printing import only_prints
from gemmviz.catalogue.guessing.roles import DTYPES
from gemmviz.catalogue.plain_code import plain_code, without_comments
from gemmviz.language import tr, trn

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_LEAST_PLACES = 2  # one alone may be a value in two brackets
_OF_PACKED = re.compile(r"(?i).*(?:scale|zero|zp|q_?weight|packed|group_?size|g_?idx|lut|codebook|dequant|perm).*")
# Products of tensor cores whose elements are smaller than a byte, in PTX and with nvcuda::wmma.
_BELOW_A_BYTE = re.compile(
    r"\bmma\.sync[\w.:]*\.[su](?P<four>4)\.[su]4\.|\bmma\.sync[\w.:]*\.b1\.b1\.|\bprecision\s*::\s*(?:[su](?P<also>4)|b1)\b"
)
_BYTES = ("int8", "uint8", "int32")
_FILLED = re.compile(r"\bcudaMemcpyToSymbol(?:Async)?\s*\(\s*&?\s*(\w+)")
_OF_FILE = re.compile(r"\b__(?:device|managed)__\s+[^;{}()=]*;")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if\w*|el\w+|endif)\b(.*)$", re.MULTILINE)
_ARCHITECTURE = re.compile(r"\b__CUDA_ARCH__\s*(>=?)\s*(\d+)")
_RECORDED = 900  # __CUDA_ARCH__ of simt/prelude/cuda.h


def hindrance(made: Guess, around: Surroundings | None) -> str:
    """Return the reason why a kernel cannot be described; empty if the files show no reason.

    Parameters
    ----------
    made
        The guess.
    around
        The files around the kernel's file.
    """
    return in_its_file(made) or _headers(around.missing if around else ())


def in_its_file(made: Guess) -> str:
    """Return the reason that the kernel's own file shows: it is no plain product, or not for the recorder; or empty."""
    places = list(dict.fromkeys(_PLACE.findall(made.text)))
    if len(places) >= _LEAST_PLACES:
        named = _some(f"{{{{{one}}}}}" for one in places)
        return tr("the file is not complete: a script fills in {names} before it is compiled", names=named)
    packed = [name for (name, _), role in made.arguments if not role and is_packed(name)]
    if packed:
        return trn(
            "{names} belongs to a packed or scaled matrix, and only plain products of A and B are described",
            "{names} belong to packed or scaled matrices, and only plain products of A and B are described",
            len(packed),
            names=_some(packed),
        )
    apart = [name for (name, kind), _ in made.arguments if kind.endswith("**")]
    if apart:
        return trn(
            "{names} is a pointer to pointers, and a matrix is given as one block of memory; for a batch of matrices "
            "front matter has to say it (args with A.pointers, and batch)",
            "{names} are pointers to pointers, and a matrix is given as one block of memory; for a batch of matrices "
            "front matter has to say it (args with A.pointers, and batch)",
            len(apart),
            names=_some(apart),
        )
    below = _BELOW_A_BYTE.search(without_comments(made.text)) if made.dtype in _BYTES else None
    if below:
        bits = 4 if below["four"] or below["also"] else 1
        return trn(
            "line {line} multiplies numbers of {bits} bit, several in a byte of A and B: only matrices with elements "
            "of 8 bits or more are described",
            "line {line} multiplies numbers of {bits} bits, several in a byte of A and B: only matrices with elements "
            "of 8 bits or more are described",
            bits,
            line=made.text.count("\n", 0, below.start()) + 1,
            bits=bits,
        )
    own = kernel_text(replace(made, text=without_comments(made.text)))
    words = {*re.findall(r"\w+", own)}
    filled = [name for text in (made.text, *made.headers) for name in _FILLED.findall(text) if name in words]
    if filled:
        return tr(
            "the kernel reads {names}, which the host fills before (cudaMemcpyToSymbol): a recording runs no host code",
            names=_some(dict.fromkeys(filled)),
        )
    arrays = [] if any("*" in kind for (_, kind), _ in made.arguments) else _arrays_of_file(made, words)
    if arrays:
        return tr(
            "{names} are variables of the file, and matrices have to be parameters: give them to the kernel as "
            "pointers",
            names=_some(arrays),
        )
    prints = only_prints(made)
    if prints:
        return tr(
            "the kernel prints in line {line}, and does nothing else with its matrices: "
            "it stores nothing to memory, so it computes no product",
            line=prints,
        )
    newer = _newer(own)
    if newer:
        return tr(
            "the kernel's code is for compute capability {newer} and later, and the recorder compiles it for {own}: "
            "choose a kernel for {own}, or measure this one without a recording (gemmviz bench)",
            newer=f"{-(-newer // 10) / 10:.1f}",
            own=f"{_RECORDED / 100:.1f}",
        )
    return ""


def _arrays_of_file(made: Guess, words: set[str]) -> list[str]:
    """Return the arrays in global memory that a kernel uses without a parameter."""
    declared = _OF_FILE.findall(without_comments(made.text))
    found = [name for one in declared for name in re.findall(r"(\w+)\s*\[", one)]
    return list(dict.fromkeys(name for name in found if name in words))


def _newer(kernel: str) -> int:
    """Return the architecture that code of a kernel without another branch asks for; 0 if the recorder has it."""
    opened: list[int] = []
    for kind, condition in _DIRECTIVE.findall(kernel):
        if kind.startswith("if"):
            asked = _ARCHITECTURE.search(condition)
            least = int(asked[2]) + (asked[1] == ">") if asked else 0
            opened.append(least if least > _RECORDED and "||" not in condition else 0)
        elif kind == "endif" and opened:
            least = opened.pop()
            if least:
                return least
        elif opened:
            opened[-1] = 0
    return 0


def empty_body(made: Guess) -> Flaw:
    """Return the flaw of a kernel that has no statement."""
    return Flaw("another result", kernel_line(made), tr("the body of the kernel is empty: nothing computes C"))


def needed(made: Guess, *, refused: bool = False) -> str:
    """Return the first part of the front matter that a person has to add, for a kernel that was wrong in each launch.

    Parameters
    ----------
    made
        The guess.
    refused
        Whether its first launch was refused, so that nothing ran: the reason is known then.
    """
    unknown = [name or tr("the argument without a name") for (name, _), role in made.arguments if not role]
    if unknown:
        return trn(
            "front matter has to say what {names} is (args)",
            "front matter has to say what {names} are (args)",
            len(unknown),
            names=_some(unknown),
        )
    elsewhere = _names_of_others(made)
    if elsewhere:
        return trn(
            "only another file declares {names}: front matter has to write the type or the number itself (entry)",
            "only another file declares {names}: front matter has to write the types or the numbers themselves (entry)",
            len(elsewhere),
            names=_some(elsewhere),
        )
    maps = [matrix for matrix in made.mapped if matrix not in made.boxes]
    if maps:
        return tr(
            "no file shows how the tensor map of {names} is made: front matter has to say it (maps)", names=_some(maps)
        )
    if not is_stated(made, "block"):
        name = made.entry.partition("<")[0]
        return tr(
            "no launch of it could be read: front matter has to give block and grid, or a file beside it an example, "
            "`{name}<<<grid, block>>>(...)`",
            name=name,
        )
    if made.params and not is_stated(made, "params"):
        return trn(
            "no file gives {names} a value (params)",
            "no file gives {names} values (params)",
            len(made.params),
            names=_some(made.params),
        )
    if ELEMENTS in made.why:
        return tr("no file says which type its elements have: front matter has to give it (entry, dtype)")
    if refused:
        return ""
    return tr(
        "its launch was read: front matter has to say which sizes it takes (requires), or how a matrix lies (layout)"
    )


def _names_of_others(made: Guess) -> list[str]:
    """Return the types in the template arguments of a launch that the file and its headers do not declare."""
    # A name before :: is a namespace, and one behind it may be a member.
    words = re.findall(r"(?<!::)\b([A-Za-z_]\w*)\b(?!\s*::)", made.entry.partition("<")[2])
    own = {*made.params, *made.constants, *DTYPES, "M", "N", "K", "true", "false", "unsigned", "signed"}
    for text in (made.text, *made.headers):
        declared = declarations(plain_code(text, directives=False))
        if declared is None:
            return []
        own |= {name for one in declared for name in one.names} | macros(text).keys()
    return [word for word in dict.fromkeys(words) if word not in own]


def is_packed(name: str) -> bool:
    """Return whether a parameter is called like a part of packed or scaled matrices."""
    return _OF_PACKED.fullmatch(name) is not None


def _headers(missing: Sequence[tuple[str, str]]) -> str:
    for header, submodule in missing:
        if submodule:
            command = f"`git submodule update --init {submodule}`"
            return tr(
                "{header} is not here, and the submodule {submodule} is empty: {command}",
                header=header,
                submodule=submodule,
                command=command,
            )
    names = [header for header, _ in missing]
    if not names:
        return ""
    return tr("{names}: no folder of the project has such a header; -I names another folder", names=_some(names))


def _some(names: Iterable[str]) -> str:
    named = list(names)
    return ", ".join(named[:3]) + (", ..." if len(named) > 3 else "")
