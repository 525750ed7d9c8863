"""The style of widgets in a theme, at a size of type; and that size for widgets with their own fonts."""

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QComboBox, QSizePolicy

from gemmviz import data
from gemmviz.ui.known import qt
from gemmviz.ui.look.theme import Theme

TYPE_PT = 9.5
"""Size of the window's type in points, at a scale of 1."""
NARROWED = 88
"""Width of letters that save room, in percent."""
_SCALE = "gemmviz_type_scale"
_SMALLEST = 6  # pixels


def set_scale(scale: float) -> None:
    """Let `scaled` return sizes for this scale from now on."""
    qt().setProperty(_SCALE, scale)


def scaled(size: float) -> float:
    """Return a size, in points or pixels, as large as the user wants type to be."""
    return size * (qt().property(_SCALE) or 1.0)


def letters_wide(box: QComboBox, letters: int) -> None:
    """Let a box be as wide as so many letters, at any size of type, whatever its entries are."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
    box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


def larger(font: QFont, factor: float) -> QFont:
    """Return a font whose size, in pixels or in points as it is given, is `factor` times as large."""
    made = QFont(font)
    if font.pixelSize() > 0:
        made.setPixelSize(max(round(font.pixelSize() * factor), _SMALLEST))
    else:
        made.setPointSizeF(font.pointSizeF() * factor)
    return made


def style_sheet(theme: Theme, scale: float = 1.0) -> str:
    """Return the style sheet of a theme: flat, with visible focus, its type `scale` times as large as usual."""
    t = theme
    box, line, menu = round(13 * scale), round(18 * scale), round(8 * scale)
    icons = data.root("resources") / "icons"
    tick, down, up = ((icons / f"{name}-{t.name}.svg").as_posix() for name in ("check", "down", "up"))
    return f"""
    QWidget {{ font-size: {TYPE_PT * scale:.2f}pt; }}
    QMainWindow, QSplitter {{ background: {t.panel}; }}
    QSplitter::handle {{ background: {t.border}; }}
    QLabel#heading {{ color: {t.muted}; font-weight: bold; padding: 4px 8px; }}
    QTabWidget > QLabel#heading {{ padding: 0px 8px 4px 8px; }}
    Head > QLabel#heading {{ padding: 0px 8px; }}
    QLabel#muted {{ color: {t.muted}; }}
    QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.outline};
        border-radius: 4px; padding: 3px 9px; }}
    QTabBar QToolButton {{ padding: 0px; }}
    QToolButton#slim {{ padding: 1px 8px; }}
    QPushButton#found, QPushButton#found:pressed {{ background: {t.panel}; color: {t.text};
        border: 2px solid transparent; border-radius: 0px; font-weight: bold; text-align: left; padding: 5px 8px; }}
    QPushButton#found:focus {{ border: 2px solid {t.text}; }}
    QFrame#popover {{ background: {t.panel}; border: 1px solid {t.outline}; border-radius: 6px; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.accent}; }}
    QComboBox:focus, QSpinBox:focus, QLineEdit:focus {{ border: 2px solid {t.text}; padding: 1px 3px; }}
    QPushButton:pressed, QToolButton:pressed {{ background: {t.accent}; color: {t.background}; }}
    QToolButton:checked {{ background: {t.background}; color: {t.accent}; border-color: {t.accent};
        font-weight: bold; }}
    QToolButton:focus, QPushButton:focus, QCheckBox:focus, QRadioButton:focus {{ border: 2px solid {t.text}; }}
    QCheckBox {{ border: 2px solid transparent; border-radius: 4px; spacing: 6px; }}
    QCheckBox::indicator, QTreeWidget::indicator {{ width: {box}px; height: {box}px;
        border: 1px solid {t.muted}; border-radius: 3px; background: {t.background}; }}
    QCheckBox::indicator:checked, QTreeWidget::indicator:checked {{ background: {t.accent};
        border-color: {t.accent}; image: url("{tick}"); }}
    QListView, QTreeView, QTableView, QTextEdit, QPlainTextEdit, QGraphicsView, QScrollArea {{
        border: 2px solid transparent; }}
    QListView:focus, QTreeView:focus, QTableView:focus, QTextEdit:focus, QPlainTextEdit:focus, QGraphicsView:focus,
    QTabBar:focus, QSlider:focus, QScrollArea:focus {{ border: 2px solid {t.text}; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.muted}; border-color: {t.raised}; }}
    QPushButton#primary {{ background: {t.accent}; color: {t.background}; font-weight: bold; }}
    QPushButton#primary:disabled {{ background: {t.raised}; color: {t.muted}; }}
    QSpinBox, QComboBox, QLineEdit {{ background: {t.background}; color: {t.text}; border: 1px solid {t.outline};
        border-radius: 4px; padding: 2px 4px; min-height: {line}px; }}
    QComboBox::drop-down {{ border: none; width: {line}px; }}
    QComboBox::down-arrow, QSpinBox::down-arrow {{ image: url("{down}"); width: {box}px; height: {box}px; }}
    QToolButton::menu-indicator {{ image: url("{down}"); width: {box}px; height: {box}px;
        subcontrol-position: right center; right: 3px; }}
    QToolButton[popupMode="2"] {{ padding-right: {line}px; }}
    QSpinBox::up-arrow {{ image: url("{up}"); width: {box}px; height: {box}px; }}
    QSpinBox::up-button, QSpinBox::down-button {{ border: none; width: {line}px; }}
    QComboBox QAbstractItemView {{ background: {t.background}; color: {t.text};
        selection-background-color: {t.accent}; selection-color: {t.background}; }}
    QListView, QTreeView, QTableView, QTextEdit, QPlainTextEdit {{ background: {t.background}; color: {t.text}; }}
    QHeaderView::section {{ background: {t.panel}; color: {t.muted}; border: none; padding: 2px 5px; }}
    QTableView {{ gridline-color: {t.raised}; }}
    QTabWidget[narrow="true"] QTabBar::tab {{ padding: 2px 1px 4px; font-size: {TYPE_PT * 0.92 * scale:.2f}pt; }}
    QTabWidget::pane {{ border: none; }}
    QTabBar {{ qproperty-drawBase: 0; }}
    QTabBar::tab {{ background: {t.panel}; color: {t.muted}; padding: 2px 8px 4px;
        border: 2px solid {t.panel}; }}
    QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
    QTabBar::tab:selected:focus {{ border-color: {t.text}; }}
    QProgressBar {{ background: {t.background}; border: 1px solid {t.border}; border-radius: 4px;
        text-align: center; color: {t.text}; min-height: {line}px; }}
    QProgressBar::chunk {{ background: {t.border}; border-radius: 3px; }}
    QMenuBar, QMenu {{ background: {t.panel}; color: {t.text}; }}
    QMenuBar::item {{ padding: {menu}px {menu}px; background: transparent; }}
    QMenuBar::item:selected, QMenu::item:selected {{ background: {t.accent}; color: {t.background}; }}
    QMenu::item:disabled {{ color: {t.muted}; }}
    QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.border}; }}
    QFrame#mine {{ border: 1px solid {t.border}; border-radius: 4px; }}
    QFrame#mine QLabel {{ border: 0; }}
    QFrame#question {{ background: {t.background}; color: {t.text}; }}
    QFrame#question QLabel#title {{ font-size: {TYPE_PT * 1.5 * scale:.2f}pt; font-weight: bold; }}
    QFrame#message {{ border-radius: 4px; border: 1px solid {t.border}; background: {t.raised}; }}
    QFrame#message[kind="error"] {{ border-color: {t.bad}; }}
    QFrame#message[kind="warning"] {{ border-color: {t.warn}; }}
    """
