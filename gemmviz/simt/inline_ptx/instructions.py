"""The known instructions, by the beginning of their names, with their translators."""

from collections.abc import Callable, Sequence

from gemmviz.simt.inline_ptx import barriers, choices, copies, hopper, memory, wmma
from gemmviz.simt.inline_ptx.arithmetic import ARITHMETIC
from gemmviz.simt.inline_ptx.carries import CARRIES
from gemmviz.simt.inline_ptx.conversions import cvt, pack
from gemmviz.simt.inline_ptx.grammar import Instruction, NotPtx, Value
from gemmviz.simt.inline_ptx.narrow_products import sparse
from gemmviz.simt.inline_ptx.parts import PARTS
from gemmviz.simt.inline_ptx.products import mma
from gemmviz.simt.inline_ptx.values import Values

Translator = Callable[[Sequence[str], Sequence[Value], Values], str]
"""Returns the C++ of an instruction for the rest of its name, split at its dots, and its operands."""

_KNOWN: dict[str, Translator] = {
    **ARITHMETIC,
    **CARRIES,
    **PARTS,
    "slct": choices.choose,
    "set": choices.compare,
    "testp": choices.test_number,
    "cnot": choices.is_zero,
    "copysign": choices.with_sign,
    "sad": choices.distance,
    "cvt": cvt,
    "cvt.pack": pack,
    "cp.async": copies.cp_async,
    "cp.async.commit_group": copies.commit_group,
    "cp.async.wait_group": copies.wait_group,
    "cp.async.wait_all": copies.wait_all,
    "ldmatrix": copies.ldmatrix,
    "stmatrix": copies.stmatrix,
    "mma": mma,
    "mma.sp": sparse,
    "mma.sp::ordered_metadata": sparse,
    "wmma.load": wmma.load,
    "wmma.store": wmma.store,
    "wmma.mma": wmma.multiply,
    "ld": memory.ld,
    "ldu": memory.ld,
    "st": memory.st,
    "st.async": memory.st_async,
    "atom": memory.atom,
    "red": memory.red,
    "cvta": memory.cvta,
    "isspacep": memory.is_in_space,
    "fence": memory.fence,
    "membar": memory.fence,
    "prefetch": memory.nothing,
    "prefetchu": memory.nothing,
    "applypriority": memory.nothing,
    "discard": memory.nothing,
    "createpolicy": memory.create_policy,
    "nanosleep": memory.nothing,
    "griddepcontrol": memory.nothing,
    "setmaxnreg": memory.nothing,
    "cp.async.mbarrier.arrive": hopper.mbarrier_arrive_copied,
    "mbarrier.init": hopper.mbarrier_init,
    "mbarrier.inval": memory.nothing,
    "mbarrier.arrive": hopper.mbarrier_arrive,
    "mbarrier.expect_tx": hopper.mbarrier_expect,
    "mbarrier.complete_tx": hopper.mbarrier_complete,
    "mbarrier.try_wait": hopper.mbarrier_wait,
    "mbarrier.test_wait": hopper.mbarrier_wait,
    "fence.mbarrier_init": memory.nothing,
    "fence.proxy": hopper.proxy_fence,
    "barrier.cluster.arrive": hopper.cluster_arrive,
    "barrier.cluster.wait": hopper.cluster_wait,
    "mapa": hopper.mapa,
    "cp.async.bulk.tensor": hopper.box,
    "cp.reduce.async.bulk.tensor": hopper.box_sum,
    "cp.async.bulk": hopper.bulk,
    "cp.reduce.async.bulk": hopper.bulk_sum,
    "cp.async.bulk.prefetch": memory.nothing,
    "cp.async.bulk.commit_group": hopper.box_commit,
    "cp.async.bulk.wait_group": hopper.box_wait,
    "wgmma.fence": memory.nothing,
    "wgmma.commit_group": hopper.wgmma_commit,
    "wgmma.wait_group": hopper.wgmma_wait,
    "wgmma.mma_async": hopper.wgmma,
    "bar.sync": barriers.sync,
    "bar.cta.sync": barriers.sync,
    "bar.arrive": barriers.arrive,
    "bar.cta.arrive": barriers.arrive,
    "barrier.sync": barriers.sync,
    "barrier.cta.sync": barriers.sync,
    "barrier.arrive": barriers.arrive,
    "barrier.cta.arrive": barriers.arrive,
    **{f"{name}.red": barriers.count for name in ("bar", "bar.cta", "barrier", "barrier.cta")},
    "bar.warp.sync": barriers.warp_sync,
    "shfl.sync": barriers.shuffle,
    "vote.sync": barriers.vote,
    "match.any.sync": barriers.match_any,
    "match.all.sync": barriers.match_all,
    "redux.sync": barriers.reduction,
    "elect.sync": barriers.elect,
    "activemask": barriers.active_mask,
    "movmatrix": barriers.movmatrix,
    "exit": barriers.leave,
    "ret": barriers.leave,
    "trap": barriers.trap,
    "brkpt": memory.nothing,
}


def translate(instruction: Instruction, values: Values) -> str:
    """Return the C++ of an instruction, without its predicate.

    Raises
    ------
    NotPtx
        When the instruction is unknown.
    """
    parts = instruction.opcode.split(".")
    for length in range(len(parts), 0, -1):
        known = _KNOWN.get(".".join(parts[:length]))
        if known is not None:
            try:
                return known(parts[length:], instruction.operands, values)
            except (IndexError, ValueError, KeyError):  # too few operands, or unknown types
                raise NotPtx(instruction.opcode) from None
    raise NotPtx(instruction.opcode)
