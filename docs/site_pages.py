"""Gives the site the files outside of ``docs/``: README as its first page, CONTRIBUTING, and the kernels' sources.

MkDocs calls these functions (``mkdocs.yml`` names this file). In the repository a page links to ``../kernels/...``; in
the site the same file is a page below ``kernels/``, and MkDocs checks the link.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages of the repository's root, and their names in the site."""
_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside of the folder."""
    for name, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for path in sorted([*(ROOT / "kernels").glob("*/[0-9]*"), *(ROOT / "kernels/include/gemmviz").glob("*.h")]):
        text = f"# {path.name}\n\n```\n{path.read_text(encoding='utf-8').rstrip()}\n```\n"
        files.append(File.generated(config, f"{path.relative_to(ROOT).as_posix()}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page's text with links as they are in the site."""
    if page.file.src_uri.startswith("kernels/"):
        return markdown
    folder = ROOT if page.file.src_uri in OUTSIDE.values() else ROOT / "docs"
    return _LINK.sub(lambda link: in_site(link["path"], folder) + (link["anchor"] or ""), markdown)


def in_site(link: str, folder: Path) -> str:
    """Return where a link of a page leads in the site.

    Parameters
    ----------
    link
        Relative to the page's folder in the repository.
    folder
        The page's folder.
    """
    path = (folder / link).resolve()
    if path.is_relative_to(ROOT / "docs"):
        return path.relative_to(ROOT / "docs").as_posix()
    name = path.relative_to(ROOT).as_posix()
    return OUTSIDE.get(name, f"{name}.md")
