"""The choice: the kernel, from its file or changed in the window, its size and its parameters."""

from pathlib import Path

from psygnal import Signal

from gemmviz.catalogue import renamed
from gemmviz.catalogue.breaks import broken
from gemmviz.catalogue.errors import FrontMatterError, GemmvizError, NoFrontMatter
from gemmviz.catalogue.kernel import Kernel, parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.own_name import told_apart
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.schedule import made_for
from gemmviz.catalogue.scheduled import left_open, usual
from gemmviz.language import tr
from gemmviz.session.tour.stop import Setting
from gemmviz.session.values import kernel_names
from gemmviz.session.values.picture_size import picture_params, picture_problem
from gemmviz.session.values.square import Square
from gemmviz.trace.order.timeline import Order

_BENCH_SIZE = 512
_EDITED = "~edited"


class Choice:
    """The kernel, size and parameters to record and to measure.

    `kernel` is recorded and measured. `base` is the rung or opened file with the text of its file. Both are the same
    object, unless the text was edited or broken in the window.

    Parameters
    ----------
    kernels
        The ladder; kernels are added to it in place.
    """

    kernels_changed = Signal()
    chosen = Signal()
    """The kernel, its text, size, parameters, order or view: the recording to make."""
    opened = Signal()
    """A rung was chosen, or read from its file again: `kernel`, after `chosen`."""
    bench_chosen = Signal()
    drafted = Signal()
    """The chosen kernel's text has become equal to its file's text, or different from it."""
    text_changed = Signal(Kernel)
    """The chosen kernel has another text of the same rung now: emitted before `chosen`."""
    file_changed = Signal(str)
    """The file of the kernel with that name has another text, or is new: emitted before `kernels_changed`."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self.kernels = kernels
        self.base = self.kernel = kernels[0]
        self.breaks: tuple[str, ...] = ()
        self.fault: FrontMatterError | None = None
        """The reason why the edited text is not a kernel; `kernel` is then the previous kernel."""
        self.wanted: Problem | None = None
        """The size that the user chose, which applies to all rungs. None: each rung opens at its demo."""
        self.problem = picture_problem(self.kernel)
        self.params: dict[str, int] = self.kernel.defaults | picture_params(self.kernel, self.problem)
        self.order: Order = "grid"
        self.auto = True
        """Whether a change is recorded automatically."""
        self.as_written = False
        """Whether every access in the text is recorded, or only those that remain after compiling."""
        self.square, self.bench_square = Square(), Square()
        self.bench_problem = Problem.cube(_BENCH_SIZE)
        self.bench_params: dict[str, int] = usual(self.kernel, self.bench_problem)
        self.protocol: dict[str, float] = {}
        """The values of the measuring protocol that differ from the defaults."""
        self.sweep = ""
        """The sizes N to measure over, as typed; empty: the usual ones."""
        self._shipped = {kernel.path: kernel.text for kernel in kernels}
        self._drafts: dict[Path, str] = {}
        self._on_file: dict[Path, str] = {}

    # The text

    @property
    def variant(self) -> bool:
        """Whether the kernel to record and measure differs from its file."""
        return self.kernel is not self.base

    @property
    def text(self) -> str:
        """The text to show: of the broken kernel, the edited text, or the file's text."""
        return self.kernel.text if self.breaks else self.text_of(self.base)

    @property
    def title(self) -> str:
        """The title of the shown text: the file's name, and its changes."""
        name = self.base.shown_file
        if self.breaks:
            return tr("{file}, changed: {changes}", file=name, changes="; ".join(kernel_names.changes(self.kernel)))
        return tr("{file}, edited", file=name) if self.unsaved(self.base) else name

    def text_of(self, base: Kernel) -> str:
        """Return a kernel's text with its edits."""
        return self._drafts.get(base.path, base.text)

    def on_file(self, base: Kernel) -> str:
        """Return the last known text of a kernel's file."""
        return self._on_file.get(base.path, base.text)

    def unsaved(self, base: Kernel) -> bool:
        """Return whether a kernel's text was edited and is not saved in its file."""
        return self.text_of(base) != self.on_file(base)

    def all_unsaved(self) -> list[Kernel]:
        """Return the kernels whose edited text is not saved."""
        return [kernel for kernel in self.kernels if self.unsaved(kernel)]

    def shipped(self, kernel: Kernel) -> bool:
        """Return whether a kernel comes with gemmviz and is unchanged."""
        return self._shipped.get(kernel.path) == kernel.text

    def is_shipped_file(self, base: Kernel) -> bool:
        """Return whether a kernel's file comes with gemmviz: it is never written."""
        return base.path in self._shipped

    def draft(self, text: str) -> None:
        """Keep a text during typing: fast, and without a recording (see `edit`)."""
        before = self.title
        self.breaks = ()
        self._keep(self.base, text)
        if self.title != before:
            self.drafted.emit()

    def edit(self, text: str) -> None:
        """Make a text the chosen kernel; a text that is not a kernel is kept, with the reason in `fault`."""
        self.breaks = ()
        self._keep(self.base, text)
        kernel = self._drafted(self.base)
        self._put(kernel if kernel is not None else self.kernel)

    def settle(self) -> None:
        """Make the last typed text the chosen kernel, without waiting for a pause."""
        if not self.breaks and self.fault is None and self.text != self.kernel.text:
            self.edit(self.text)

    def break_it(self, ids: tuple[str, ...]) -> None:
        """Show and measure the file's kernel with some of its declared changes; without changes: the edited text again.

        Raises
        ------
        GemmvizError
            When the kernel does not declare such a change.
        """
        variant = broken(self.base, ids) if ids else None
        self.breaks = tuple(ids)
        self.fault = None
        self._put(variant or self._drafted(self.base) or self.base)

    def revert(self) -> None:
        """Undo the changes of a broken kernel; else restore the file's text."""
        if self.breaks:
            self.break_it(())
        else:
            self.edit(self.on_file(self.base))

    def set_on_file(self, base: Kernel, text: str) -> None:
        """Set the current text of a kernel's file."""
        self._on_file[base.path] = text
        self.drafted.emit()

    def drop_edits(self, base: Kernel) -> None:
        """Drop the edits of a kernel: they were saved elsewhere."""
        self._drafts.pop(base.path, None)
        self.drafted.emit()

    def _keep(self, base: Kernel, text: str) -> None:
        if text == base.text:
            self._drafts.pop(base.path, None)
        else:
            self._drafts[base.path] = text

    def _drafted(self, base: Kernel) -> Kernel | None:
        """Return a kernel with its edits; None, with the reason in `fault`, if the text is not a kernel."""
        text = self.text_of(base)
        self.fault = None
        if text == base.text:
            return base
        path = base.path.with_stem(base.path.stem + _EDITED)
        try:
            return parse(text, path, base.folders)
        except NoFrontMatter:
            self.fault = NoFrontMatter(
                tr(
                    "{file}: no front matter any more: it starts with a line `// ---gemmviz` and ends with `// ---`. "
                    "Undo the last change (Ctrl+Z), or restore the text of the file (F6).",
                    file=base.path.name,
                )
            )
            return None
        except FrontMatterError as error:
            self.fault = FrontMatterError(str(error).replace(path.name, base.path.name, 1), error.line)
            return None

    def _put(self, kernel: Kernel) -> None:
        """Choose another text of the same kernel: size and parameters stay if they are valid for it."""
        if kernel.params.keys() - self.params.keys():
            self.params = kernel.defaults | picture_params(kernel, self.problem) | self.params
        self.params = {name: self.params[name] for name in kernel.params}
        self.bench_params = {name: self.bench_params.get(name, value) for name, value in kernel.defaults.items()}
        self.kernel = kernel
        self.text_changed.emit(kernel)
        self.chosen.emit()

    # The launch

    def launch(self) -> Launch:
        """Return the chosen launch.

        Raises
        ------
        GemmvizError
            When size and parameters do not fit the kernel; the message names values that do.
        """
        return launch(self.kernel, self.problem, self.params)

    @property
    def setting(self) -> Setting:
        """The chosen size, parameters, order and view."""
        return Setting.of(self.problem, self.params, self.order, self.as_written)

    def bench_launch(self) -> Launch:
        """Return the launch for measurements; it raises as `launch` does."""
        return launch(self.kernel, self.bench_problem, self.bench_params)

    def choose_kernel(
        self, kernel: Kernel, params: dict[str, int] | None = None, problem: Problem | None = None
    ) -> None:
        """Choose a rung, at its demo, or at the size that the user has chosen.

        The parameters are those of `picture_params`. If a rung does not take the chosen size, or if `problem` is
        given, another size is used for this rung only; the next rung has the chosen size again. An edited rung is
        chosen with its edits.
        """
        base = self._base_of(kernel)
        self.breaks = ()
        if base is kernel:
            kernel = self._drafted(base) or base
        else:
            self.fault = None
            if kernel.path.stem.endswith(_EDITED):
                self._keep(base, kernel.text)
            else:
                self.breaks = tuple(kernel.path.stem.partition("~")[2].split("+"))
        self.base = base
        self.problem = problem or picture_problem(kernel, self.wanted)
        self.params = kernel.defaults | picture_params(kernel, self.problem) | (params or {})
        self.bench_params = usual(kernel, self.bench_problem)
        self.kernel = kernel
        self.chosen.emit()
        self.opened.emit()

    def _base_of(self, kernel: Kernel) -> Kernel:
        """Return the file's kernel from which a variant is made; any other kernel is its own base."""
        stem, mark, _ = kernel.path.stem.partition("~")
        found = (k for k in self.kernels if mark and k.path == kernel.path.with_stem(stem))
        return next(found, kernel)

    def choose(
        self,
        problem: Problem | None = None,
        params: dict[str, int] | None = None,
        order: Order | None = None,
        as_written: bool | None = None,
        *,
        stays: bool = True,
    ) -> None:
        """Choose the size, some parameters, the order of the blocks, or the view.

        Parameters that the kernel's schedule decides follow the size, unless the user has chosen one of them.

        Parameters
        ----------
        problem, params, order, as_written
            The new values; None: unchanged.
        stays
            Whether the next rungs are shown at this size, too, because the user chose it deliberately.
        """
        before = (self.problem, self.params, self.order, self.as_written)
        if problem is not None and self._nobody_chose_params():
            self.params = self._shown_params(problem)
        self.problem = problem or self.problem
        if problem is not None and stays:
            self.wanted = problem
        self.params = self.params | (params or {})
        self.order = order or self.order
        self.as_written = self.as_written if as_written is None else as_written
        if before != (self.problem, self.params, self.order, self.as_written):
            self.chosen.emit()

    def _nobody_chose_params(self) -> bool:
        """Whether a schedule decides parameters, and they are those with which the kernel is shown at this size."""
        return self.kernel.schedule is not None and self.params == self._shown_params(self.problem)

    def _shown_params(self, problem: Problem) -> dict[str, int]:
        """Return the parameters for a size; those that a schedule does not decide stay."""
        kernel, kept = self.kernel, left_open(self.kernel, self.params)
        return kernel.defaults | picture_params(kernel, problem, kept) | kept

    def choose_bench(self, problem: Problem | None = None, params: dict[str, int] | None = None) -> None:
        """Choose the size and parameters to measure with; those that the kernel's schedule chose follow the size."""
        if problem is not None and self.bench_params == usual(self.kernel, self.bench_problem):
            self.bench_params = usual(self.kernel, problem)
        self.bench_problem = problem or self.bench_problem
        self.bench_params = self.bench_params | (params or {})
        self.bench_chosen.emit()

    def schedule_for(self, multiprocessors: int | None) -> None:
        """Make schedules for a GPU with so many multiprocessors; parameters that the kernel's chose follow."""
        followed, shown = self.bench_params == usual(self.kernel, self.bench_problem), self._nobody_chose_params()
        made_for(multiprocessors)
        if followed:
            self.choose_bench(params=usual(self.kernel, self.bench_problem))
        if shown:
            self.choose(params=self._shown_params(self.problem))

    # The ladder

    def add_kernel(self, kernel: Kernel, on_file: str | None = None) -> None:
        """Add a kernel to the ladder by its name there, replacing the kernel of the same file, and choose it.

        Size and parameters stay if the kernel of the same file was chosen and the new one takes them. See `named`.

        Parameters
        ----------
        kernel
            The kernel to add; edits of the replaced kernel are dropped.
        on_file
            The text in its file, if it is not the kernel's text.

        Raises
        ------
        GemmvizError
            When no name is free.
        """
        kernel = self.named(kernel)
        known = kernel.path in [k.path for k in self.kernels]
        if known and kernel.path == self.base.path and self._fits(kernel):
            params = self.params
            self._replace(kernel, on_file)
            self.breaks, self.fault, self.base = (), None, kernel
            self.params = params
            self._put(kernel)
            self.opened.emit()
            return
        self._replace(kernel, on_file)
        self.choose_kernel(kernel)

    def _fits(self, kernel: Kernel) -> bool:
        """Return whether another text of the chosen kernel takes the chosen size and parameters."""
        params = {name: self.params.get(name, value) for name, value in kernel.defaults.items()}
        try:
            launch(kernel, self.problem, params)
        except GemmvizError:
            return False
        return True

    def renew(self, kernel: Kernel) -> None:
        """Replace a kernel whose file has changed; the chosen kernel stays chosen."""
        if kernel.path == self.base.path:
            self.add_kernel(kernel)
        else:
            self._replace(self.named(kernel), None)

    def named(self, kernel: Kernel) -> Kernel:
        """Return a kernel with the name that it has on the ladder, or can have: with folders if its own is taken.

        Parameters
        ----------
        kernel
            A file's kernel, with or without changes. Its path is without links.
        """
        files = kernel.path, kernel.path.with_stem(kernel.path.stem.partition("~")[0])
        known = next((k.folders for k in self.kernels if k.path in files), None)
        folders = told_apart(kernel.path, lambda name: self._is_taken(kernel.path, name)) if known is None else known
        return kernel if kernel.folders == folders else parse(kernel.text, kernel.path, folders)

    def _is_taken(self, path: Path, name: str) -> bool:
        return name in [known for k in self.kernels if k.path != path for known in (k.name, *renamed.before(k.name))]

    def _replace(self, kernel: Kernel, on_file: str | None) -> None:
        paths = [k.path for k in self.kernels]
        if kernel.path in paths:
            self.kernels[paths.index(kernel.path)] = kernel
        else:
            if self._is_taken(kernel.path, kernel.name):
                values = {"name": repr(kernel.name), "file": kernel.path.name}
                raise GemmvizError(tr("there is a kernel named {name} already: rename {file}", **values))
            self.kernels.append(kernel)
        self._drafts.pop(kernel.path, None)
        self._on_file[kernel.path] = kernel.text if on_file is None else on_file
        self.file_changed.emit(kernel.name)
        self.kernels_changed.emit()
