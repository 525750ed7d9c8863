"""Encodings and line ends of sources: UTF-8, UTF-16 with a byte order mark, GBK for Chinese, Latin-1 as on Windows."""

import codecs
import re
from collections.abc import Iterator

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHINESE = "gb18030"  # GBK and GB 2312 are parts of it
_LATIN = "cp1252"
# It has a letter for each byte: a file may have comments in two encodings, and its code is ASCII.
_ANY = "iso8859-1"
# A common Chinese character has two bytes above 0xA0; in Latin-1 a letter with an accent mostly stands alone.
_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+")
_HIGH = re.compile(rb"[\x80-\xff]")
_LEAST_IN_PAIRS = 0.9
# Control characters that no source has. Most of a source is ASCII, whatever its comments are written in.
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LEAST_ASCII = 0.3


def decoded(raw: bytes) -> tuple[str, str] | None:
    """Return the text of a source, without a byte order mark, and the name of its encoding; None where it is no text.

    Parameters
    ----------
    raw
        The bytes of the file.
    """
    marked = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), "")
    for name in [marked] if marked else _likely(raw):
        try:
            text = raw.decode(name)
        except UnicodeDecodeError:
            continue
        if name in ("utf-8", "utf-8-sig") or _is_source(text):
            return text, name
    return None


def encoded(text: str, old: bytes) -> bytes:
    """Return a text in the encoding of the file that it replaces; in UTF-8 where that has no such character.

    If all lines of that file end as on Windows, so do the new ones.

    Parameters
    ----------
    text
        The new text.
    old
        The bytes of the file so far.
    """
    found = decoded(old)
    ends = found[0].count("\n") if found else 0
    if found and ends and found[0].count("\r\n") == ends:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    try:
        return text.encode(found[1] if found else "utf-8")
    except UnicodeEncodeError:
        return text.encode()


def _is_source(text: str) -> bool:
    return not _NO_TEXT.search(text) and sum(letter < "\x80" for letter in text) > _LEAST_ASCII * len(text)


def _likely(raw: bytes) -> Iterator[str]:
    """Yield the encodings of bytes without a mark, the likeliest first."""
    yield "utf-8"  # nearly every source: the others are looked for afterwards
    high = len(_HIGH.findall(raw))
    if high and sum(len(run) for run in _PAIRS.findall(raw)) >= _LEAST_IN_PAIRS * high:
        yield _CHINESE
    yield _LATIN
    yield _ANY
