"""Texts below the table of counters: totals, occupancy, and predictions beside measured figures.

Totals are *recorded*, occupancy is *modelled*; where the source was proved, predictions stand beside a GPU's own
*measured* counters.
"""

from typing import TYPE_CHECKING

from gemmviz.bench.model.devices import limits
from gemmviz.bench.model.occupancy import advice, occupancy
from gemmviz.language import mark, tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.session import Session
from gemmviz.trace.cost.wavefronts import SECTOR_BYTES
from gemmviz.trace.playable import Playable
from gemmviz.ui.charts.kernel_use import default_device, kernel_use, measured_otherwise
from gemmviz.ui.look.figure_text import gflops_text, measured_briefly, origin_name
from gemmviz.ui.stage.caption import BETWEEN

if TYPE_CHECKING:
    from gemmviz.proving.proofs import Proof, Proofs
    from gemmviz.proving.verdict import Compared

# Where counters are called by name: `gemmviz.proving.launch_counters.COUNTERS`,
# `gemmviz.proving.verdict.BY_INSTRUCTION`.
_COUNTED = {
    "global load sectors": mark("global load sectors"),
    "global load requests": mark("global load requests"),
    "global store sectors": mark("global store sectors"),
    "global store requests": mark("global store requests"),
    "shared load wavefronts": mark("shared load wavefronts"),
    "shared store wavefronts": mark("shared store wavefronts"),
    "shared load conflicts": mark("shared load conflicts"),
    "shared store conflicts": mark("shared store conflicts"),
    "boxes loaded": mark("boxes loaded"),
    "boxes stored": mark("boxes stored"),
    "wgmma wavefronts": mark("wgmma wavefronts"),
}
_LEVELS = {
    "compulsory": mark("compulsory"),
    "global": mark("global"),
    "shared": mark("shared"),
    "global, asked": mark("global, asked"),
    "global, moved": mark("global, moved"),
    "shared, asked": mark("shared, asked"),
    "shared, moved": mark("shared, moved"),
    "memory, asked": mark("memory, asked"),
}


