"""The texts of the list of kernels: chapters, short titles, figures, tips, and progress. It has no widgets."""

from dataclasses import dataclass

from gemmviz.bench.figures import Shown, Size, size_of
from gemmviz.bench.row import figure_of
from gemmviz.catalogue.capability import need
from gemmviz.catalogue.chapters import by_chapter
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.own_name import own_name
from gemmviz.catalogue.titles import title_text
from gemmviz.language import tr
from gemmviz.session import Session
from gemmviz.ui.look.figure_text import (
    changes_text,
    details,
    gflops_text,
    origin_text,
    short_size,
    size_text,
    status_text,
)


@dataclass(frozen=True)
class ChapterRow:
    """A chapter as the list shows it."""

    title: str
    kernels: list[str]
    """The names of its kernels, in their order."""


class KernelRows:
    """The texts of the list of kernels about each kernel and each chapter.

    Parameters
    ----------
    session
        The session with the kernels and results.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.figures: dict[str, Shown] = {}
        """The row and origin shown for each kernel with a figure, kept because painting reads them often."""
        self.size_shown: Size | None = None
        """The size of the figures, except those that show another size."""
        self.read()

    def read(self) -> None:
        """Read the kernels of the session again."""
        kernels = self.session.choice.kernels
        self.kernels = {kernel.name: kernel for kernel in kernels}
        self.chapters = {
            chapter.id: ChapterRow(tr(chapter.title), [kernel.name for kernel in members])
            for chapter, members in by_chapter(kernels)
        }
        """The chapters by id, in their order."""

    def read_figure(self, name: str) -> None:
        """Read the figure of a kernel again."""
        shown = self.session.results.shown(name)
        self.figures.pop(name, None)
        if shown is not None:
            self.figures[name] = shown

    def read_figures(self) -> None:
        """Read the figures of all kernels again, and the size that they share."""
        self.size_shown = self.session.results.shown_size()
        for name in self.kernels:
            self.read_figure(name)

    def chapter_of(self, name: str) -> str:
        """Return the id of a kernel's chapter; empty if it has none."""
        return next((one for one, chapter in self.chapters.items() if name in chapter.kernels), "")

    def progress(self, chapter: str) -> tuple[int, int]:
        """Return the number of finished lessons of a chapter, and the number of its kernels."""
        names = self.chapters[chapter].kernels
        return len(self.session.preferences.finished.intersection(names)), len(names)

    def title(self, name: str) -> str:
        """Return a kernel's title, or the name that people know it by; its function if the title is the file's name."""
        kernel = self.kernels.get(name)
        if kernel is None:
            return ""
        title, function = title_text(kernel) or kernel.alias, kernel.entry.partition("<")[0].rpartition("::")[2]
        of_file = own_name(kernel.path)
        words = [text.replace("_", " ").casefold() for text in (of_file, title, function)]
        return function if function and words[0] == words[1] != words[2] else title

    def short_title(self, name: str) -> str:
        """Return a kernel's title without the beginning that it shares with the kernel before it in its chapter."""
        chapter = self.chapters.get(self.chapter_of(name))
        at = chapter.kernels.index(name) if chapter else 0
        title, before = self.title(name), self.title(chapter.kernels[at - 1]) if chapter and at else ""
        head, comma, rest = title.partition(", ")
        if comma and head == before.partition(", ")[0]:
            return f"… {rest}"
        start, _, last = title.rpartition(" ")
        return f"… {last}" if start and start == before.rpartition(" ")[0] else title

    def variant(self, kernel: Kernel) -> Kernel | None:
        """Return the current change of a kernel; None if it is unchanged or not the chosen one."""
        choice = self.session.choice
        return choice.kernel if choice.variant and kernel.name == choice.base.name else None

    def needs(self, kernel: Kernel) -> str:
        """Return the GPU that a kernel needs if this machine's does not suit; empty if it does, or if there is none."""
        device = self.session.results.device_facts
        return need(kernel.capability, str(device["cc"])) if device and device.get("cc") else ""

    def figure(self, name: str) -> str:
        """Return a kernel's figure in GFLOPS, with its size if it differs from the common size; empty without one."""
        shown = self.figures.get(name)
        if shown is None:
            return ""
        size = size_of(shown.row)
        cube = len(set(size)) == 1
        text = gflops_text(figure_of(shown.row))
        if size != self.size_shown:
            text = tr("{gflops} at {size}", gflops=text, size=size[0] if cube else short_size(size))
        return f"{text}{' ⚑' if shown.row.get('flags') else ''}"

    def tip(self, name: str) -> str:
        """Return the facts about a kernel: its idea, its figure (see `read_figure`) and the origin of it."""
        kernel, session = self.kernels[name], self.session
        row, shown = session.results.rows.get(kernel.name), self.figures.get(name)
        lines = [f"{title_text(kernel)} ({kernel.name})", tr(kernel.idea)]
        variant = self.variant(kernel)
        if variant is not None:
            status = status_text(session.results.rows.get(variant.name))
            lines.append(tr("Now {changes}: {status}", changes=changes_text(variant), status=status))
        if kernel.exhibit:
            lines.append(tr("Exhibit: {why}", why=tr(kernel.exhibit)))
        if kernel.capability:
            needs = self.needs(kernel) or need(kernel.capability)
            lines.append(needs[:1].upper() + needs[1:])
        if shown is None or shown.origin:
            lines.append(status_text(row))
        if shown is not None:
            size = size_text((shown.row["M"], shown.row["N"], shown.row["K"]))
            lines += [tr("{origin}, at {size}:", origin=origin_text(shown, session), size=size), *details(shown.row)]
        return "\n".join(line for line in lines if line)
