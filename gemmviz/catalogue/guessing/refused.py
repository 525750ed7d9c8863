"""Whether the compilers' message about a kernel is a flaw of its file, and not a limit of the recorder.

Two compilers that share no code have to refuse the same line: the recorder's, and the GPU's own. Both get the text
without its host code and without the headers of the host. So a name that is declared nowhere has to be nowhere in the
whole file and its headers, either, outside of other functions.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from gemmviz.catalogue.declarations import declarations, macros
from gemmviz.catalogue.errors import BuildError, GemmvizError
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.includes import HEADERS, INCLUDE_ALONE
from gemmviz.catalogue.plain_code import plain_code, without_comments
from gemmviz.catalogue.source_files import CUDA
from gemmviz.catalogue.user_file import read_source
from gemmviz.language import tr

_UNDECLARED = re.compile(
    r"undeclared (?:identifier|type|function) '(\w+)'|unknown type name '(\w+)'|no template named '(\w+)'|"
    r"'(\w+)' (?:was not declared in this scope|does not name a type)"
)
# Names in capitals may be macros of the build or of a system header; the others here may be names of the C library.
# Exercises have FIXME or TODO in the place of what is still to be written.
_MAY_BE_GIVEN = re.compile(
    r"(?!(?:FIXME|TODO)\b)[A-Z_0-9]+|_.*|\w+_t|u(?:char|short|int|long)\w*|std|thrust|cub|cutlass|cute|torch|at|c10"
)
_OF_OTHERS = re.compile(r"\b(?:std|thrust|cub|cute|cutlass|torch|at|c10|cuda|cg|cooperative_groups)\s*::")
_STANDARD_NAMES = frozenset(
    {
        *("array", "vector", "string", "pair", "tuple", "map", "set", "complex", "clamp", "swap", "min", "max", "abs"),
        *("accumulate", "fill", "copy", "sort", "function", "thread", "mutex", "optional", "unique_ptr", "shared_ptr"),
        *(
            "rand",
            "srand",
            "malloc",
            "calloc",
            "free",
            "printf",
            "exit",
            "atoi",
            "atof",
            "time",
            "clock",
            "strcmp",
            "assert",
        ),
        *("chrono", "numeric_limits", "pow", "sqrt", "exp", "log", "round", "floor", "ceil", "byte"),
    }
)
# Headers that declare nothing that a kernel could use, but what the compiler of a GPU knows.
_KNOWN_HEADER = re.compile(
    r"[a-z_]+|(?:std\w+|math|string|time|assert|float|limits|unistd|sys/\w+|omp)\.h|c[a-z]+|mma\.h|"
    r"(?:cuda|device|vector|driver|host|builtin|math|sm_)[\w.]*|(?:cuda|cooperative_groups)/[\w/.]+|"
    r"cooperative_groups\.h|(?:cublas|curand|nvToolsExt)\w*\.h"
)
_BRANCH = re.compile(r"\s*#\s*(if\w*|elif|else|endif)\b")
_OFF = re.compile(r"\s*#\s*if\s+0\b")
_MOST_BESIDE = 60


def compile_flaw(made: Guess, recorder: BuildError, device: BuildError | None) -> Flaw | None:
    """Return the flaw that two compilers have found in a kernel's file; None where it is not shown.

    Parameters
    ----------
    made
        The guess, whose own text was compiled.
    recorder, device
        The errors of the recorder's compiler and of the GPU's, with lines of the file on disk. None: the second one
        takes the kernel, or is not there.
    """
    lines = made.text.splitlines()
    if device is None or not recorder.line or not device.line or recorder.line > len(lines):
        return None
    # One of them may name the next word, and the other one the end of the line before.
    if abs(recorder.line - device.line) > 1:
        return None
    if made.path.name not in str(recorder) or made.missing or not _headers_are_known(made):
        return None
    # No compiler of kernels takes a launch: it is host code that was not left out.
    if (
        "<<<" in lines[recorder.line - 1]
        or _OF_OTHERS.search(lines[recorder.line - 1])
        or "std" in re.findall(r"\w+", str(recorder))
    ):
        return None
    said = str(recorder).rpartition(f"{made.path.name}:{recorder.line}: ")[2]
    found = _UNDECLARED.search(said)
    if _may_be_ours(made, lines[recorder.line - 1], undeclared=found is not None):
        return None
    if found is None:
        return Flaw("not compiled", recorder.line, tr("no compiler takes it: {reason}", reason=said))
    name = next(filter(None, found.groups()))
    texts = [_without_switched_off(one) for one in (made.text, *made.headers)]
    if _MAY_BE_GIVEN.fullmatch(name) or name in _STANDARD_NAMES or _is_declared(name, texts):
        return None
    if _is_declared(name, (made.text, *made.headers)):
        text = tr("{name} is declared between `#if 0` and `#endif` only", name=name)
        return Flaw("not compiled", recorder.line, tr("no compiler takes it: {reason}", reason=text))
    where = next(_declaring(name, made.path), "")
    if where:
        text = tr("{name} is declared in {file}, which this file does not include", name=name, file=where)
    else:
        text = tr("{name} is declared nowhere in this file and its headers", name=name)
    return Flaw("not compiled", recorder.line, tr("no compiler takes it: {reason}", reason=text))


def _may_be_ours(made: Guess, line: str, *, undeclared: bool) -> bool:
    """Return whether a guessed value may be what the compilers refuse: a macro of the line, or a template argument."""
    in_entry = {*re.findall(r"\w+", made.entry.partition("<")[2])}
    macros_of_ours = made.params.keys() - in_entry
    if not macros_of_ours.isdisjoint(re.findall(r"\w+", line)):
        return True
    words = {word for text in (made.text, *made.headers) for word in re.findall(r"\w+", text)}
    # A side of the block that only the launch has is nowhere in the texts.
    return not undeclared and not words.isdisjoint(made.params) and not is_stated(made, "params")


def _headers_are_known(made: Guess) -> bool:
    """Return whether each header is one of the file's own, or one that declares nothing else for a kernel."""
    names = {name.strip() for text in (made.text, *made.headers) for sign, name in _included(text) if sign == "<"}
    return all(_KNOWN_HEADER.fullmatch(name) for name in names)


