"""How somebody likes the window to be: language, theme, size of type, calm; kept in a file between two starts."""

import json
import locale
import os
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from gemmviz.language import LANGUAGES

if TYPE_CHECKING:
    from gemmviz.session.state import Session

_THEMES = ("dark", "light")


def file() -> Path:
    """Return the path of the user's preferences; it need not exist."""
    return Path(platformdirs.user_config_dir("gemmviz", appauthor=False)) / "preferences.json"


def restore(session: "Session", theme: str | None = None, language: str | None = None) -> None:
    """Let a session be as it was liked last.

    Parameters
    ----------
    session
        What to change.
    theme, language
        What the command line says for this start, or None. At the first start the language is the system's, if it is
        one of ours.
    """
    kept = _read()
    theme = theme or _one_of(kept.get("theme"), _THEMES)
    session.speak(language or _one_of(kept.get("language"), LANGUAGES) or system_language(os.environ))
    if theme is not None and theme != session.theme:
        session.set_theme(theme)
    scale = kept.get("type_scale")
    if isinstance(scale, (int, float)) and not isinstance(scale, bool):
        session.set_type_scale(float(scale))
    if isinstance(kept.get("calm"), bool):
        session.set_calm(bool(kept["calm"]))


def remember(session: "Session") -> None:
    """Keep from now on what is changed."""

    def write() -> None:
        _write(session)

    session.themed.connect(write)
    session.spoken.connect(write)


def system_language(environ: Mapping[str, str]) -> str:
    """Return the code of the system's language if it is one of ours, else English."""
    said = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    said = said or locale.getlocale()[0] or ""
    code = said.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"


def _one_of(value: object, allowed: Container[str]) -> str | None:
    return value if isinstance(value, str) and value in allowed else None


def _read() -> dict[str, object]:
    # A preference that cannot be read is none: the window opens as it would for the first time.
    with suppress(OSError, ValueError):
        kept = json.loads(file().read_text(encoding="utf-8"))
        if isinstance(kept, dict):
            return kept
    return {}


def _write(session: "Session") -> None:
    plain = {
        "language": session.language,
        "theme": session.theme,
        "type_scale": session.type_scale,
        "calm": session.calm,
    }
    # Where nothing can be kept the window works as well: it says so to nobody, at every change of colours.
    with suppress(OSError):
        file().parent.mkdir(parents=True, exist_ok=True)
        part = file().with_suffix(".part")
        part.write_text(json.dumps(plain, indent=1), encoding="utf-8")
        part.replace(file())
