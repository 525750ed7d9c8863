"""The title above a stage."""

from gemmviz.catalogue.titles import title_text
from gemmviz.session.rules.staged import Staged


def own_title(staged: Staged) -> str:
    """Return the chosen kernel's own title where its recording is on the stage; empty: it has none, or another is."""
    playable, kernel = staged.cursor.playable, staged.choice.kernel
    is_shown = playable is not None and playable.recording.kernel == kernel.name
    return title_text(kernel) if is_shown else ""
