"""Draws the chart of the results, from the reference: the ladder as bars beside cuBLAS, and the last rungs over N."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from results_data import NOT_MEASURED, SIDE, SWEEP, TYPES, Rung, last_rungs, rungs, share, sweep

from gemmviz.bench.document import Document
from gemmviz.bench.ranking import LIBRARIES
from gemmviz.catalogue.kernel import Kernel
from gemmviz.ui.look.theme import THEMES, Theme

_WIDTH, _ROW, _BAR = 900, 20, 13
_LEFT, _RIGHT = 250, 760
_HEAD = 46
_SWEEP_HEIGHT = 230
_NEAR = 0.9
"""From this share of the library on, tenths of a per cent are written."""
_DASHES = ("", "9 4", "2 4")
_PANELS = {"FP32, without tensor cores": ("float32",), "Tensor cores, FP16 and BF16": ("float16", "bfloat16")}


def drawings(document: Document, kernels: Sequence[Kernel]) -> dict[str, str]:
    """Return the text of each drawing (SVG) by the name of its file."""
    return {f"results-{theme.name}.svg": _drawing(document, kernels, theme) for theme in THEMES.values()}


def _drawing(document: Document, kernels: Sequence[Kernel], theme: Theme) -> str:
    panels = {
        title: [rung for rung in rungs(document, kernels, types) if rung.kernel.backend not in LIBRARIES]
        for title, types in _PANELS.items()
    }
    rows = [rung.row for found in panels.values() for rung in found if rung.row]
    dates = sorted({row["run_utc"][:10] for row in rows})
    when = " to ".join(dict.fromkeys((*dates[:1], *dates[-1:])))
    top = 30
    parts = [
        _text(12, top, f"The ladder at N = {SIDE}: TFLOPS, and share of cuBLAS", theme.text, 17, weight="bold"),
        _text(12, top + 20, f"reference: {document['device']['name']}, {when}; L2 cleared, median", theme.muted, 12),
    ]
    note = "bright: faster than all rungs before it"
    parts.append(_text(_WIDTH - 12, top + 20, note, theme.good, 12, anchor="end"))
    top += 34
    for title, found in panels.items():
        parts += _bars(title, found, top, theme)
        top += _HEAD + len(found) * _ROW + 12
    parts += _curves(document, kernels, top, theme)
    height = top + _HEAD + _SWEEP_HEIGHT + 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f"font-family=\"'DejaVu Sans', Verdana, Arial, sans-serif\">\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="{theme.background}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _bars(title: str, found: Sequence[Rung], top: int, theme: Theme) -> list[str]:
    """Draw a bar per rung; one that is faster than all before it is bright. A tick marks cuBLAS."""
    measured = [r.row for r in found if r.row]
    most = max((max(row["gflops"], row.get("library_gflops") or 0) for row in measured), default=1.0)
    scale = (_RIGHT - _LEFT) / most
    parts = [_text(12, top + 28, title, theme.text, 14, weight="bold")]
    best, named = 0.0, False
    for number, rung in enumerate(found):
        y = top + _HEAD + number * _ROW
        parts.append(_text(_LEFT - 8, y + 14, rung.kernel.alias, theme.text, 12, anchor="end"))
        if rung.row is None:
            parts.append(_text(_LEFT + 4, y + 14, rung.status, theme.muted, 12))
            continue
        gflops, library = rung.row["gflops"], rung.row.get("library_gflops")
        record, best = gflops > best, max(best, gflops)
        colour = theme.good if record else theme.faint
        width = gflops * scale
        parts.append(f'<rect x="{_LEFT}" y="{y + 3}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>')
        end = _LEFT + width
        if library:
            x = _LEFT + library * scale
            parts.append(_line(x, y, x, y + _ROW, theme.text, 2))
            if not named:
                parts.append(_text(x, y - 5, "cuBLAS", theme.text, 12, anchor="middle"))
                named = True
            if end - 2 < x < end + 120:  # the label would lie on the tick
                end = x
        part = share(rung.row)
        percent = f" ({part:.{int(part >= _NEAR)}%})" if part else ""
        parts.append(_text(end + 6, y + 14, f"{gflops / 1e3:#.3g}".removesuffix(".") + percent, theme.text, 12))
    return parts


def _curves(document: Document, kernels: Sequence[Kernel], top: int, theme: Theme) -> list[str]:
    """Draw the last rungs' share of cuBLAS over N."""
    last = last_rungs(kernels)
    shares = {k.name: [share(row) if row else None for row in sweep(document, k)] for k in last}
    known = [value for values in shares.values() for value in values if value]
    low, high = min([0.85, *known]) // 0.05 * 0.05, max([1.1, *known]) // 0.05 * 0.05 + 0.05
    bottom, left, right = top + _HEAD + _SWEEP_HEIGHT, 80, _WIDTH - 200

    def across(n: int) -> float:
        return left + (n - SWEEP[0]) / (SWEEP[-1] - SWEEP[0]) * (right - left)

    def up(value: float) -> float:
        return bottom - (value - low) / (high - low) * _SWEEP_HEIGHT

    parts = [
        _text(12, top + 28, "The last rung of each type over N, as a share of cuBLAS", theme.text, 14, weight="bold")
    ]
    for step in range(round(low * 20), round(high * 20) + 1):
        y, whole = up(step / 20), step == 20
        parts.append(_line(left, y, right, y, theme.text if whole else theme.border, 2 if whole else 1))
        parts.append(_text(left - 8, y + 4, f"{step / 20:.0%}", theme.text if whole else theme.muted, 12, anchor="end"))
    parts += [_text(across(n), bottom + 18, str(n), theme.muted, 12, anchor="middle") for n in SWEEP[::2]]
    parts.append(_text((left + right) / 2, bottom + 36, "N, with M = N = K", theme.muted, 12, anchor="middle"))
    for number, kernel in enumerate(last):
        colour, y = theme.curves[number], top + _HEAD + 20 + number * 40
        points = [
            (across(n), up(value)) if value else None for n, value in zip(SWEEP, shares[kernel.name], strict=True)
        ]
        for here, there in pairwise(points):  # no line leads across a size that is not measured
            if here and there:
                parts.append(_line(*here, *there, colour, 2, _DASHES[number]))
        parts += [f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3.5" fill="{colour}"/>' for at in points if at]
        parts.append(_line(right + 20, y, right + 50, y, colour, 2, _DASHES[number]))
        parts.append(_text(right + 58, y + 4, TYPES[kernel.dtype], theme.text, 12, weight="bold"))
        parts.append(_text(right + 58, y + 19, kernel.alias if any(points) else NOT_MEASURED, theme.muted, 12))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _text(
    x: float, y: float, text: str, colour: str, size: int, *, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
