"""Every text that people read can be translated, and is: an unfinished one fails here."""

import ast
import re
import string
from functools import cache
from pathlib import Path

import polib
import pytest

import gemmviz
from gemmviz import data, language
from gemmviz.language import collect
from gemmviz.language.numbers import thousands

PACKAGE = Path(gemmviz.__file__).parent
TRANSLATED = [code for code in language.LANGUAGES if code != "en"]
# Calls whose texts are shown, and which of their positional arguments are no text.
_ALL_SHOWN = """
    setText setToolTip setWindowTitle setAccessibleName setAccessibleDescription setPlaceholderText setStatusTip
    setTitle addTab setTabText addMenu addAction addItems setHeaderLabels showText drawText
    getOpenFileName getSaveFileName
    question warning information critical QLabel QPushButton QCheckBox QRadioButton QGroupBox QAction QListWidgetItem
    QTreeWidgetItem Answer set_progress
"""
SHOWN = dict.fromkeys(_ALL_SHOWN.split(), ()) | {
    "addItem": (1,),
    "Message": (1,),
    "Action": (0, 1, 3),
    "set_progress": (0,),
}
# The same in every language: names, units, keys, and Qt's own words.
ALIKE = {
    *("gemmviz", "GFLOPS", "CPU", "GPU", "CUDA", "BLAS", "cuBLAS", "NumPy", "PNG", "SVG", "GIF", "MP4", "CSV", "JSON"),
    *("SASS", "PTX"),
    *("Alt", "Ctrl", "Shift", "Esc", "F1", "F11", "MHz", "GB", "KiB", "MB", "kB", "ms", "ns", "fps", "px", "FLOP"),
    *("auto", "info", "error", "json", "png", "svg", "gif", "mp4", "csv", "cu", "stage", "results", "bench", "record"),
}


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    language.set_language("en")


def test_texts_are_collected_from_calls_and_from_kernels():
    collected = {text.one for text in _all_texts()}
    assert "Larger type" in collected
    assert "Shared-memory tiles" in collected
    assert "Without the second barrier" in collected
    assert "The bounds check" in collected and "Time by version and size" in collected  # a claim, and its table


def test_a_text_put_together_at_run_time_is_refused(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "one.py").write_text("tr(f'{n} steps')\n")
    with pytest.raises(ValueError, match="one literal"):
        collect.texts(tmp_path / "p")


def test_every_kernel_has_a_title_and_an_idea_to_translate():
    files = {text.file for text in collect.kernel_texts(data.root("kernels"))}
    assert len(files) == sum(1 for path in data.root("kernels").rglob("[0-9]*_*") if path.is_file())


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_text_is_translated(code):
    catalogue = _catalogue(code)
    known = {entry.msgid: entry for entry in catalogue if not entry.obsolete}
    wanted = {text.one: text for text in _all_texts() if text.one}
    missing = [
        f"{text.file}:{text.line}: {text.one}" for one, text in wanted.items() if not _done(known.get(one), text)
    ]
    assert not missing, f"{len(missing)} texts are not finished in {code}.po, the first ones:\n" + "\n".join(
        missing[:10]
    )


@pytest.mark.parametrize("code", TRANSLATED)
def test_nothing_in_a_catalogue_is_doubtful_or_outdated(code):
    catalogue = _catalogue(code)
    wanted = {text.one for text in _all_texts()}
    assert [entry.msgid for entry in catalogue if entry.fuzzy or entry.obsolete or entry.msgid not in wanted] == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_translation_has_the_same_names_in_braces(code):
    wrong = []
    for entry in _catalogue(code):
        originals = _names(entry.msgid) | _names(entry.msgid_plural or "")
        # A form for exactly one may leave the number out.
        free = {"count"} if entry.msgid_plural else set()
        forms = [entry.msgstr, *entry.msgstr_plural.values()]
        wrong += [f"{entry.msgid!r}: {text!r}" for text in forms if text and (_names(text) ^ originals) - free]
    assert not wrong


def test_a_number_chooses_the_form_of_the_language():
    language.set_language("es")
    assert language.trn("{count} thing nobody translated", "{count} things nobody translated", 1).startswith("1 thing ")
    language.set_language("en")
    assert language.trn("{count} thread", "{count} threads", 2) == "2 threads"


