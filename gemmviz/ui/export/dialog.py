"""The dialog that exports steps of the recording: which, how large, in which colours, and how long it will be."""

import weakref
from dataclasses import replace
from math import ceil
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QProgressBar,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.language import mark, tr, trn
from gemmviz.sandbox import owned_folders
from gemmviz.session import Message, Session
from gemmviz.session.atomic_file import atomic_file
from gemmviz.session.models.preferences import ThemeName
from gemmviz.session.values.film import Film, film, trail
from gemmviz.trace.playable import Playable
from gemmviz.ui.connections import listen
from gemmviz.ui.discard import forget_style
from gemmviz.ui.export.films import fitting, kind_of
from gemmviz.ui.export.frames import Frames, Look, draw_svg
from gemmviz.ui.export.job import FilmJob
from gemmviz.ui.known import known
from gemmviz.ui.stage.moment import Moment
from gemmviz.ui.stage.stage import Stage
from gemmviz.ui.stage.view import View

_KINDS = (
    (".gif", mark("GIF: a film for pages and slides")),
    (".mp4", mark("MP4: a film for players, small")),
    (".png", mark("PNG: one step")),
    (".svg", mark("SVG: one step, to be edited and printed")),
)
_SIZES = ("640 × 480", "960 × 720", "1280 × 720", "1920 × 1080", "3840 × 2160")
_THEMES: tuple[tuple[ThemeName, str], ...] = (("dark", mark("dark")), ("light", mark("light")))
_ESTIMATE_AFTER_MS, _ESTIMATED_FRAMES = 400, 16
_FPS = {".gif": (12.5, 20.0, 8.0), ".mp4": (30.0, 60.0)}


