"""The part of a CUDA file that runs on the device. Code for the host only is left out."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from gemmviz.catalogue.declarations import Declaration, declarations, macros
from gemmviz.catalogue.host_words import header_kind, is_host
from gemmviz.catalogue.includes import INCLUDE
from gemmviz.catalogue.plain_code import plain_code

_SECOND_BRANCH = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif)\b(?:\\\n|[^\n])*", re.MULTILINE)
_KEPT = re.compile(r"[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|define|undef|line)\b")
# A command of a notebook, in whose cell the file was written: ``%%writefile gemm.cu``.
_COMMAND = re.compile(r"^%%\w[^\n]*", re.MULTILINE)
_USING = re.compile(r"using\s+(?:namespace\s+)?((?:::)?\w+)")
_OF_CLASS = re.compile(r"\w\s*(?:<[^<>]*>)?\s*::\s*~?\w+\s*\(")
_MEMBER = re.compile(r"using\s+(?:\w+\s*::\s*)+(\w+)\s*;?")
# A part of the standard library that only the host has: its name is unknown without its header.
_PART_OF_STD = re.compile(r"using\s+namespace\s+(?:::\s*)?std\s*::")
_INVOCATION = re.compile(r"\s*([A-Za-z_]\w*)\s*\(")
# The sides of a grid or a block, as a variable outside of functions: no constant expression, so of the host only.
_SIDES = re.compile(r"(?:(?:static|const|inline)\s+)*dim3\s+\w+\s*[({=;]")
# nvcc takes ``#import <cuda_runtime.h>`` for an include, NVRTC does not.
_IMPORT = re.compile(r"^([ \t]*#[ \t]*)import(?=[ \t]*<)", re.MULTILINE)
_MARKS = frozenset({"__device__", "__global__", "__constant__", "__shared__", "__managed__"})
# Headers of PyTorch include CUDA's numbers with 16 bits, and have names of their own for them.
_TORCH = re.compile(r"(?:torch|ATen|c10)/[\w/.]+")
_TORCH_TYPE = re.compile(r"\b(?:at|c10)\s*::\s*(?:Half|BFloat16)\b|\bPackedTensorAccessor(?:32|64)?\b")
_NUMBERS = re.compile(r"\b(?:half2?|__half2?|__nv_bfloat16\d?|nv_bfloat16\d?)\b")
_OF_NUMBERS = re.compile(r"cuda_(?:fp16|bf16)\.h(?:pp)?")
_TORCH_TYPES = "#include <gemmviz/torch_types.h>"
# Functions of <cmath>, which nvcc always includes. Those that CUDA declares itself need no header.
_MATH = re.compile(
    r"\bstd\s*::\s*(?:abs|a?(?:sin|cos|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|expm1|fabs|floor|fma|fmax|fmin|fmod|"
    r"hypot|isfinite|isinf|isnan|ldexp|log(?:10|1p|2)?|lround|nearbyint|pow|rint|round|signbit|sqrt|trunc)\s*\("
)
_MATH_HEADER, _HAS_MATH = "#include <cmath>", re.compile(r"^[ \t]*#[ \t]*include[ \t]*<cmath>", re.MULTILINE)
_OF_CUDA = frozenset({"cuda", "nvcuda", "cooperative_groups", "gemmviz"})


@lru_cache(maxsize=32)  # a kernel is launched at many sizes
def device_code(text: str, entry: str = "", has_header: Callable[[str], bool] = lambda name: True) -> str:
    """Return the text of a file with spaces in place of all code that its kernels do not need.

    Each line keeps its number. Functions and variables marked for the device are kept, and everything that they use,
    directly or indirectly. Functions and types for the host only, and headers of the host, are left out.

    Parameters
    ----------
    text
        A whole file of CUDA; files that it includes may stand in their place (`gemmviz.catalogue.includes`).
    entry
        The called kernel with its template arguments: code that it does not need is then left out, too.
    has_header
        Returns whether the compiler has a header of CUDA. A file may include a header without using it.
    """

    def include(found: re.Match[str]) -> str:
        kept = _is_kept(found[1], found[2]) and (header_kind(found[2]) != "device" or has_header(found[2]))
        return found[0] if kept else " " * len(found[0])

    text = _IMPORT.sub(r"\1include", _COMMAND.sub(lambda line: " " * len(line[0]), text))
    text = _with_torch_types(text)
    whole, text = text, INCLUDE.sub(include, text)
    plain = plain_code(text, directives=False)
    found = declarations(plain)
    if found is None:  # for example two heads of one function, between #if and #else
        found = _by_branches(text, plain)
    if not found:
        return text
    defined = macros(plain_code(text))
    kept = _kept(found, plain, defined, entry)
    text, whole = (_without_last(one, plain, max(one.end for one in found), defined) for one in (text, whole))
    parts, end = [], 0
    for declaration in found:
        body = text.find("{", declaration.start, declaration.end)
        if declaration in kept and body >= 0 and len(whole) == len(text):
            # A body is kept whole: the compiler then names any declaration that it lacks.
            parts += [text[end:body], whole[body : declaration.end]]
            end = declaration.end
        elif declaration not in kept:
            parts += [text[end : declaration.start], _blank(text[declaration.start : declaration.end])]
            end = declaration.end
    code = "".join(plain[one.start : one.end] for one in kept).lower()
    device = INCLUDE.sub(lambda found: _unless_unused(found, code), "".join([*parts, text[end:]]))
    return _with_math(device, whole, kept) if _MATH.search(code) else device


def _with_math(text: str, whole: str, kept: Iterable[Declaration]) -> str:
    """Return a text with ``#include <cmath>`` in the place of an include that is left out, unless it has it.

    nvcc includes that header before each file.

    Parameters
    ----------
    text, whole
        The text without and with the includes of the host, which is as long.
    kept
        Its declarations.
    """
    begin = min((one.start for one in kept), default=0)
    for found in () if _HAS_MATH.search(text) else INCLUDE.finditer(whole, 0, begin):
        place = slice(found.start(), found.end())
        words = [one["word"] for one in _SECOND_BRANCH.finditer(whole, 0, found.start())]
        always = sum(word.startswith("if") for word in words) == words.count("endif")
        if always and not text[place].strip() and len(found[0]) >= len(_MATH_HEADER):
            return text[: place.start] + _MATH_HEADER.ljust(len(found[0])) + text[place.stop :]
    return text


def _with_torch_types(text: str) -> str:
    """Return a text with our header in place of the first one of PyTorch, if the text uses a type that ours has."""
    found = next((one for one in INCLUDE.finditer(text) if _TORCH.fullmatch(one[2])), None)
    if found is None:
        return text
    given = any(_OF_NUMBERS.fullmatch(one[2]) for one in INCLUDE.finditer(text))
    if not (_TORCH_TYPE.search(text) or (not given and _NUMBERS.search(text))):
        return text
    return text[: found.start()] + _TORCH_TYPES + text[found.end() :]


def _unless_unused(found: re.Match[str], code: str) -> str:
    """Return an include; spaces for one of an unknown library whose name stands nowhere in the code that is kept."""
    library = found[2].strip().partition("/")[0].lower()
    # A name begins with the library's: "concatenate" does not name ATen.
    named = re.search(rf"(?<![a-z]){re.escape(library)}", code) is not None
    unused = "/" in found[2] and found[1] == "<" and not header_kind(found[2]) and not named
    return " " * len(found[0]) if unused else found[0]


def _without_last(text: str, plain: str, end: int, defined: Mapping[str, frozenset[str]]) -> str:
    """Leave out calls of the host's macros behind the last declaration: a registration may end without a semicolon."""
    rest = plain[end:]
    for found in re.finditer(r"\b(\w+)\s*\([^;{}]*\)", rest):
        if found[1] in defined and not _words_of(found[1], defined) & _MARKS:
            start, stop = end + found.start(), end + found.end()
            text = text[:start] + _blank(text[start:stop]) + text[stop:]
    return text


