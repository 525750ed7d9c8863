"""Links between README, CONTRIBUTING and the pages have targets; README stays short and has the lines for CI."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from gemmviz.ui.look import display

ROOT = Path(__file__).parents[3]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not beside these tests", allow_module_level=True)

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def prose(path):
    """Return a page without its code."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def links(path):
    """Return the files, and the anchors in them, that a page leads to or shows."""
    found = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", prose(path))
    return [link for either in found for link in either if link and "://" not in link]


def anchors(path):
    """Return the anchors of a page's headings, as viewers of repositories and MkDocs both make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(path):
    lost = []
    for link in links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.is_file() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def test_readme_leads_to_every_page():
    near = {link.partition("#")[0] for link in links(ROOT / "README.md")}
    further = {f"docs/{link.partition('#')[0]}" for page in near if page.endswith(".md") for link in links(ROOT / page)}
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= near | further


def test_readme_fits_on_two_screens():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80 and len(text.encode()) <= 5000


def test_the_film_of_readme_is_one_and_small():
    from PIL import Image

    (film,) = (ROOT / link for link in links(ROOT / "README.md") if link.endswith(".gif"))
    assert film.stat().st_size < 1_500_000
    with Image.open(film) as picture:
        assert picture.n_frames > 10


def test_readme_names_the_test_command_where_ci_looks_for_it():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    at = lines.index("<!-- the test command -->")
    assert lines[at + 1] == "```sh" and lines[at + 2].endswith("-m pytest")


def test_the_faults_have_their_place():
    lines = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").splitlines()
    assert lines.count("<!-- faults: begin -->") == lines.count("<!-- faults: end -->") == 1
    assert lines.index("<!-- faults: begin -->") < lines.index("<!-- faults: end -->")


@pytest.mark.parametrize("code_name", ["bookworm", "trixie", "noble"])
def test_readme_names_every_package_that_qt_may_lack_and_that_no_other_brings(monkeypatch, code_name):
    """What a bare system lacks was found with `.ci/bare_root.sh`; the rest comes with these packages."""
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"ID": "debian", "VERSION_CODENAME": code_name})
    brought = {
        "libxkbcommon.so.0",  # with libxkbcommon-x11-0
        "libxcb-xkb.so.1",
        "libX11-xcb.so.1",  # with libegl1 and libgl1
        "libxcb-randr.so.0",
        "libxcb-shm.so.0",
        "libxcb-sync.so.1",
        "libxcb-xfixes.so.0",
        "libxcb-image.so.0",  # with libxcb-cursor0
        "libxcb-render-util.so.0",
        "libxcb-util.so.1",
    }
    wanted = [name for name in {**display._ALWAYS, **display._X11} if name not in brought]
    asked = set(display.how_to_install(wanted).split()[3:])
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Two commands")[1].split("##")[0]
    assert asked <= set(re.findall(r"[a-z0-9][a-z0-9.+-]+", section))


def test_the_pages_are_those_that_the_site_lists():
    listed = set(re.findall(r": ([a-z-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    made = {"index.md", "contributing.md"}  # of README and CONTRIBUTING
    assert listed - made == {path.name for path in (ROOT / "docs").glob("*.md")} and made <= listed


def test_neither_the_site_nor_the_gallery_is_in_the_repository():
    asked = ["build/site/index.html", "build/gallery/gputiled.gif"]
    done = subprocess.run(["git", "check-ignore", *asked], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 128:
        pytest.skip("this is no checkout")
    assert done.stdout.split() == asked


def test_what_makes_the_site_is_installed_with_the_tests():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(requirement.startswith("mkdocs") for requirement in extras["test"])
