"""Colours of the window and of the stage: a dark theme, and a light one that a projector does not wash out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from PySide6.QtGui import QColor, QPalette

Rgb = tuple[int, int, int]
TEXT_COLOURS = ("text", "muted", "faint", "accent", "read", "write", "good", "bad", "warn")
"""The fields of a `Theme` that text is written in, on its background, panel and raised surfaces."""
READ, SEEN, PRESENTED = 4.5, 3.0, 7.0
"""The least contrast of text, of graphics, and of text for a lecture hall."""


@dataclass(frozen=True)
class Theme:
    """Colours by their meaning. Blue and amber are kept for reads and writes; owners have other hues (Okabe-Ito).

    `write` is the amber of texts and lines, `amber` that of areas: on white, text needs a darker one.
    """

    name: str
    background: str
    panel: str
    raised: str
    border: str
    outline: str
    text: str
    muted: str
    faint: str
    accent: str
    read: str
    write: str
    amber: str
    good: str
    bad: str
    warn: str
    cell: Rgb
    grid: str
    selection: str
    ink_light: str
    ink_dark: str
    owners: tuple[Rgb, ...]
    curves: tuple[str, ...]
    pygments: str

    def owner(self, x: int, y: int) -> Rgb:
        """Return the hue of the block at (x, y) of the grid; neighbours differ."""
        return self.owners[(x + 3 * y) % len(self.owners)]


DARK = Theme(
    name="dark",
    background="#111111",
    panel="#181818",
    raised="#242424",
    border="#3a3a3a",
    outline="#6e6e6e",
    text="#f0f0f0",
    muted="#b4b4b4",
    faint="#909090",
    accent="#56b4e9",
    read="#56b4e9",
    write="#ffb000",
    amber="#ffb000",
    good="#2fc79a",
    bad="#ff7a5c",
    warn="#f0e442",
    cell=(44, 44, 48),
    grid="#111111",
    selection="#ffffff",
    ink_light="#ffffff",
    ink_dark="#000000",
    owners=((0, 158, 115), (204, 121, 167), (212, 72, 82), (156, 146, 30), (110, 120, 215), (156, 114, 84)),
    curves=("#56b4e9", "#e69f00", "#2fc79a", "#f0e442", "#cc79a7", "#ff7a5c", "#b9a5ff", "#d0d0d0"),
    pygments="monokai",
)
LIGHT = Theme(
    name="light",
    background="#ffffff",
    panel="#f6f6f6",
    raised="#e8e8e8",
    border="#8a8a8a",
    outline="#767676",
    text="#000000",
    muted="#404040",
    faint="#606060",
    accent="#005a9e",
    read="#0066a0",
    write="#a04d00",
    amber="#d97a00",
    good="#00664a",
    bad="#b3261e",
    warn="#7a5c00",
    cell=(226, 226, 230),
    grid="#ffffff",
    selection="#000000",
    ink_light="#ffffff",
    ink_dark="#000000",
    owners=((0, 142, 102), (184, 82, 142), (208, 62, 72), (140, 130, 14), (100, 108, 210), (156, 116, 84)),
    curves=("#0072b2", "#a85200", "#00664a", "#7a5c00", "#a3387a", "#b3261e", "#5b3fb0", "#404040"),
    pygments="default",
)
THEMES = {t.name: t for t in (DARK, LIGHT)}


def rgb(colour: str) -> Rgb:
    """Return (red, green, blue) of ``"#rrggbb"``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: Rgb) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2)."""
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink(theme: Theme, background: Rgb) -> str:
    """Return the text colour that reads better on a background; with black and white it has 4.5:1 on any."""
    # Where the contrasts with black and with white are equal: (L + 0.05)² = 0.05 · 1.05.
    return theme.ink_dark if luminance(background) > 0.179 else theme.ink_light


@cache
def for_presenting(theme: Theme) -> Theme:
    """Return a theme for the back row: every text colour has 7:1 on each background, in the hue that it had.

    The owners' hues are moved, too: the text in an owner's cell has 7:1 at the hue's full strength. Between two states
    of a cell its colour passes through the middle, where no text has more than 4.6:1.
    """
    dark = theme.name == "dark"
    grounds = {"background": "#000000", "panel": "#0a0a0a", "raised": "#1c1c1c"} if dark else {}
    backgrounds = [rgb(grounds.get(name, getattr(theme, name))) for name in ("background", "panel", "raised")]
    end = (255, 255, 255) if dark else (0, 0, 0)

    def reads(colour: Rgb) -> bool:
        return min(contrast(colour, ground) for ground in backgrounds) >= PRESENTED

    texts = {name: _hex(_mixed(rgb(getattr(theme, name)), end, reads)) for name in TEXT_COLOURS}
    return replace(
        theme,
        **grounds,  # type: ignore[arg-type]  # these fields are texts; mypy holds them against all fields
        **texts,  # type: ignore[arg-type]
        grid=grounds.get("background", theme.grid),
        ink_light="#ffffff",
        ink_dark="#000000",
        owners=tuple(
            _mixed(hue, end, lambda c: contrast(c, (0, 0, 0) if dark else (255,) * 3) >= PRESENTED)
            for hue in theme.owners
        ),
        curves=tuple(_hex(_mixed(rgb(curve), end, reads)) for curve in theme.curves),
    )


def _mixed(colour: Rgb, end: Rgb, enough: Callable[[Rgb], bool]) -> Rgb:
    """Return the first colour on the way to `end` that is enough."""
    for share in range(101):
        r, g, b = (round(c + (e - c) * share / 100) for c, e in zip(colour, end, strict=True))
        if enough((r, g, b)):
            return r, g, b
    return end


def _hex(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def palette(theme: Theme) -> QPalette:
    """Return Qt's palette of a theme."""
    result = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, theme.panel),
        (roles.Base, theme.background),
        (roles.AlternateBase, theme.raised),
        (roles.Button, theme.raised),
        (roles.WindowText, theme.text),
        (roles.Text, theme.text),
        (roles.ButtonText, theme.text),
        (roles.BrightText, theme.text),
        (roles.ToolTipBase, theme.raised),
        (roles.ToolTipText, theme.text),
        (roles.PlaceholderText, theme.muted),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.background),
        (roles.Link, theme.accent),
        (roles.Mid, theme.border),
        (roles.Light, theme.raised),
        (roles.Dark, theme.border),
        (roles.Midlight, theme.raised),
        (roles.Shadow, theme.border),
    ):
        result.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.faint))
    return result