def _is_kept(mark: str, name: str) -> bool:
    """Return whether an include directive is kept.

    The user's own headers have replaced their directives already if they were found. An unknown header in a folder of
    a library is kept, so that the compiler reports it as missing. A path of somebody's own machine is no library.
    """
    kind = header_kind(name)
    return kind == "device" or (not kind and mark == "<" and "/" in name and name[0] != "/")


def _kept(found: list[Declaration], plain: str, defined: Mapping[str, frozenset[str]], entry: str) -> set[Declaration]:
    """Return the declarations that are kept."""
    usable = _without_host(found, plain)
    by_name: dict[str, list[Declaration]] = {}
    for declaration in usable:
        for name in declaration.names:
            by_name.setdefault(name, []).append(declaration)
    wanted = re.findall(r"\w+", entry)
    roots = [d for name in wanted for d in by_name.get(name, [])]
    if not any("__global__" in d.uses for d in roots):
        roots = [d for d in usable if (d.function and d.device) or d.uses & _MARKS]
    kept: set[Declaration] = set()
    waiting = list(roots)
    seen = {"operator"} if not entry else set()
    kept.update(d for d in usable if (d.device and "operator" in d.names) or _made_by_macro(d, plain, defined))
    waiting += kept
    while waiting:
        declaration = waiting.pop()
        kept.add(declaration)
        names = list(declaration.uses - seen)
        while names:
            name = names.pop()
            if name in seen:
                continue
            seen.add(name)
            names += defined.get(name, frozenset()) - seen
            waiting += [other for other in by_name.get(name, []) if other not in kept]
    spaces = frozenset(re.findall(r"\bnamespace\s+(\w+)", plain)) | _OF_CUDA
    for declaration in usable:
        text = plain[declaration.start : declaration.end]
        using = _USING.match(text)
        named = (using and using[1].strip(":") in spaces and "=" not in text) or text.startswith("static_assert")
        if using and (_of_left_out(declaration, text, kept, by_name) or _of_host(text, seen)):
            continue
        if _PART_OF_STD.match(text):
            continue
        if named and (not text.startswith("static_assert") or not _unknown(declaration, kept, by_name)):
            kept.add(declaration)
            # `using wmma::matrix_a` behind `namespace wmma = nvcuda::wmma`
            space = using[1].strip(":") if using else ""
            kept |= {one for one in by_name.get(space, []) if plain.startswith("namespace", one.start)}
    return kept


