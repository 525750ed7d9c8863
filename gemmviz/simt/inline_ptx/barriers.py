"""Barriers of the block and the warp, shuffles and votes.

Rules: PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from collections.abc import Sequence

from gemmviz.simt.inline_ptx.grammar import NotPtx, Pair, Value
from gemmviz.simt.inline_ptx.values import Values

_SHUFFLES = {"idx": "INDEX", "up": "UP", "down": "DOWN", "bfly": "BUTTERFLY"}


def sync(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bar.sync number{, threads}``, ``barrier.sync``."""
    if not operands:
        return "gv_barrier();"
    number = values.value(operands[0], "int")
    threads = values.value(operands[1], "int") if len(operands) > 1 else "0"
    return f"gv_ptx::meet({number}, {threads});"


def arrive(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bar.arrive number, threads``: the thread arrives at the barrier and continues."""
    number, threads = (values.value(operand, "int") for operand in operands)
    return f"gv_named_arrival({number}, {threads});"


def count(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bar.red.popc.u32 d, number{, threads}, p``, or ``.and.pred``, ``.or.pred``: how many threads say yes."""
    how, kind = (part for part in parts if part != "aligned")
    if kind != {"popc": "u32", "and": "pred", "or": "pred"}[how] or len(operands) not in (3, 4):
        raise NotPtx
    number, said = values.value(operands[1], "int"), values.value(operands[-1], "bool")
    threads = values.value(operands[2], "int") if len(operands) > 3 else "0"
    found = f"gv_ptx::votes({number}, {threads}, {'!' * (how == 'and')}{said})"
    return values.store(operands[0], {"popc": found, "and": f"({found} == 0)", "or": f"({found} != 0)"}[how])


def warp_sync(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``bar.warp.sync mask``."""
    return f"gv_sync_warp({values.value(operands[0], 'unsigned')});"


def shuffle(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``shfl.sync.bfly.b32 d|p, a, lanes, limits, mask``; p: whether the lane that is read is within the limits."""
    how, kind = parts
    if kind != "b32" or len(operands) != 5:
        raise NotPtx
    pair = operands[0]
    target, inside = (pair.first, pair.second) if isinstance(pair, Pair) else (pair, None)
    value, lane, limits, mask = (values.value(operand, "unsigned") for operand in operands[1:])
    source = f"gv_ptx::source_lane(gv_ptx::SHUFFLE_{_SHUFFLES[how]}, {lane}, {limits}, gv_i)"
    read = f"bool gv_i; const int gv_l = {source}; const unsigned gv_v = gv_from({mask}, {value}, gv_l);"
    return f"{{ {read} {values.store(target, 'gv_v')} {values.store(inside, 'gv_i') if inside else ''} }}"


def vote(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``vote.sync.ballot.b32 d, p, mask``; ``uni``: whether all lanes say the same."""
    found = {"all": "__all_sync", "any": "__any_sync", "ballot": "__ballot_sync"}
    if "uni" in parts:
        predicate, mask = values.value(operands[1], "bool"), values.value(operands[2], "unsigned")
        given = f"const unsigned gv_m = {mask}, gv_b = __ballot_sync(gv_m, {predicate});"
        return f"{{ {given} {values.store(operands[0], '(gv_b == 0 || gv_b == gv_m)')} }}"
    how = [found[part] for part in parts if part in found]
    if len(how) != 1:
        raise NotPtx
    predicate, mask = values.value(operands[1], "bool"), values.value(operands[2], "unsigned")
    result = f"{how[0]}({mask}, {predicate})"
    return values.store(operands[0], result if "ballot" in parts else f"({result} != 0)")


def reduction(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``redux.sync.add.s32 d, a, mask``."""
    operation, kind = parts
    if operation not in ("add", "min", "max", "and", "or", "xor") or kind not in ("s32", "u32", "b32"):
        raise NotPtx
    value, mask = (
        values.value(operands[1], "int" if kind == "s32" else "unsigned"),
        values.value(operands[2], "unsigned"),
    )
    return values.store(operands[0], f"__reduce_{operation}_sync({mask}, {value})")


def match_any(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``match.any.sync.b32 d, a, mask``: the lanes with the same value."""
    return values.store(operands[0], _same_lanes(parts, operands, values))


def match_all(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``match.all.sync.b32 d|p, a, mask``: the mask if all of its lanes have the same value, else 0."""
    pair = operands[0]
    lanes, same = (pair.first, pair.second) if isinstance(pair, Pair) else (pair, None)
    found = f"const unsigned gv_m = {values.value(operands[2], 'unsigned')}"
    found += f", gv_s = {_same_lanes(parts, operands, values)};"
    stored = values.store(lanes, "(gv_s == gv_m ? gv_m : 0u)")
    return f"{{ {found} {stored} {values.store(same, '(gv_s == gv_m)') if same else ''} }}"


def _same_lanes(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    (kind,) = parts
    value = values.value(operands[1], {"b32": "unsigned", "b64": "unsigned long long"}[kind])
    return f"__match_any_sync({values.value(operands[2], 'unsigned')}, {value})"


def elect(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``elect.sync lane|p, mask``: the first lane of the mask, and whether it is this one."""
    if not isinstance(operands[0], Pair):
        raise NotPtx
    mask = values.value(operands[1], "unsigned")
    lane, chosen = operands[0].first, operands[0].second
    first = f"(unsigned)__builtin_ctz({mask})"
    return values.store(lane, first) + values.store(chosen, f"({first} == gv_lane())")


def active_mask(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``activemask.b32 d``."""
    return values.store(operands[0], "__activemask()")


def movmatrix(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``movmatrix.sync.aligned.m8n8.trans.b16 d, a``: the matrix that the lanes hold, transposed."""
    if set(parts) != {"sync", "aligned", "m8n8", "trans", "b16"}:
        raise NotPtx
    return values.store(operands[0], f"gv_ptx::transposed({values.value(operands[1], 'unsigned')})")


def leave(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``exit``, and ``ret``: a function with asm statements is inlined in its kernel, so both end the thread."""
    if parts not in ([], ["uni"]) or operands:
        raise NotPtx
    return "gv_leave();"


def trap(parts: Sequence[str], operands: Sequence[Value], values: Values) -> str:
    """``trap``."""
    return "gv_trap();"