def _included(text: str) -> list[tuple[str, str]]:
    return INCLUDE_ALONE.findall(without_comments(text))


def _without_switched_off(text: str) -> str:
    """Return a text with spaces in place of what stands between ``#if 0`` and its ``#else`` or ``#endif``."""
    lines, depth = [], 0
    for line in text.splitlines():
        word = _BRANCH.match(line)
        if depth:
            depth += word is not None and word[1].startswith("if")
            depth -= word is not None and (word[1] == "endif" or (depth == 1 and word[1] in ("else", "elif")))
            lines.append("")
        else:
            depth = int(_OFF.match(line) is not None)
            lines.append(line)
    return "\n".join(lines)


def _is_declared(name: str, texts: Sequence[str]) -> bool:
    """Return whether a name is declared outside of functions, is a macro, or may be one of these."""
    # A word before it on its line may be a type; so may one in a list of parameters or of variables.
    seems = re.compile(
        rf"^[ \t]*(?!(?:return|else|case|goto)\b)(?:[\w<>:]+[\s*&]+)+{name}\b|,\s*{name}\s*[,;=\[]|"
        rf"[(,]\s*(?:const\s+)?\w+[\s*&]+{name}\s*[,)\[]",
        re.MULTILINE,
    )
    for text in texts:
        if name in macros(text):
            return True
        plain = plain_code(text, directives=False)
        declared = declarations(plain)
        if declared is None:  # its brackets do not match: any line may be outside of functions
            if seems.search(plain):
                return True
            continue
        # What a class or a list of names declares is inside of its brackets.
        if any(name in one.names or (not one.function and name in one.uses) for one in declared):
            return True
    return False


def _declaring(name: str, path: Path) -> Iterator[str]:
    """Yield the files beside a file that define a function or a type of a name."""
    made = re.compile(
        rf"\b(?:struct|class)\s+{name}\s*[:{{]|\b\w[\w*&]*\s+{name}\s*\([^;{{}}]*\)\s*\{{|\busing\s+{name}\s*="
    )
    try:
        beside = sorted(one for one in path.parent.iterdir() if one.suffix in (*CUDA, *HEADERS) and one != path)
    except OSError:
        return
    for one in islice(beside, _MOST_BESIDE):
        try:
            text = read_source(one)
        except (OSError, GemmvizError):
            continue
        if made.search(plain_code(text)):
            yield one.name
