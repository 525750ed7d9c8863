"""The text above the tables of the tab of machine code."""

from gemmviz.assembly.counts import OTHER, in_order
from gemmviz.assembly.listing import Listing
from gemmviz.assembly.summary import Part, Summary
from gemmviz.language import tr, trn
from gemmviz.language.numbers import thousands
from gemmviz.ui.stage.caption import BETWEEN


def usage_text(listing: Listing) -> str:
    """Return the resources of the kernel: registers, shared memory, spilled registers."""
    used = listing.usage
    parts = [
        tr("{count} registers", count=used.registers),
        tr("{count} B shared", count=thousands(used.shared_bytes)),
    ]
    if used.spill_store_bytes or used.spill_load_bytes:
        stored, loaded = used.spill_store_bytes, used.spill_load_bytes
        parts.append(tr("✗ spilled: {stored} B stored, {loaded} B loaded", stored=stored, loaded=loaded))
    else:
        parts.append(tr("nothing spilled"))
    if used.stack_bytes:
        parts.append(tr("{count} B local memory", count=used.stack_bytes))
    parts.append(tr("{count} instructions", count=thousands(len(listing.instructions))))
    return BETWEEN.join(parts)


def loop_text(listing: Listing, found: Summary) -> str:
    """Return the instructions of the main loop, also for each product instruction."""
    if found.loop is None:
        if not found.whole.unit:
            return tr("No instruction multiplies.")
        return BETWEEN.join([tr("No loop holds the products"), *_counts(found.whole)])
    part = found.loop
    first, last = (listing.instructions[part.instructions[at]].address for at in (0, -1))
    head = tr(
        "┃ main loop {first} to {last}: {count} instructions",
        first=f"{first:04x}",
        last=f"{last:04x}",
        count=len(part.instructions),
    )
    return BETWEEN.join([head, *_counts(part)])


def _counts(part: Part) -> list[str]:
    """Return the counts of a part, each with its ratio to the instructions that make products."""
    parts = []
    for name, count in in_order(part.counts):
        shown = trn("{count} other", "{count} others", count) if name == OTHER else f"{count} {name}"
        ratio = part.ratio(name)
        if name == part.unit or ratio is None:
            parts.append(shown)
        else:
            parts.append(tr("{counted} ({ratio} per {unit})", counted=shown, ratio=f"{ratio:.3g}", unit=part.unit))
    return parts


def loop_tip(part: Part) -> str:
    """Explain the figures of a part."""
    lines = [
        tr(
            "Of each iteration, as compiled; the loop is the innermost one that makes products. "
            "A warp makes {count} products in it.",
            count=thousands(part.products),
        )
    ]
    if part.shared_bytes:
        lines.append(tr("A thread reads {count} bytes of shared memory in it.", count=thousands(part.shared_bytes)))
    return "\n".join(lines)
