"""Texts of figures and verdicts, the same on the terminal and in the window."""

from gemmviz.language import mark, tr
from gemmviz.language.numbers import thousands

Value = float | str

AS_WRITTEN = "recorded as written"
ORIGINS = {
    "measured": mark("measured"),
    "profiled": mark("measured by Nsight Compute"),
    "recorded": mark("recorded"),
    AS_WRITTEN: mark("recorded as written"),
    "modelled": mark("modelled"),
    "reference": mark("reference"),
}
"""The origins of figures, as text."""
STATES = {
    "holds": mark("holds"),
    "does not hold": mark("does not hold"),
    "cannot be judged here": mark("cannot be judged here"),
    "not run": mark("not run yet"),
}
"""The states of checks and claims, as text."""


def figure(value: Value | None, unit: str) -> str:
    """Return a figure for people: at most four significant digits, and its unit."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    text = thousands(float(value)) if abs(value) >= 1000 else f"{value:.4g}"
    return text + (unit if unit in ("x", "%", "") else f" {unit}")


def sentence(stated: str, rule: str, found: str, state: str, because: str) -> str:
    """Return the stated figure, the condition, our figure, and the verdict, in one sentence.

    Parameters
    ----------
    stated, found
        Both figures with their units and devices; empty if there is none.
    rule
        The condition under which the claim holds, from `Rule.words`.
    state
        A key of `STATES`.
    because
        Why there is no figure, or a remark about it; may be empty.

    Returns
    -------
    str
        ``"stated 65x (RTX 3060); holds for 52x or more; measured 184x (NVIDIA H200): holds"``.
    """
    parts = [tr("stated {figure}", figure=stated)] if stated else []
    parts.append(tr("holds for {rule}", rule=rule))
    verdict = tr(STATES[state])
    parts.append(f"{found}: {verdict}" if found else verdict)
    text = "; ".join(parts)
    return f"{text} ({because})" if because else text


def beside(text: str, device: str) -> str:
    """Return a figure with its device."""
    return f"{text} ({device})" if device else text
