"""Korean particles that depend on the sound before them: a catalogue has both forms, and the value selects one.

``{file}을(를)`` becomes ``main.c를`` or ``블록을``. The form follows the final consonant of the syllable before it.
Digits are read in Sino-Korean, single letters and abbreviations by the names of their letters, and other Latin words by
a rule of thumb for their last letters.
"""

import re
from typing import Literal

Final = Literal["none", "l", "other"]
"""The final consonant of a syllable: ㄹ is a separate case before (으)로."""

# Both forms as in the catalogues: (after a final consonant, after a vowel).
_FORMS = {
    "을(를)": ("을", "를"),
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
}
_BOTH = re.compile("|".join(re.escape(both) for both in _FORMS) + r"|\(이\)(?=[가-힣])")
_CLOSING = ")]}>”’\"'`*"
_FIRST_SYLLABLE, _LAST_SYLLABLE, _FINALS, _RIEUL = 0xAC00, 0xD7A3, 28, 8
_DIGITS: dict[str, Final] = {"0": "other", "1": "l", "3": "other", "6": "other", "7": "l", "8": "l"}
_LETTERS: dict[str, Final] = {"L": "l", "M": "other", "N": "other", "R": "l"}
_WORD = re.compile(r"[A-Za-z]+$")
_ENDS_IN_L = re.compile(r"l[el]?$")
_ENDS_IN_OTHER = re.compile(r"(m[em]?|n[en]?|ng|ck)$")
_TAG = re.compile(r"(</\w+>)+$")


def with_particles(text: str) -> str:
    """Return a Korean text with one form of each particle; if the sound before it is unknown, both forms stay."""
    if "(" not in text:
        return text
    return _BOTH.sub(_chosen, text)


def as_pattern(text: str) -> str:
    """Return a regular expression for a text whose particles may have each of their forms."""
    parts, at = [], 0
    for found in _BOTH.finditer(text):
        forms = _FORMS.get(found[0], ("이", ""))
        parts += [re.escape(text[at : found.start()]), f"(?:{'|'.join(map(re.escape, (found[0], *forms)))})"]
        at = found.end()
    return "".join(parts) + re.escape(text[at:])


def _chosen(found: re.Match[str]) -> str:
    final = final_of(found.string[: found.start()])
    both = found[0]
    if final is None:
        return both
    if both not in _FORMS:  # (이)라고, (이)면
        return "" if final == "none" else "이"
    with_final, without = _FORMS[both]
    return without if final == "none" or (final == "l" and both == "(으)로") else with_final


def final_of(text: str) -> Final | None:
    """Return the final consonant of the last syllable of a text, as it is pronounced; None if that is unknown."""
    text = _TAG.sub("", text).rstrip(_CLOSING)
    last = text[-1:]
    if not last:
        return None
    if _FIRST_SYLLABLE <= ord(last) <= _LAST_SYLLABLE:
        number = (ord(last) - _FIRST_SYLLABLE) % _FINALS
        return "none" if number == 0 else "l" if number == _RIEUL else "other"
    if last in "0123456789":
        return _DIGITS.get(last, "none")
    if last == "%":  # read as 퍼센트
        return "none"
    word = _WORD.search(text)
    if word is None:
        return None
    if len(word[0]) == 1 or word[0].isupper():
        return _LETTERS.get(last.upper(), "none")
    lower = word[0].lower()
    return "l" if _ENDS_IN_L.search(lower) else "other" if _ENDS_IN_OTHER.search(lower) else "none"
