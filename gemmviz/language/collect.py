"""Collects the texts for people from the source, the kernels and the claims, and updates the catalogues.

``python -m gemmviz.language.collect`` adds new texts to ``resources/languages/*.po``, without a translation, and
removes texts that are no longer used.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

from gemmviz import data
from gemmviz.language import LANGUAGES

_SINGLE, _PLURAL = ("tr", "mark"), "trn"
_CALL = re.compile(r"\b(?:tr|mark|trn)\(")  # a file without one of them need not be parsed
# Texts of a kernel for people: they are translated at run time, when they are shown.
_READ = ("title", "idea", "exhibit")
_BLOCK = re.compile(r"^//[ \t]*---gemmviz.*\n(?P<body>(?://(?![ \t]*---).*\n)*)//[ \t]*---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """One text in the source: English, its plural ("" without one), and its place (file, line)."""

    one: str
    many: str
    file: str
    line: int


def texts(package: Path) -> list[Text]:
    """Return the texts of a package's Python files, in their order.

    Raises
    ------
    ValueError
        When a text is not a literal: it could not be translated.
    """
    found = []
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if _CALL.search(source):
            found += list(_texts_of(ast.parse(source), path.relative_to(package.parent).as_posix()))
    return found


def _texts_of(tree: ast.AST, file: str) -> Iterator[Text]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in _SINGLE and len(node.args) == 1:
            literal = _literal(node.args[0])
            if literal is not None:
                yield Text(literal, "", file, node.lineno)
            elif isinstance(node.args[0], (ast.JoinedStr, ast.BinOp)):
                raise ValueError(f"{file}:{node.lineno}: a text for translators is one literal, with {{names}} in it")
        elif node.func.id == _PLURAL and len(node.args) == 3:
            one, many = _literal(node.args[0]), _literal(node.args[1])
            if all(isinstance(form, (ast.Name, ast.Subscript)) for form in node.args[:2]):
                continue  # marked at their definition
            if one is None or many is None:
                raise ValueError(f"{file}:{node.lineno}: both forms of a text for translators are literals")
            yield Text(one, many, file, node.lineno)


def kernel_texts(folder: Path) -> list[Text]:
    """Return the texts for people of the kernels in a folder: titles, ideas, and titles of their breaks."""
    found = []
    for path in sorted(folder.rglob("*")):
        file = path.relative_to(folder.parent).as_posix()
        if path.suffix in (".c", ".cu"):
            text = path.read_text(encoding="utf-8")
            for block in _BLOCK.finditer(text):
                toml = re.sub(r"^//[ \t]?", "", block["body"], flags=re.MULTILINE)
                line = text.count("\n", 0, block.start()) + 1
                found += [Text(phrase, "", file, line) for phrase in _read_of(tomllib.loads(toml))]
        elif path.suffix == ".toml":
            found += [Text(phrase, "", file, 1) for phrase in _read_of(tomllib.loads(path.read_text(encoding="utf-8")))]
    return found


def claim_texts(folder: Path) -> list[Text]:
    """Return the titles of the claims in a folder, and of their tables. All else is as their documents have it."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        file = path.relative_to(folder.parent.parent).as_posix()
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        found += [Text(phrase, "", file, 1) for phrase in _read_of(table)]
    return found


def _read_of(table: dict[str, object]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _read_of(value)
        elif isinstance(value, list):
            for one in value:
                yield from _read_of(one) if isinstance(one, dict) else ()
        elif key in _READ and isinstance(value, str) and value:
            yield " ".join(value.split())  # a kernel keeps its texts without line breaks


def all_texts() -> list[Text]:
    """Return every text of gemmviz that people read."""
    claims = claim_texts(data.root("resources") / "claims")
    return texts(Path(__file__).parent.parent) + kernel_texts(data.root("kernels")) + claims


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def update() -> None:
    """Update every catalogue."""
    wanted = {text.one: text for text in reversed(all_texts()) if text.one}
    for code in LANGUAGES:
        if code == "en":
            continue
        path = data.root("resources") / "languages" / f"{code}.po"
        catalogue = polib.pofile(str(path), encoding="utf-8")
        known = {entry.msgid: entry for entry in catalogue}
        result = polib.POFile(wrapwidth=118)
        result.metadata = catalogue.metadata
        for one, text in sorted(wanted.items(), key=lambda item: (item[1].file, item[1].line)):
            entry = known.get(one)
            if entry is None or bool(entry.msgid_plural) != bool(text.many):
                plural = {"0": "", "1": ""} if code == "es" else {"0": ""}
                entry = polib.POEntry(msgid=one, msgid_plural=text.many, msgstr_plural=plural if text.many else {})
            # Without line numbers: they would change with every edit.
            entry.occurrences = [(text.file, "")]
            result.append(entry)
        result.save(str(path))


if __name__ == "__main__":
    update()
