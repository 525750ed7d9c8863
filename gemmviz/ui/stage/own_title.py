"""The title above a stage."""

from gemmviz.language import tr
from gemmviz.session.staged import Staged


def own_title(staged: Staged) -> str:
    """Return the chosen kernel's own title where its recording is on the stage; empty: it has none, or another is."""
    playable, kernel = staged.cursor.playable, staged.choice.kernel
    is_shown = playable is not None and playable.recording.kernel == kernel.name
    return tr(kernel.title) if is_shown and kernel.title else ""