class ExportDialog(QDialog):
    """Exports steps of the stage; the window stays usable meanwhile.

    Parameters
    ----------
    parent
        The window.
    session, stage
        The session, and its stage.
    """

    def __init__(self, parent: QWidget, session: Session, stage: Stage) -> None:
        super().__init__(parent)
        self._stage = stage
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Export steps"))
        self.session = session
        self.job: FilmJob | None = None
        self._estimate: FilmJob | None = None
        self._folder = owned_folders.make()
        self._remove_folder = weakref.finalize(self, owned_folders.remove, self._folder)
        self._make_fields()
        self._arrange()
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_ESTIMATE_AFTER_MS)
        self._wait.timeout.connect(self._begin_estimate)
        listen(self, session.cursor.recorded, self._on_recorded)
        self._on_recorded()
        self._on_kind()

    def _make_fields(self) -> None:
        self.kind = _box(tr("What to write"), [(tr(title), suffix) for suffix, title in _KINDS])
        self.first, self.last = _spin(tr("First step")), _spin(tr("Last step"))
        self.every = _spin(tr("Steps from one frame to the next"))
        self.every.setSpecialValueText(tr("as the window plays at 1×, with gestures"))
        self.step = _spin(tr("Step"))
        self.pixels = _box(tr("Size in pixels"), [(size, None) for size in _SIZES])
        self.pixels.setEditable(True)
        self.theme = _box(tr("Colours"), [(tr(title), name) for name, title in _THEMES])
        self.theme.setCurrentIndex(self.theme.findData(self.session.preferences.theme))
        self.type_scale = _spin(
            tr("Size of type in percent"), 50, 300, round(self.session.preferences.type_scale * 100)
        )
        self.type_scale.setSuffix(" %")
        self.type_scale.setSingleStep(10)
        self.fps = _box(tr("Frames per second"), [])
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setAccessibleName(tr("Frames that are drawn"))
        self.progress.hide()
        self.buttons = QDialogButtonBox()
        self.export_button = self.buttons.addButton(tr("Export…"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.export_button.setObjectName("primary")
        self.export_button.setDefault(True)
        self.close_button = self.buttons.addButton(tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)

    def _arrange(self) -> None:
        self.form = form = QFormLayout()
        self._steps = _row(self.first, QLabel(tr("to")), self.last)
        for title, widget in (
            (tr("What"), self.kind),
            (tr("Step"), self.step),
            (tr("Steps"), self._steps),
            (tr("Steps a frame"), self.every),
            (tr("Frames per second"), self.fps),
            (tr("Size in pixels"), self.pixels),
            (tr("Colours"), self.theme),
            (tr("Size of type"), self.type_scale),
        ):
            form.addRow(title, widget)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.summary)
        column.addWidget(self.progress)
        column.addWidget(self.buttons)
        self.kind.currentIndexChanged.connect(self._on_kind)
        for spin in (self.first, self.last, self.every, self.step, self.type_scale):
            spin.valueChanged.connect(self._refresh)
        self.fps.currentIndexChanged.connect(self._refresh)
        self.pixels.currentTextChanged.connect(self._refresh)
        self.theme.currentIndexChanged.connect(self._refresh)
        self.export_button.clicked.connect(self._export)
        self.close_button.clicked.connect(self._on_close)

    # The choice

    @property
    def suffix(self) -> str:
        """The suffix of the file that is wanted."""
        return str(self.kind.currentData())

    @property
    def is_film(self) -> bool:
        """Whether a film is wanted, and no single step."""
        return self.suffix in (".gif", ".mp4")

    def wanted_size(self) -> tuple[int, int] | None:
        """Return the size that is asked for, or None if the text says none."""
        sides = self.pixels.currentText().lower().replace("×", "x").split("x")
        if len(sides) != 2 or not all(side.strip().isdecimal() for side in sides):
            return None
        size = int(sides[0]), int(sides[1])
        return fitting(self.suffix, size) if all(64 <= side <= 8192 for side in size) else None

    def wanted_film(self) -> Film:
        """Return the film that is asked for.

        Raises
        ------
        GemmvizError
            When it has no frame, or too many.
        """
        first, last = self.first.value() - 1, self.last.value()
        every = self.every.value() or None
        return film(known(self.session.cursor.playable), first, last, every, self.fps.currentData() or _FPS[".gif"][0])

    def _look(self) -> Look:
        return Look(
            known(self.wanted_size()),
            _THEMES[self.theme.currentIndex()][0],
            self.type_scale.value() / 100,
            self.session.lens.name,
        )

    def _moment(self, playable: Playable) -> Moment:
        """Return the stage's choice, at the requested step; the whole stage is visible."""
        now = self._stage.moment()
        return replace(now, step=self.step.value() - 1, trail=trail(playable, 1), view=View(), outdated=False)

    # Changes

    def _on_recorded(self) -> None:
        """Offer the steps of the recording on the stage now; a film that is being made goes on."""
        steps = self.session.cursor.steps
        inside = self.session.playback.loop_range or (0, max(steps - 1, 0))
        for spin, value in ((self.first, inside[0]), (self.last, inside[1]), (self.step, self.session.cursor.step)):
            spin.setRange(1, max(steps, 1))
            spin.setValue(value + 1)
        self.every.setRange(0, max(steps, 1))
        self.every.setValue(0)
        self._refresh()

    def _on_kind(self) -> None:
        for widget, shown in ((self.step, not self.is_film), *((w, self.is_film) for w in self._film_fields())):
            self.form.setRowVisible(widget, shown)
        self.pixels.setCurrentText(_SIZES[1] if self.is_film else _SIZES[3])
        self.fps.clear()
        for rate in _FPS.get(self.suffix, ()):
            self.fps.addItem(f"{rate:g}", rate)
        self.adjustSize()
        self._refresh()

    def _film_fields(self) -> tuple[QWidget, ...]:
        return self._steps, self.every, self.fps

    def _refresh(self) -> None:
        """Describe the result, or the part that is missing for it."""
        if self.job is not None:
            return
        self._drop_estimate()
        fault = self._fault()
        self.export_button.setEnabled(not fault)
        self.summary.setText(fault or self._summary())
        if not fault and self.is_film:
            self._wait.start()

    def _fault(self) -> str:
        if not self.session.cursor.steps:
            return tr("There is nothing to export yet: record a kernel first.")
        if self.wanted_size() is None:
            return tr("A size is WIDTH × HEIGHT, each from 64 to 8192 pixels, for example 960 × 720.")
        try:
            kind_of(Path(f"x{self.suffix}"))
            if self.is_film:
                self.wanted_film()
        except GemmvizError as error:
            return str(error)
        return ""

    def _summary(self, size_bytes: int | None = None) -> str:
        width, height = known(self.wanted_size())
        if not self.is_film:
            return tr("One picture, {width} × {height}", width=width, height=height)
        made = self.wanted_film()
        frames = trn("{count} frame", "{count} frames", made.frames)
        text = tr("{frames}, {seconds} s, the last one held", frames=frames, seconds=f"{made.seconds:.1f}")
        if size_bytes is not None:
            text = tr("{text}; about {size}", text=text, size=_size_text(size_bytes))
        return text

    # How large it will be: some frames are really made

    def _begin_estimate(self) -> None:
        playable = self.session.cursor.playable
        if playable is None or self.job is not None:
            return
        whole = self.wanted_film()
        part = replace(whole, last=min(whole.last, whole.first + ceil((_ESTIMATED_FRAMES - 1) * whole.pace)))
        path = self._folder / f"estimate{self.suffix}"
        job = self._estimate = FilmJob(playable, part, self._look(), self._moment(playable), path, self)
        job.finished.connect(lambda: self._end_estimate(path, whole.frames / part.frames))
        job.start()

    def _end_estimate(self, path: Path, factor: float) -> None:
        self._estimate = None
        if self.job is None and not self._fault():
            self.summary.setText(self._summary(round(path.stat().st_size * factor)))

    def _drop_estimate(self) -> None:
        self._wait.stop()
        if self._estimate is not None:
            self._estimate.cancel()
            self._estimate = None

    # Export

    def _export(self) -> None:
        playable, suffix = known(self.session.cursor.playable), self.suffix
        name = f"{self.session.choice.base.name}{suffix}"
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Export to"), name, f"*{suffix}")
        if not chosen:
            return
        path = Path(chosen)
        if path.suffix.lower() != suffix:
            path = Path(chosen + suffix)
            if path.exists() and not self._may_replace(path):
                return
        self._drop_estimate()
        try:
            if self.is_film:
                self._start(
                    FilmJob(playable, self.wanted_film(), self._look(), self._moment(playable), path, self), path
                )
            else:
                self._draw_still(playable, path)
        except GemmvizError as error:
            self.summary.setText(str(error))

    def _may_replace(self, path: Path) -> bool:
        buttons = QMessageBox.StandardButton
        text = tr("{file} exists already. Replace it?", file=path.name)
        return QMessageBox.question(self, tr("Export to"), text, buttons.Yes | buttons.No, buttons.No) == buttons.Yes

    def _draw_still(self, playable: Playable, path: Path) -> None:
        look, moment = self._look(), self._moment(playable)
        with atomic_file(path) as part:
            if path.suffix.lower() == ".svg":
                done = draw_svg(playable, look, moment, part)
            else:
                done = Frames(playable, look).image(moment).save(str(part))
            if not done:
                raise GemmvizError(tr("cannot write {path}", path=path))
        self._saved(path)

    def _start(self, job: FilmJob, path: Path) -> None:
        self.job = job
        job.progressed.connect(self._on_progress)
        job.failed.connect(self._on_failed)
        job.finished.connect(lambda: self._saved(path))
        self._set_busy(True)
        job.start()

    def _set_busy(self, busy: bool) -> None:
        for row in range(self.form.rowCount()):
            known(known(self.form.itemAt(row, QFormLayout.ItemRole.FieldRole)).widget()).setEnabled(not busy)
        self.export_button.setEnabled(not busy)
        self.progress.setValue(0)
        self.progress.setVisible(busy)
        self.close_button.setText(tr("Cancel") if busy else tr("Close"))

    def _on_progress(self, done: int, of: int) -> None:
        self.progress.setMaximum(of)
        self.progress.setValue(done)

    def _on_failed(self, reason: str) -> None:
        self._end_job()
        self.export_button.setEnabled(False)
        self.summary.setText(reason)

    def _saved(self, path: Path) -> None:
        self.job = None
        size = _size_text(path.stat().st_size)
        self.session.messages.tell(Message(tr("Saved {path}, {size}.", path=path, size=size), "info"))
        self.accept()

    def _end_job(self) -> None:
        self.job = None
        self._set_busy(False)

    def _on_close(self) -> None:
        """Stop the film that is being made, else close."""
        if self.job is None:
            self.reject()
            return
        self.job.cancel()
        self._end_job()
        self._refresh()
        self.summary.setText(tr("Cancelled: no file was written."))

    def done(self, result: int) -> None:
        """End everything that runs with the dialog."""
        self._drop_estimate()
        if self.job is not None:
            self.job.cancel()
            self.job = None
        self.session.cursor.recorded.disconnect(self._on_recorded, missing_ok=True)
        self._remove_folder()
        super().done(result)
        forget_style(self)


def _box(name: str, entries: list[tuple[str, str | None]]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    for title, value in entries:
        box.addItem(title, value)
    return box


def _spin(name: str, least: int = 1, most: int = 1, value: int = 1) -> QSpinBox:
    spin = QSpinBox()
    spin.setAccessibleName(name)
    spin.setRange(least, most)
    spin.setValue(value)
    return spin


def _row(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget, 0 if isinstance(widget, QLabel) else 1)
    return row


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.0f} kB"
