"""Reads the claims from their files under ``resources/claims``."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gemmviz import data
from gemmviz.bench.claims.record import Case, Check, Claim, Quantity, StatedTable
from gemmviz.bench.claims.rules import RULES
from gemmviz.catalogue import renamed
from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.plain import Plain

_CLAIM_KEYS = {
    "id",
    "title",
    "statement",
    "figures",
    "where",
    "why",
    "note",
    "cases",
    "checks",
    "table",
    "protocol",
    "long",
}


def load(folder: Path | None = None) -> list[Claim]:
    """Return every claim, in the order of the documents.

    Parameters
    ----------
    folder
        By default the one that gemmviz ships.

    Raises
    ------
    GemmvizError
        When a file lacks a required field, or one is wrong; the message names file and claim.
    """
    claims: list[Claim] = []
    for path, content in _files(folder):
        for number, plain in enumerate(content.get("claim", [])):
            name = plain.get("id", f"number {number}")
            try:
                claims.append(_claim(plain, content["source"], content.get("device", "")))
            except KeyError as error:
                raise GemmvizError(f"{path.name}: claim {name} lacks {error}") from None
            except (TypeError, ValueError) as error:
                raise GemmvizError(f"{path.name}: claim {name}: {error}") from None
    return claims


def _files(folder: Path | None) -> list[tuple[Path, Plain]]:
    found = []
    for path in sorted((folder or data.root("resources") / "claims").glob("*.toml")):
        try:
            found.append((path, tomllib.loads(path.read_text(encoding="utf-8"))))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise GemmvizError(f"{path.name}: {error}") from None
    return found


def _claim(plain: Mapping[str, Any], source: str, device: str) -> Claim:
    unknown = plain.keys() - _CLAIM_KEYS
    if unknown:
        raise ValueError(f"unknown key {sorted(unknown)[0]!r}")
    cases = {name: dict(case) for name, case in plain.get("cases", {}).items()}
    table = _table(plain["table"], cases) if "table" in plain else None
    checks = tuple(_check(check, cases) for check in plain.get("checks", []))
    why = plain.get("why", "")
    if bool(checks) == bool(why):
        raise ValueError("a claim has checks, or says why it cannot be judged")
    return Claim(
        id=plain["id"],
        source=source,
        title=plain["title"],
        statement=plain["statement"],
        figures=plain.get("figures", ""),
        where=plain.get("where", device),
        checks=checks,
        table=table,
        why=why,
        note=plain.get("note", ""),
        protocol=plain.get("protocol", {}),
        long=plain.get("long", False),
    )


def _check(plain: Mapping[str, Any], cases: Mapping[str, Mapping[str, Any]]) -> Check:
    rule, names = plain["rule"], plain["cases"]
    whats = [plain["what"]] * len(names) if isinstance(plain["what"], str) else plain["what"]
    if rule not in RULES:
        raise ValueError(f"no rule {rule!r}; known are {', '.join(RULES)}")
    for name in names:
        if name not in cases:
            raise ValueError(f"no case {name!r}")
    limits = {k: v for k, v in plain.items() if k in RULES[rule].limits}
    missing = set(RULES[rule].limits) - limits.keys()
    unknown = plain.keys() - limits.keys() - {"rule", "cases", "what", "label", "theirs", "unit"}
    if missing or unknown:
        raise ValueError(f"rule {rule!r} {'wants' if missing else 'knows no'} {sorted(missing or unknown)[0]!r}")
    return Check(
        rule=rule,
        label=plain["label"],
        quantities=tuple(_quantity(cases[name], w) for name, w in zip(names, whats, strict=True)),
        names=tuple(names),
        theirs=plain.get("theirs"),
        unit=plain.get("unit", ""),
        limits=limits,
    )


def _table(plain: Mapping[str, Any], cases: dict[str, Plain]) -> StatedTable:
    """Read a table; each cell becomes a case ``"ROW/COLUMN"`` that checks may name."""
    rows, columns = plain["rows"], plain["columns"]
    cells = []
    for row in rows:
        line: list[Quantity | None] = []
        for column in columns:
            cell = {"what": plain.get("what", "median_s")} | row | column
            cell["params"] = row.get("params", {}) | column.get("params", {})
            key = f"{row['label']}/{column['label']}"
            line.append(None if key in plain.get("without", []) else _quantity(cell, cell["what"]))
            cases[key] = cell
        cells.append(tuple(line))
    theirs = tuple(tuple(None if isinstance(v, str) else float(v) for v in line) for line in plain["theirs"])
    if len(theirs) != len(rows) or any(len(line) != len(columns) for line in theirs):
        raise ValueError(f"theirs must hold {len(rows)} x {len(columns)} figures")
    return StatedTable(
        title=plain["title"],
        unit=plain["unit"],
        row_axis=plain["row_axis"],
        column_axis=plain["column_axis"],
        rows=tuple(row["label"] for row in rows),
        columns=tuple(column["label"] for column in columns),
        cells=tuple(cells),
        theirs=theirs,
        scale=plain.get("scale", 1.0),
    )


def _quantity(case: Mapping[str, Any], what: str) -> Quantity:
    size: int | Sequence[int] = case["size"]
    m, n, k = (size, size, size) if isinstance(size, int) else size
    params = tuple(sorted(case.get("params", {}).items()))
    own = {name: case[name] for name in ("device", "registers", "carve_out_kib", "as_written") if name in case}
    return Quantity(Case(renamed.today(case["kernel"]), (m, n, k), params, **own), what)
