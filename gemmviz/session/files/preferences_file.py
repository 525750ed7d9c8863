"""Keeps the user's preferences in a file."""

import json
import locale
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypedDict

import platformdirs
from msgspec import Meta, to_builtins

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Unread
from gemmviz.catalogue.typed_reading import Finite, read_parts
from gemmviz.catalogue.user_file import PREFERENCES_BYTES, parse_json, quoted, read_text, write_text
from gemmviz.cluster.piece import Scheduler
from gemmviz.language import LANGUAGES, Language, tr
from gemmviz.session.models.preferences import Preferences, ThemeName


class _Kept(TypedDict, total=False):
    language: Language
    theme: ThemeName
    type_scale: Finite  # a value outside the limits becomes the nearest limit
    calm: bool
    doors: bool
    last_kernel: Annotated[str, Meta(max_length=200)]
    last_file: Annotated[str, Meta(max_length=4096)]
    cluster: Scheduler | None
    finished: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=10_000)]  # lessons, by kernel


def file() -> Path:
    """Return the path of the user's preferences; it need not exist."""
    return Path(platformdirs.user_config_dir("gemmviz", appauthor=False)) / "preferences.json"


def restore(preferences: Preferences, theme: ThemeName | None = None, language: str | None = None) -> list[str]:
    """Restore the preferences of the last start; whatever the file contains, the window can start.

    Parameters
    ----------
    preferences
        The preferences to change.
    theme, language
        The values of the command line for this start, or None. At the first start the language is that of the system,
        if gemmviz has it.

    Returns
    -------
    list
        A sentence for each preference that cannot be used; its default is used instead.
    """
    kept, unreadable = _read()
    good, bad = read_parts(kept, _Kept)
    theme = theme or good.get("theme")
    preferences.speak(language or good.get("language") or system_language(os.environ))
    if theme is not None and theme != preferences.theme:
        preferences.set_theme(theme)
    if "type_scale" in good:
        preferences.set_type_scale(good["type_scale"])
    if "calm" in good:
        preferences.set_calm(good["calm"])
    if "doors" in good:
        preferences.show_doors(good["doors"])
    preferences.note_kernel(good.get("last_kernel", ""), good.get("last_file", ""))
    preferences.note_cluster(good.get("cluster"))
    preferences.finish(*good.get("finished", []))
    problems = [tr("{key} cannot be {value}", key=key, value=quoted(kept[key])) for key in bad]
    problems += [unreadable] if unreadable else []
    return [tr("Your preferences ({file}): {what}. It is left out.", file=file(), what=what) for what in problems]


def remember(preferences: Preferences) -> None:
    """Keep every change from now on."""

    def write() -> None:
        _write(preferences)

    preferences.themed.connect(write)
    preferences.spoken.connect(write)
    preferences.learned.connect(write)


def system_language(environ: Mapping[str, str]) -> str:
    """Return the code of the system's language if it is one of ours, else English."""
    locale_name = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    locale_name = locale_name or locale.getlocale()[0] or ""
    code = locale_name.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"


def _read() -> tuple[Unread, str]:
    """Return the kept preferences, and the reason if they cannot be read; a missing file is not a fault."""
    try:
        kept = parse_json(read_text(file(), PREFERENCES_BYTES))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, GemmvizError) as error:
        return {}, str(error)
    return (kept, "") if isinstance(kept, dict) else ({}, tr("this is not a table"))


def _write(preferences: Preferences) -> None:
    plain: _Kept = {
        "language": preferences.language,
        "theme": preferences.theme,
        "type_scale": preferences.type_scale,
        "calm": preferences.calm,
        "doors": preferences.doors,
        "last_kernel": preferences.last_kernel,
        "last_file": preferences.last_file,
        "cluster": preferences.cluster,
        "finished": sorted(preferences.finished),
    }
    # The window works without the file, too: there is no message at every change of colours.
    with suppress(OSError, GemmvizError):
        file().parent.mkdir(parents=True, exist_ok=True)
        write_text(file(), json.dumps(to_builtins(plain), indent=1))
