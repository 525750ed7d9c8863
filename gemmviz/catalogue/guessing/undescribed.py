"""The message about a file without front matter. Front matter can be guessed only if the file has a kernel."""

from pathlib import Path

from gemmviz.catalogue.guessing.guess import has_kernel
from gemmviz.language import tr


def what_to_do(text: str, path: Path) -> str:
    """Return a message for the user: a file has no front matter, and the remedy.

    Parameters
    ----------
    text, path
        The file.
    """
    if not text.strip():
        return tr("the file is empty: open the file that holds the kernel, or write the kernel here")
    if has_kernel(text, path):
        return tr(
            "no front matter: it starts with a line `// ---gemmviz` and ends with `// ---`; "
            "`gemmviz describe {file}` guesses it",
            file=path,
        )
    if path.suffix == ".c":
        return tr(
            "no front matter, and no kernel in this file: no function in it has three pointers, for A, B and C. "
            "Open the file that holds the kernel, or write it here."
        )
    if "__global__" in text:
        return tr(
            "no front matter, and none can be guessed: it starts with a line `// ---gemmviz` and ends with `// ---`"
        )
    return tr(
        "no front matter, and no kernel in this file: nothing in it is marked `__global__`. "
        "Open the file that holds the kernel, or mark the function that is to run on the GPU."
    )
