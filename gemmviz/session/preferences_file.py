"""Keeps in a file, between two starts, how somebody likes the window to be."""

import json
import locale
import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import platformdirs

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Plain
from gemmviz.catalogue.user_file import PREFERENCES_BYTES, parse_json, quoted, read_text, write_text
from gemmviz.language import LANGUAGES, tr
from gemmviz.session.preferences import Preferences

_THEMES = ("dark", "light")
_GOOD: Mapping[str, Callable[[object], bool]] = {
    "language": lambda value: isinstance(value, str) and value in LANGUAGES,
    "theme": lambda value: isinstance(value, str) and value in _THEMES,
    "type_scale": lambda value: _is_finite(value),
    "calm": lambda value: isinstance(value, bool),
}


def file() -> Path:
    """Return the path of the user's preferences; it need not exist."""
    return Path(platformdirs.user_config_dir("gemmviz", appauthor=False)) / "preferences.json"


def restore(preferences: Preferences, theme: str | None = None, language: str | None = None) -> list[str]:
    """Let everything be shown as it was liked last; whatever the file holds, the window can start.

    Parameters
    ----------
    preferences
        What to change.
    theme, language
        What the command line says for this start, or None. At the first start the language is the system's, if it is
        one of ours.

    Returns
    -------
    list
        A sentence for each preference that cannot be used, which is then as at the first start.
    """
    kept, unreadable = _read()
    bad = [key for key in kept if key in _GOOD and not _GOOD[key](kept[key])]
    good: Plain = {key: value for key, value in kept.items() if key in _GOOD and key not in bad}
    theme = theme or good.get("theme")
    preferences.speak(language or good.get("language") or system_language(os.environ))
    if theme is not None and theme != preferences.theme:
        preferences.set_theme(theme)
    if "type_scale" in good:
        preferences.set_type_scale(float(good["type_scale"]))
    if "calm" in good:
        preferences.set_calm(good["calm"])
    said = [tr("{key} cannot be {value}", key=key, value=quoted(kept[key])) for key in bad]
    said += [unreadable] if unreadable else []
    return [tr("Your preferences ({file}): {what}. It is left out.", file=file(), what=what) for what in said]


def remember(preferences: Preferences) -> None:
    """Keep from now on what is changed."""

    def write() -> None:
        _write(preferences)

    preferences.themed.connect(write)
    preferences.spoken.connect(write)


def system_language(environ: Mapping[str, str]) -> str:
    """Return the code of the system's language if it is one of ours, else English."""
    said = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    said = said or locale.getlocale()[0] or ""
    code = said.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _read() -> tuple[dict[str, object], str]:
    """Return what is kept, and why nothing of it can be read; that there is nothing yet is no fault."""
    try:
        kept = parse_json(read_text(file(), PREFERENCES_BYTES))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, GemmvizError) as error:
        return {}, str(error)
    return (kept, "") if isinstance(kept, dict) else ({}, tr("this is no table"))


def _write(preferences: Preferences) -> None:
    plain = {
        "language": preferences.language,
        "theme": preferences.theme,
        "type_scale": preferences.type_scale,
        "calm": preferences.calm,
    }
    # Where nothing can be kept the window works as well: it says so to nobody, at every change of colours.
    with suppress(OSError, GemmvizError):
        file().parent.mkdir(parents=True, exist_ok=True)
        write_text(file(), json.dumps(plain, indent=1))