def summary(playable: Playable, step: int) -> str:
    """Return the figures that belong to no single array."""
    traffic, cuda = playable.traffic, playable.recording.backend == "cuda"
    parts = []
    if cuda:
        now, total = (int(playable.moved_bytes[s]) if playable.timeline.steps else 0 for s in (step, -1))
        parts.append(tr("global sectors {count}", count=of(now // SECTOR_BYTES, total // SECTOR_BYTES)))
        if traffic.conflict_degree():
            conflicts, degree = traffic.bank_conflicts(), f"{traffic.conflict_degree():.2f}"
            text = (
                trn("{count} bank conflict", "{count} bank conflicts", conflicts, count=thousands(conflicts))
                if conflicts
                else tr("no bank conflicts")
            )
            parts.append(tr("wavefronts per shared request {degree}: {conflicts}", degree=degree, conflicts=text))
    # Where bytes are counted twice, those that really move say more: the tip has both.
    crossing = [level for level in playable.levels.levels if level.intensity]
    shown = [level for level in crossing if not (cuda and level.name.endswith(", asked"))]
    if shown:
        named = (f"{tr(_LEVELS[level.name.removesuffix(', moved')])} {level.intensity:.3g}" for level in shown)
        parts.append(tr("FLOP/byte: {figures}", figures=", ".join(named)))
    used = [f"{a.name} {a.reads_per_element:.3g}×" for a in playable.levels.arrays if a.reads_per_element > 1]
    if used:
        parts.append(tr("reuse: {figures}", figures=", ".join(used)))
    return BETWEEN.join(parts)


def explanation(playable: Playable) -> str:
    """Return the meaning of the summary's figures, with those that it leaves out."""
    levels = playable.levels
    crossing = [
        tr(
            "{level}: {bytes} bytes, {intensity} FLOP/byte",
            level=tr(_LEVELS[level.name]),
            bytes=thousands(level.bytes),
            intensity=f"{level.intensity:.3g}",
        )
        for level in levels.levels
        if level.intensity
    ]
    arrays = [
        tr(
            "{array}: {read} bytes read, {loaded} loaded, reuse {reuse}",
            array=a.name,
            read=thousands(a.read_bytes),
            loaded=thousands(a.loaded_bytes),
            reuse=f"{a.reads_per_element:.3g}",
        )
        for a in levels.arrays
        if a.read_bytes
    ]
    flops = tr(
        "Recorded. Arithmetic intensity: {flops} FLOP (2 M N K) / the bytes that cross a level.",
        flops=thousands(levels.flops),
    )
    return "\n".join(
        [
            flops,
            tr(
                "Compulsory: each element that is used crosses once. Asked: what threads ask for. Moved: whole sectors "
                "of 32 bytes, whole wavefronts of 128."
            ),
            *crossing,
            tr(
                "Reuse: bytes read / bytes loaded, the number of reads per loaded byte. Loaded: in global memory "
                "each element once, in shared memory the bytes written to it."
            ),
            *arrays,
        ]
    )


def occupied(session: Session) -> tuple[str, str]:
    """Return the occupancy in a few words, with its mark, and its factors; empty if there are no blocks."""
    if session.choice.kernel.backend != "cuda":
        return "", ""
    if not session.results.device:
        # The machine's GPU is not known yet: an occupancy on another one would change without a word.
        return tr("occupancy: this machine's GPU is not known yet"), ""
    device = default_device(session)
    bounds = limits(device)
    if bounds is None:
        return "", ""
    use, source = kernel_use(session)
    now = occupancy(use, bounds)
    values = {"percent": f"{100 * now.fraction:.3g}", "device": _short(device["name"])}
    other = measured_otherwise(session)
    text = (
        tr("occupancy of {kernel}: {percent} % modelled ({device})", kernel=other, **values)
        if other
        else tr("occupancy {percent} % modelled ({device})", **values)
    )
    warps = tr(
        "{warps} of {most} warps per SM: {threads} threads per block, {registers} registers per thread, "
        "{shared} bytes of shared memory per block",
        warps=now.warps,
        most=bounds.warps_per_sm,
        threads=use.threads,
        registers=use.registers,
        shared=thousands(use.shared_bytes),
    )
    return text, "\n".join([warps, source, advice(use, bounds)])


def _short(device: str) -> str:
    return device.removeprefix("NVIDIA ").removeprefix("GeForce ")


def timed(session: Session) -> str:
    """Return the chosen kernel's measured figure with its mark; empty if there is none."""
    shown = session.results.shown(session.choice.kernel.name)
    if shown is None or not (gflops := shown.row.get("gflops")):
        return ""
    values = {"figure": gflops_text(gflops), "size": f"{shown.row['M']} × {shown.row['N']} × {shown.row['K']}"}
    origin = origin_name(shown.origin) if shown.origin else measured_briefly(session.results)
    return tr("{figure} GFLOPS at {size}: {origin}", origin=origin, **values)


def of(now: int, total: int) -> str:
    """Write a count up to a step and in all."""
    return f"{thousands(now)} / {thousands(total)}"


def proof_of(session: Session) -> "tuple[Proofs, list[Proof]] | None":
    """Return the proofs of the chosen source, and the file that holds them; None if there are none."""
    for file in session.results.proofs:
        found = [proof for proof in file.of(session.choice.kernel) if not proof.error]
        if found:
            return file, found
    return None


def proved(session: Session) -> tuple[str, str]:
    """Return where the chosen source was proved, in a few words, and all that was compared; empty if it was not."""
    known = proof_of(session)
    if known is None:
        return "", ""
    from gemmviz.proving.proofs import proved_on  # late: proofs are read after the window's first paint

    file, found = known
    holds = all(proof.holds for proof in found)
    where = tr("✓ proved") if holds else tr("⚠ differs from the GPU")
    rows = [f"{proved_on(session.choice.kernel, [file])}:"] if holds else []
    for proof in found:
        if proof.recorded_wrong == 0 and proof.gpu_wrong == 0:
            exact = tr(
                "{kernel} at {size}: C is exact in the recording and on the GPU", kernel=proof.label, size=proof.size
            )
        else:
            exact = tr("{kernel} at {size}: C is wrong", kernel=proof.label, size=proof.size)
        rows += [exact, *(f"    {tr(_COUNTED[c.what])}: {_beside(c)}" for c in proof.compared)]
        rows += [f"    {one.words}" for one in proof.unseen]
    return where, "\n".join(rows)


def compared(session: Session) -> tuple[str, str]:
    """Return predicted beside measured, of the largest size that was proved: in a sentence, and line by line."""
    known = proof_of(session)
    if known is None:
        return "", ""
    file, found = known
    proof = max(found, key=lambda p: p.m * p.n * p.k)
    verdicts = [c.verdict for c in proof.compared]
    values = {
        "gpu": _short(file.machine.gpu),
        "size": proof.size,
        "all": len(verdicts),
        "equal": verdicts.count("equal"),
    }
    differ, explained = verdicts.count("differs"), verdicts.count("explained")
    if differ:
        text = trn(
            "⚠ {count} of {all} counters differs from a real {gpu} at {size}",
            "⚠ {count} of {all} counters differ from a real {gpu} at {size}",
            differ,
            **values,
        )
    elif explained:
        text = trn(
            "{equal} of {all} counters match a real {gpu}; {count} differs for a known reason",
            "{equal} of {all} counters match a real {gpu}; {count} differ for a known reason",
            explained,
            **values,
        )
    else:
        text = tr("All {all} counters match a real {gpu}", **values)
    marks = {"equal": "=", "explained": "≈", "differs": "⚠"}
    lines = [
        f"{marks[c.verdict]}  {tr(_COUNTED[c.what])}: {thousands(c.predicted)} / {thousands(c.measured)}"
        for c in proof.compared
    ]
    return text, "\n".join([tr("predicted (recorded) / measured ({gpu}, {size})", **values), *lines])


def _beside(compared: "Compared") -> str:
    values = {"predicted": thousands(compared.predicted), "measured": thousands(compared.measured)}
    if compared.verdict == "equal":
        return tr("{measured}, predicted and measured", **values)
    if compared.adjusted is None:
        return tr("{predicted} predicted, {measured} measured: {note}", note=compared.note, **values)
    return tr(
        "{predicted} predicted, with that {adjusted}, {measured} measured: {note}",
        adjusted=thousands(compared.adjusted),
        note=compared.note,
        **values,
    )
