"""Compares the chosen text with its origin."""

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import parse
from gemmviz.language import tr
from gemmviz.session.models.choice import Choice
from gemmviz.session.models.two_versions import Side, TwoVersions


def compare_edits(choice: Choice, versions: TwoVersions) -> str:
    """Compare the chosen text with its origin: the file's text, or the kernel without declared changes.

    Returns
    -------
    str
        The reason why nothing can be compared; empty if both can be compared.
    """
    choice.settle()
    kernel, base = choice.kernel, choice.base
    if not kernel.recordable:
        return tr("{kernel} is a library call: there is no source to compare.", kernel=kernel.alias)
    if choice.fault is not None:
        return str(choice.fault)
    old = base
    if not choice.breaks:
        try:
            old = parse(choice.on_file(base), base.path, base.folders)
        except GemmvizError:
            old = base  # its front matter was made here, and is not saved yet
    if old.text == kernel.text:
        return tr("The text is as it was opened: there is nothing to compare. Edit it, or take a part out.")
    file = base.path.name
    versions.choose(Side(tr("{file}, as opened", file=file), old), Side(tr("{file}, edited", file=file), kernel))
    versions.compare()
    return ""
