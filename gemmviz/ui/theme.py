"""Colours of the window and of the stage: a dark theme, and a light one that a projector does not wash out."""

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """Colours by what they mean. Blue and amber are kept for reads and writes; owners have other hues (Okabe-Ito)."""

    name: str
    background: str
    panel: str
    raised: str
    border: str
    text: str
    muted: str
    faint: str
    accent: str
    read: str
    write: str
    good: str
    bad: str
    warn: str
    cell: Rgb
    grid: str
    selection: str
    ink_light: str
    ink_dark: str
    owners: tuple[Rgb, ...]
    pygments: str

    def owner(self, x: int, y: int) -> Rgb:
        """Return the hue of the block at (x, y) of the grid; neighbours differ."""
        return self.owners[(x + 3 * y) % len(self.owners)]


DARK = Theme(
    "dark", "#111111", "#181818", "#242424", "#3a3a3a", "#f0f0f0", "#b4b4b4", "#858585", "#56b4e9",
    "#56b4e9", "#ffb000", "#2fc79a", "#ff7a5c", "#f0e442",
    (44, 44, 48), "#111111", "#ffffff", "#f4f4f4", "#0c0c0c",
    ((0, 158, 115), (204, 121, 167), (190, 62, 72), (184, 174, 40), (110, 120, 215), (150, 110, 80)),
    "monokai",
)
LIGHT = Theme(
    "light", "#ffffff", "#f6f6f6", "#e8e8e8", "#8a8a8a", "#000000", "#404040", "#6a6a6a", "#005a9e",
    "#0072b2", "#c25e00", "#00664a", "#b3261e", "#7a5c00",
    (226, 226, 230), "#ffffff", "#000000", "#ffffff", "#000000",
    ((64, 178, 140), (214, 140, 180), (230, 128, 132), (196, 184, 60), (140, 150, 226), (178, 146, 118)),
    "default",
)
THEMES = {t.name: t for t in (DARK, LIGHT)}


def rgb(colour: str) -> Rgb:
    """Return (red, green, blue) of ``"#rrggbb"``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ink(theme: Theme, background: Rgb) -> str:
    """Return the text colour that reads better on a background (relative luminance as in WCAG 2)."""
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in background]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return theme.ink_dark if luminance > 0.18 else theme.ink_light


def palette(theme: Theme) -> QPalette:
    """Return Qt's palette of a theme."""
    result = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, theme.panel), (roles.Base, theme.background), (roles.AlternateBase, theme.raised),
        (roles.Button, theme.raised), (roles.WindowText, theme.text), (roles.Text, theme.text),
        (roles.ButtonText, theme.text), (roles.BrightText, theme.text), (roles.ToolTipBase, theme.raised),
        (roles.ToolTipText, theme.text), (roles.PlaceholderText, theme.muted), (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.background), (roles.Link, theme.accent), (roles.Mid, theme.border),
        (roles.Light, theme.raised), (roles.Dark, theme.border), (roles.Midlight, theme.raised),
        (roles.Shadow, theme.border),
    ):
        result.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.faint))
    return result


def style_sheet(theme: Theme) -> str:
    """Return the style sheet of a theme: flat, with visible focus."""
    t = theme
    return f"""
    QWidget {{ font-size: 9.5pt; }}
    QMainWindow, QSplitter {{ background: {t.panel}; }}
    QSplitter::handle {{ background: {t.border}; }}
    QLabel#heading {{ color: {t.muted}; font-weight: bold; padding: 4px 8px; }}
    QLabel#muted {{ color: {t.muted}; }}
    QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border};
        border-radius: 4px; padding: 3px 9px; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.accent}; }}
    QPushButton:focus, QToolButton:focus, QComboBox:focus, QSpinBox:focus {{ border-color: {t.accent}; }}
    QPushButton:pressed, QToolButton:pressed, QToolButton:checked {{ background: {t.accent}; color: {t.background}; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.muted}; border-color: {t.raised}; }}
    QPushButton#primary {{ background: {t.accent}; color: {t.background}; font-weight: bold; }}
    QPushButton#primary:disabled {{ background: {t.raised}; color: {t.muted}; }}
    QSpinBox, QComboBox {{ background: {t.background}; color: {t.text}; border: 1px solid {t.border};
        border-radius: 4px; padding: 2px 4px; min-height: 18px; }}
    QComboBox QAbstractItemView {{ background: {t.background}; color: {t.text};
        selection-background-color: {t.accent}; selection-color: {t.background}; }}
    QListWidget, QTableView, QPlainTextEdit {{ background: {t.background}; color: {t.text}; border: none; }}
    QHeaderView::section {{ background: {t.panel}; color: {t.muted}; border: none; padding: 2px 5px; }}
    QTableView {{ gridline-color: {t.raised}; }}
    QTabWidget::pane {{ border: none; }}
    QTabBar::tab {{ background: {t.panel}; color: {t.muted}; padding: 4px 10px; border: none;
        border-bottom: 2px solid {t.panel}; }}
    QTabBar::tab:selected {{ color: {t.text}; border-bottom: 2px solid {t.accent}; }}
    QProgressBar {{ background: {t.background}; border: 1px solid {t.border}; border-radius: 4px;
        text-align: center; color: {t.text}; min-height: 18px; }}
    QProgressBar::chunk {{ background: {t.border}; border-radius: 3px; }}
    QMenuBar, QMenu {{ background: {t.panel}; color: {t.text}; }}
    QMenuBar::item:selected, QMenu::item:selected {{ background: {t.accent}; color: {t.background}; }}
    QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border}; }}
    QFrame#message {{ border-radius: 4px; border: 1px solid {t.border}; background: {t.raised}; }}
    QFrame#message[kind="error"] {{ border-color: {t.bad}; }}
    QFrame#message[kind="warning"] {{ border-color: {t.warn}; }}
    """
