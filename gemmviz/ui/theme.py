"""Colours of the window and of the stage: a dark theme, and a light one that a projector does not wash out."""

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

from gemmviz import data

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
    text="#f0f0f0",
    muted="#b4b4b4",
    faint="#858585",
    accent="#56b4e9",
    read="#56b4e9",
    write="#ffb000",
    good="#2fc79a",
    bad="#ff7a5c",
    warn="#f0e442",
    cell=(44, 44, 48),
    grid="#111111",
    selection="#ffffff",
    ink_light="#f4f4f4",
    ink_dark="#0c0c0c",
    owners=((0, 158, 115), (204, 121, 167), (190, 62, 72), (184, 174, 40), (110, 120, 215), (150, 110, 80)),
    curves=("#56b4e9", "#e69f00", "#2fc79a", "#f0e442", "#cc79a7", "#ff7a5c", "#b9a5ff", "#d0d0d0"),
    pygments="monokai",
)
LIGHT = Theme(
    name="light",
    background="#ffffff",
    panel="#f6f6f6",
    raised="#e8e8e8",
    border="#8a8a8a",
    text="#000000",
    muted="#404040",
    faint="#6a6a6a",
    accent="#005a9e",
    read="#0072b2",
    write="#c25e00",
    good="#00664a",
    bad="#b3261e",
    warn="#7a5c00",
    cell=(226, 226, 230),
    grid="#ffffff",
    selection="#000000",
    ink_light="#ffffff",
    ink_dark="#000000",
    owners=((64, 178, 140), (214, 140, 180), (230, 128, 132), (196, 184, 60), (140, 150, 226), (178, 146, 118)),
    curves=("#0072b2", "#a85200", "#00664a", "#7a5c00", "#a3387a", "#b3261e", "#5b3fb0", "#404040"),
    pygments="default",
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


def style_sheet(theme: Theme) -> str:
    """Return the style sheet of a theme: flat, with visible focus."""
    t = theme
    tick = (data.root("resources") / "icons" / f"check-{t.name}.svg").as_posix()
    return f"""
    QWidget {{ font-size: 9.5pt; }}
    QMainWindow, QSplitter {{ background: {t.panel}; }}
    QSplitter::handle {{ background: {t.border}; }}
    QLabel#heading {{ color: {t.muted}; font-weight: bold; padding: 4px 8px; }}
    QLabel#muted {{ color: {t.muted}; }}
    QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border};
        border-radius: 4px; padding: 3px 9px; }}
    QTabBar QToolButton {{ padding: 0px; }}
    QToolButton#slim {{ padding: 1px 8px; }}
    QPushButton#fold, QPushButton#fold:pressed {{ background: {t.panel}; color: {t.muted};
        border: 2px solid transparent; font-weight: bold; text-align: left; padding: 2px 4px; }}
    QPushButton#fold:focus {{ border: 2px solid {t.text}; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.accent}; }}
    QComboBox:focus, QSpinBox:focus {{ border: 2px solid {t.text}; padding: 1px 3px; }}
    QPushButton:pressed, QToolButton:pressed {{ background: {t.accent}; color: {t.background}; }}
    QToolButton:checked {{ background: {t.background}; color: {t.accent}; border-color: {t.accent};
        font-weight: bold; }}
    QToolButton:focus, QPushButton:focus, QCheckBox:focus {{ border: 2px solid {t.text}; }}
    QCheckBox {{ border: 2px solid transparent; border-radius: 4px; spacing: 6px; }}
    QCheckBox::indicator, QTreeWidget::indicator {{ width: 13px; height: 13px;
        border: 1px solid {t.muted}; border-radius: 3px; background: {t.background}; }}
    QCheckBox::indicator:checked, QTreeWidget::indicator:checked {{ background: {t.accent};
        border-color: {t.accent}; image: url("{tick}"); }}
    QListWidget, QTreeWidget, QPlainTextEdit {{ border: 2px solid transparent; }}
    QListWidget:focus, QTreeWidget:focus, QPlainTextEdit:focus {{ border: 2px solid {t.text}; }}
    QTabBar:focus {{ border: 2px solid {t.text}; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.muted}; border-color: {t.raised}; }}
    QPushButton#primary {{ background: {t.accent}; color: {t.background}; font-weight: bold; }}
    QPushButton#primary:disabled {{ background: {t.raised}; color: {t.muted}; }}
    QSpinBox, QComboBox {{ background: {t.background}; color: {t.text}; border: 1px solid {t.border};
        border-radius: 4px; padding: 2px 4px; min-height: 18px; }}
    QComboBox QAbstractItemView {{ background: {t.background}; color: {t.text};
        selection-background-color: {t.accent}; selection-color: {t.background}; }}
    QListWidget, QTreeWidget, QTableView, QPlainTextEdit {{ background: {t.background}; color: {t.text}; }}
    QTableView {{ border: none; }}
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