@pytest.mark.parametrize("code", language.LANGUAGES)
def test_thousands_are_apart_by_a_thin_space_in_every_language(code):
    language.set_language(code)
    assert [thousands(n) for n in (7, 1024, -4096, 10**18 + 1)] == [
        "7",
        "1\u202f024",
        "-4\u202f096",
        "1\u202f000\u202f000\u202f000\u202f000\u202f000\u202f001",
    ]
    assert thousands(1234.56) == "1\u202f235" and thousands(1234.56, 1) == "1\u202f234.6"
    assert language.trn("{count}", "{count}", 4096) == language.tr("{count}", count=4096) == "4\u202f096"
    assert language.tr("{line}", line=1024) == "1024"


@pytest.mark.parametrize(("code", "text"), [("en", "12.5%"), ("ko", "12.5%"), ("es", "12.5\u202f%")])
def test_a_percentage_is_written_as_the_language_has_it(code, text):
    language.set_language(code)
    assert language.percent(0.125, 1) == text


def test_no_other_place_writes_thousands():
    """No format of a number with a comma, and no figure with one in a text."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name != "numbers.py" or path.parent.name != "language":
            assert not re.search(r":,(\.\d+f|\.\{\w+\}f|d)?\}", text), path
    assert [text.one for text in _all_texts() if re.search(r"\d,\d{3}\b", text.one)] == []


def test_everything_that_people_read_goes_through_the_translation():
    bare = []
    for room in ("ui", "session"):
        for path in sorted((PACKAGE / room).rglob("*.py")):
            bare += _bare_texts(path)
    assert not bare, f"{len(bare)} texts are shown without `tr`:\n" + "\n".join(bare)


def test_every_error_about_front_matter_goes_through_the_translation(tmp_path):
    shown = {"FrontMatterError": ()}
    bare = [text for path in sorted(PACKAGE.rglob("*.py")) for text in _bare_texts(path, shown)]
    assert not bare, f"{len(bare)} errors are raised without `tr`:\n" + "\n".join(bare)
    file = tmp_path / "one.py"
    file.write_text("raise FrontMatterError(f'args names {name!r}')\nraise FrontMatterError(f'{file}: {error}')\n")
    assert [line.split(":")[1] for line in _bare_texts(file, shown)] == ["1"]


def test_a_bare_text_would_be_found(tmp_path):
    file = tmp_path / "one.py"
    file.write_text(
        "label.setText('Hello there')\nlabel.setText(tr('Hello'))\nQLabel(f'{n} things')\nlabel.setText('12 ms')\n"
        "Message('Broken' if bad else tr('Fine'), 'warning')\n"
    )
    assert [line.split(":")[1] for line in _bare_texts(file)] == ["1", "3", "5"]


@cache
def _all_texts() -> list[collect.Text]:
    return collect.all_texts()


def _catalogue(code: str) -> polib.POFile:
    return polib.pofile(str(data.root("resources") / "languages" / f"{code}.po"), encoding="utf-8")


def _done(entry, text) -> bool:
    if entry is None or entry.fuzzy or bool(entry.msgid_plural) != bool(text.many):
        return False
    return all(entry.msgstr_plural.values()) if text.many else bool(entry.msgstr)


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def _bare_texts(path: Path, shown: dict[str, tuple[int, ...]] = SHOWN) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in shown:
                arguments = [a for at, a in enumerate(node.args) if at not in shown[name]]
                literals = (text for argument in arguments for text in _literals(argument))
                found += [f"{path.name}:{node.lineno}: {text!r}" for text in literals if _is_read(text)]
    return found


def _literals(node: ast.expr) -> list[str]:
    """Return the literals that become part of an expression's text."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value for part in node.values if isinstance(part, ast.Constant))]
    if isinstance(node, ast.IfExp):
        return _literals(node.body) + _literals(node.orelse)
    if isinstance(node, ast.BinOp):
        return _literals(node.left) + _literals(node.right)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [text for element in node.elts for text in _literals(element)]
    return []


def _is_read(text: str) -> bool:
    words = re.findall(r"[A-Za-z][A-Za-z0-9]+", re.sub(r"<[^>]*>|&\w+;", " ", text))
    return any(word not in ALIKE for word in words)