def _of_left_out(
    using: Declaration, text: str, kept: Iterable[Declaration], by_name: Mapping[str, list[Declaration]]
) -> bool:
    """Return whether a declaration names another one that was left out: ``using config::size;``."""
    member = _MEMBER.fullmatch(text.strip())
    others = [one for one in by_name.get(member[1], []) if one is not using] if member else []
    return bool(others) and not set(kept) & set(others)


def _of_host(text: str, used: set[str]) -> bool:
    """Return whether a declaration names something of the standard library that no kept code uses."""
    member = _MEMBER.fullmatch(text.strip())
    return member is not None and re.search(r"\bstd\b", text) is not None and member[1] not in used


def _made_by_macro(declaration: Declaration, plain: str, defined: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a declaration begins with a macro that defines device functions: their names are not visible."""
    head = _INVOCATION.match(plain, declaration.start, declaration.end)
    return head is not None and bool(_words_of(head[1], defined) & _MARKS)


def _words_of(macro: str, defined: Mapping[str, frozenset[str]]) -> set[str]:
    """Return the words of a macro, and of the macros in it; nothing for another name."""
    words: set[str] = set()
    waiting = [macro]
    while waiting:
        more = defined.get(waiting.pop(), frozenset()) - words
        words |= more
        waiting += more
    return words


def _unknown(declaration: Declaration, kept: Iterable[Declaration], by_name: Mapping[str, list[Declaration]]) -> bool:
    """Return whether an assertion uses a name that was left out."""
    left = set(kept)
    return any(name in by_name and not left & set(by_name[name]) for name in declaration.uses)


def _without_host(found: list[Declaration], plain: str) -> list[Declaration]:
    """Leave out the host's functions, variables and types, and unmarked declarations that use them."""
    marked = {name for d in found if d.device and d.function for name in d.names}
    host: set[Declaration] = set()
    names: set[str] = set()
    more = True
    while more:
        more = False
        for declaration in found:
            if declaration in host or (declaration.device and declaration.function):
                continue
            if declaration.uses & _MARKS:
                continue
            text = plain[declaration.start : declaration.end]
            is_own = "main" in declaration.names or _SIDES.match(text) is not None
            if is_own or declaration.uses & names or is_host(text, function=declaration.function):
                host.add(declaration)
                # A member function of the host leaves its class usable: `int Host::run() { ... }`
                named = declaration.function and not _OF_CLASS.search(text.partition("{")[0])
                names |= declaration.names - marked - {"operator"} if named else set()
                more = True
    return [d for d in found if d not in host]


def _blank(text: str) -> str:
    """Replace a text by spaces, except the directives that other lines depend on."""
    lines, goes_on = [], False
    for line in text.split("\n"):
        kept = goes_on or _KEPT.match(line) is not None
        lines.append(line if kept else " " * len(line))
        goes_on = kept and line.endswith("\\")
    return "\n".join(lines)


def _by_branches(text: str, plain: str) -> list[Declaration] | None:
    """Return the declarations of the first branches, and those of whole declarations in other branches."""
    others = _other_branches(text, plain)
    out = list(plain)
    for begin, end in others:
        out[begin:end] = ["\n" if c == "\n" else " " for c in out[begin:end]]
    found = declarations("".join(out))
    if found is None:
        return None
    for begin, end in others:
        if not any(one.start < begin < one.end for one in found):
            inside = declarations(plain[begin:end]) or ()
            found += [replace(one, start=one.start + begin, end=one.end + begin) for one in inside]
    return sorted(found, key=lambda one: one.start)


def _other_branches(text: str, plain: str) -> list[tuple[int, int]]:
    """Return the places of a plain text between ``#else`` or ``#elif`` and ``#endif``, the outermost of each."""
    found: list[tuple[int, int]] = []
    depth: list[int] = []  # per open #if, the start of its second branch, or -1
    for directive in _SECOND_BRANCH.finditer(plain_code(text)):
        word = directive["word"]
        if word.startswith("if"):
            depth.append(-1)
        elif depth and word in ("else", "elif"):
            depth[-1] = directive.end() if depth[-1] < 0 else depth[-1]
        elif depth:
            begin = depth.pop()
            if begin >= 0:
                found = [one for one in found if one[0] < begin]
                found.append((begin, directive.start()))
    return found
