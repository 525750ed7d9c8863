"""The declarations of a C++ or CUDA file outside functions and classes: the position and the names of each."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

_NAME = re.compile(r"[A-Za-z_]\w*")
_DEVICE = re.compile(r"\b(?:__device__|__global__|__constant__|__shared__|__managed__)\b")
# Declarations inside namespaces and linkage blocks are read, too. Strings are blank here: extern "C" is extern.
_CONTAINER = re.compile(r"(?:\binline\s+)?\bnamespace\b[\w:\s]*$|^\s*extern\s*$")
_CLASS = re.compile(r"^\s*(?:typedef\s+)?(?:struct|class|union|enum)\b")
_TEMPLATE = re.compile(r"^\s*template\s*<")
_ATTRIBUTE_OR_BRACKET = re.compile(
    r"\b(?:alignas|__align__|__attribute__|__builtin_align__|__launch_bounds__|__cluster_dims__|__maxnreg__|"
    r"__block_size__)\s*\(|[(\[{]"
)
_MARK = re.compile(r"[}{;(\[]")
_BRACKET = re.compile(r"[()\[\]{}]")
_BEHIND_VALUE = re.compile(r"\s*[,>)]")
# A macro alone on its line, without a semicolon: REGISTER(gemm)
_ALONE = re.compile(r"\s*[A-Z_][A-Z0-9_]*\s*\(")
# ``typedef void (*Run)(int);`` declares one name, not those of the parameters.
_POINTER_TYPE = re.compile(r"\s*typedef\b[^(){};]*\(\s*\*\s*(\w+)\s*\)\s*\(")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_WORDS = frozenset(
    {
        *("typedef", "struct", "class", "union", "enum", "template", "typename", "alignas", "__align__", "sizeof"),
        *("final", "public", "private", "virtual", "const", "constexpr", "static", "inline", "unsigned", "signed"),
        *("void", "bool", "char", "short", "int", "long", "float", "double", "half", "auto"),
    }
)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Declaration:
    """One declaration, definition or directive of a namespace.

    Attributes
    ----------
    start, end
        Its positions in the text.
    names
        The names that it declares, possibly with a few names that it only uses.
    uses
        Every identifier in it.
    device
        Whether it is marked for the device, or may be used there because it is not a function.
    function
        Whether it is a function with a body, or the prototype of one.
    """

    start: int
    end: int
    names: frozenset[str]
    uses: frozenset[str] = field(repr=False)
    device: bool
    function: bool


def declarations(plain: str) -> list[Declaration] | None:
    """Return the declarations of a file in order; None where its brackets do not match.

    Parameters
    ----------
    plain
        The text without comments, texts and directives (`gemmviz.catalogue.plain_code`).
    """
    found: list[Declaration] = []
    partner = _partners(plain)
    if partner is None:
        return None
    start = at = 0
    containers = 0
    while mark := _MARK.search(plain, at):
        at, letter = mark.start(), mark[0]
        if letter == "}":  # of a container
            if not containers:
                return None
            containers -= 1
            start = at = at + 1
        elif letter == ";":
            _add(found, plain, start, at + 1, at)
            start = at = at + 1
        elif letter == "{":
            head = plain[start:at]
            if _BEHIND_VALUE.match(plain, partner[at] + 1):  # a value as an argument of a template: list<int, 4>{}
                at = partner[at] + 1
            elif _CONTAINER.search(head):
                containers += 1
                start = at = at + 1
            elif _is_function(head):
                _add(found, plain, start, partner[at] + 1, at)
                start = at = partner[at] + 1
            else:  # a class or a value: it ends with a semicolon
                at = partner[at] + 1
        else:
            end = partner[at] + 1
            if letter == "(" and _ALONE.fullmatch(plain, start, at + 1) and _is_alone(plain, end):
                _add(found, plain, start, end, at)
                start = end
            at = end
    return found


def macros(text: str) -> dict[str, frozenset[str]]:
    """Return, for each macro in a text, the names in all of its definitions."""
    found: dict[str, frozenset[str]] = {}
    for define in _DEFINE.finditer(text):
        found[define[1]] = found.get(define[1], frozenset()) | frozenset(_NAME.findall(define[2]))
    return found


def _add(found: list[Declaration], plain: str, start: int, end: int, head_end: int) -> None:
    text = plain[start:end]
    if not text.strip(" \n\t;"):
        return
    begin = start + len(text) - len(text.lstrip())
    head = plain[begin:head_end]
    function = _is_function(head)
    names = _names(head, plain[begin:end], function)
    device = _DEVICE.search(_at_top(head)) is not None or (function and re.search(r"\bconstexpr\b", head) is not None)
    found.append(Declaration(begin, end, names, frozenset(_NAME.findall(text)), device or not function, function))


def _is_function(head: str) -> bool:
    """Return whether the text before a body or semicolon is the head of a function."""
    top = _at_top(head)
    if "operator" in top:
        return True
    if "=" in top or re.match(r"\s*(?:using|typedef|static_assert|_Static_assert)\b", top) or "(" not in top:
        return False
    return not _CLASS.match(top) or re.search(r"\w\s*\(", _without_class(top)) is not None


def _without_class(top: str) -> str:
    return re.sub(r"^\s*(?:typedef\s+)?(?:struct|class|union|enum)\b\s*(?:class\b)?", "", top)


@lru_cache(maxsize=8)  # several questions about one declaration
def _at_top(head: str) -> str:
    """Return a head without its template parameters and attributes, and with empty brackets."""
    head = _without_template(head)
    out: list[str] = []
    at = 0
    while part := _ATTRIBUTE_OR_BRACKET.search(head, at):
        out.append(head[at : part.start()])
        end = _closing(head, part.end() - 1)
        if part[0] in _OPEN:
            out.append(part[0] + head[end : end + 1])
        at = end + 1
    return "".join([*out, head[at:]])


def _without_template(head: str) -> str:
    template = _TEMPLATE.match(head)
    while template:
        depth, at = 1, template.end()
        while at < len(head) and depth:
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
        head = head[at:]
        template = _TEMPLATE.match(head)
    return head


def _names(head: str, whole: str, function: bool) -> frozenset[str]:
    top = _at_top(head)
    if function:
        operator = frozenset({"operator"}) if "operator" in top else frozenset()
        return frozenset(re.findall(r"([A-Za-z_]\w*)\s*(?:<[^()]*>)?\s*\(", top)) | operator
    if pointer := _POINTER_TYPE.match(whole):
        return frozenset({pointer[1]})
    kind = re.match(r"\s*(?:typedef\s+)?(struct|class|union|enum)\b", top)
    if kind or re.match(r"\s*typedef\b", top):
        body = _without_template(whole)
        body = body if kind and kind[1] == "enum" else re.sub(r"\{.*\}", " ", body, flags=re.DOTALL)
        # A word of the language, or a parameter of the template, is not declared here: other code uses them, too.
        return frozenset(_NAME.findall(body)) - _WORDS
    found = re.findall(r"([A-Za-z_]\w*)\s*(?:<[^;]*>\s*)?(?:=|\[|\{|;|,|\()", _without_template(whole))
    return frozenset(found) - _WORDS


def _is_alone(plain: str, end: int) -> bool:
    """Return whether the code after a bracket is on another line and begins a new declaration."""
    behind = re.compile(r"[ \t]*\n\s*(?=[A-Za-z_])").match(plain, end)
    return behind is not None


def _closing(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in _OPEN else -1
        if depth == 0:
            return bracket.start()
    return len(text)


def _partners(plain: str) -> dict[int, int] | None:
    """Return the position of the closing bracket for each opening bracket; None where brackets do not match.

    A body may have a bracket too few or too many, while its curly brackets match: it is then still one body.
    """
    found: dict[int, int] = {}
    waiting: list[int] = []
    for bracket in _BRACKET.finditer(plain):
        if bracket[0] in _OPEN:
            waiting.append(bracket.start())
            continue
        innermost = plain[waiting[-1]] if waiting else ""
        if bracket[0] == "}" and innermost in ("(", "[") and any(plain[one] == "{" for one in waiting):
            while plain[waiting[-1]] != "{":
                found[waiting.pop()] = bracket.start() - 1
        elif bracket[0] != "}" and innermost == "{":
            continue
        if not waiting or _OPEN.index(plain[waiting[-1]]) != _CLOSE.index(bracket[0]):
            return None
        found[waiting.pop()] = bracket.start()
    return None if waiting else found
