"""Launches in comments: people leave a line out and keep it. They say how a kernel was launched once."""

import re
from collections.abc import Sequence
from dataclasses import replace

from gemmviz.catalogue.guessing import cxx, host_launch
from gemmviz.catalogue.guessing.cxx import Surroundings
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.host.launched import evaluated
from gemmviz.catalogue.guessing.launches import HostLaunch
from gemmviz.catalogue.guessing.tokens import with_whole_launches

_LINE = re.compile(r"^([ \t]*)//+([^\n]*(?:<<<[^\n]*>>>[^\n]*;|\bdim3\s+\w+\s*[({=][^\n]*;)[^\n]*)$", re.MULTILINE)
# The kernel's name and the launch may stand in two lines.
_NAME = re.compile(r"^([ \t]*)//+([ \t]*\w+\s*(?:<[^\n;{}]*>)?[ \t]*)\n[ \t]*//+([^\n]*<<<)", re.MULTILINE)
_BLOCK = re.compile(r"/\*(.*?)\*/", re.DOTALL)
_LINES = re.compile(r"(?:^[ \t]*//[^\n]*\n)*^[ \t]*//[^\n]*<<<(?:[^\n]*\n[ \t]*//)*[^\n]*$", re.MULTILINE)
_VALUE = re.compile(
    r"^([ \t]*)//+([ \t/]*(?:const(?:expr)?\s+)?(?:unsigned(?:\s+int)?|int|size_t|auto|uint\w*)\s+\w+\s*=[^\n;]*;\s*)$",
    re.MULTILINE,
)


def launches_in_comments(text: str, kernel: Function, around: Surroundings | None) -> tuple[HostLaunch, ...]:
    """Return the launches of a kernel that stand in comments; the code may have changed since.

    Parameters
    ----------
    text, around
        The file, and the files around it.
    kernel
        The kernel.
    """
    around = around or Surroundings()
    others = tuple(map(_without_marks, around.others))
    whole = _without_marks(text)
    if (whole, others) == (with_whole_launches(text), tuple(map(with_whole_launches, around.others))):
        return ()
    return _found(whole, replace(around, others=others), kernel)


def values_in_comments(
    text: str, kernel: Function, functions: Sequence[Function], found: Sequence[HostLaunch], around: Surroundings | None
) -> tuple[HostLaunch, ...]:
    """Return the launches of a kernel by templates of the host that only comments use: ``// run<64, 8>,``.

    Parameters
    ----------
    text, kernel, around
        As for `launches_in_comments`.
    functions
        The functions of the file.
    found
        The launches that the code itself makes. Nothing is looked for if one of them has a number for each argument.
    """
    names = [one.name for one in functions if one.template and kernel.name.rpartition("::")[2] in one.body]
    if not names or not found or not all(map(_is_open, found)):
        return ()
    use = rf"(?:\w+\()?(?:{'|'.join(map(re.escape, names))})<[^\n;<>]*\d[^\n;<>]*>(?:\([^\n;]*\))?\)?[,;]?"
    whole = re.sub(rf"^([ \t]*)//+([ \t]*{use}[ \t]*)$", _code, text, flags=re.MULTILINE)
    launches = _found(whole, around or Surroundings(), kernel) if whole != text else ()
    return tuple(one for one in launches if not _is_open(one))


def _is_open(launch: HostLaunch) -> bool:
    """Return whether a launch has a name without a value among the arguments of its template."""
    words = {word for argument in launch.template for word in argument if word.isidentifier()}
    return not words <= launch.constants.keys() | {"true", "false"}


def _found(text: str, around: Surroundings, kernel: Function) -> tuple[HostLaunch, ...]:
    source = cxx.read_source(text, around)
    found = [*evaluated(kernel, source.files, source.structs, source.fields), *host_launch.find(source, kernel)]
    return tuple(replace(one, whole=False, disused=True) for one in found)


def _without_marks(text: str) -> str:
    text = with_whole_launches(text)
    if "<<<" not in text:
        return text
    text = _BLOCK.sub(_statements, text)
    # The values that a launch in a comment needs are defined in the same comment.
    text = _LINES.sub(lambda lines: _VALUE.sub(_code, lines[0]), text)
    return _LINE.sub(_code, _NAME.sub(r"\n\1//\2\3", text))


def _statements(comment: re.Match[str]) -> str:
    """Return what stands in a comment of several lines, if it is whole statements with a launch."""
    inside = comment[1]
    is_code = "<<<" in inside and "/*" not in inside and inside.count("{") == inside.count("}")
    return inside if is_code and inside.rstrip().endswith((";", "}")) else comment[0]


def _code(line: re.Match[str]) -> str:
    return line[1] + line[2].lstrip("/ \t")
