"""Kernel files without code: the code is another file's, for example for another element type."""

import re
import tomllib
from pathlib import Path

from gemmviz.catalogue import switches
from gemmviz.catalogue.errors import FrontMatterError
from gemmviz.catalogue.front_matter import FENCE
from gemmviz.catalogue.user_file import UnreadableFile, read_source
from gemmviz.language import tr

KEY = "code_of"
# A key with its value; the text up to the next key belongs to the value.
_ENTRY = re.compile(
    r"^// ?(?P<key>[A-Za-z_][\w.-]*)[ \t]*=.*\n(?:(?!// ?[A-Za-z_][\w.-]*[ \t]*=)//.*\n)*", re.MULTILINE
)


def has_code() -> FrontMatterError:
    """Return the error about a file that names another one as its code, and has code."""
    return FrontMatterError(tr("{key} is for a file that has no code of its own", key=KEY), about=KEY)


def whole(text: str, path: Path) -> str:
    """Return a kernel file's text; where its front matter names another file as its code, both as one text.

    Keys that the front matter leaves out are as in the other file. Declared changes are the file's own only. The text
    returned is like that of any kernel: it names no other file.

    Parameters
    ----------
    text
        The content of the file.
    path
        The file's place; the other file is in the same folder.

    Raises
    ------
    FrontMatterError
        When there is no such file, it has no front matter, or its code is another file's, too.
    """
    fence = FENCE.search(text)
    # Few files have it, and every file of the ladder is tested.
    entries = _entries(fence["body"]) if fence and KEY in fence["body"] else {}
    if KEY not in entries:
        return text
    line = text[: text.index(entries[KEY])].count("\n") + 1
    try:
        return _joined(text, entries, path)
    except FrontMatterError as error:
        raise FrontMatterError(f"{path.name}:{line}: {error}", line) from None


def _joined(text: str, entries: dict[str, str], path: Path) -> str:
    fence, (start, end) = FENCE.search(text), switches.block(text)
    assert fence is not None
    if text[: fence.start()].strip() or text[fence.end() : start].strip() or text[end:].strip():
        raise has_code()
    name = _name(entries.pop(KEY))
    try:
        other = read_source(path.parent / name)
    except (OSError, UnreadableFile):
        text = tr("{key} names {file}, which is no file in the same folder that can be read", key=KEY, file=repr(name))
        raise FrontMatterError(text, about=KEY) from None
    its = FENCE.search(other)
    its_entries = _entries(its["body"]) if its else {}
    if its is None or KEY in its_entries:
        text = tr("{key} names {file}, which has no front matter, or no code", key=KEY, file=repr(name))
        raise FrontMatterError(text, about=KEY)
    matter = "".join((its_entries | entries).values())
    code = other[its.end() : switches.block(other)[0]]
    return f"{other[: its.start()]}// ---gemmviz\n{matter}// ---{code}{text[start:end]}"


def _entries(body: str) -> dict[str, str]:
    """Return the text of each key with its value, in their order."""
    return {found["key"]: found[0] for found in _ENTRY.finditer(body)}


def _name(entry: str) -> str:
    try:
        name = tomllib.loads(re.sub(r"^// ?", "", entry, flags=re.MULTILINE))[KEY]
    except tomllib.TOMLDecodeError:
        name = None
    if not isinstance(name, str) or not name or Path(name).name != name:
        text = tr(
            "{key} must be the name of a file in the same folder, for example {example}",
            key=KEY,
            example=f'{KEY} = "67_my.cu"',
        )
        raise FrontMatterError(text, about=KEY)
    return name


def read(path: Path) -> str:
    """Return the text of a kernel file: with the code of another file if it names one (``code_of``).

    Raises
    ------
    FrontMatterError
        When its code cannot be found.
    OSError, UnreadableFile
        When the file cannot be read.
    """
    return whole(read_source(path), path)
