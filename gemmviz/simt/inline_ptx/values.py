"""Registers, constants and addresses of PTX as C++ expressions."""

from collections.abc import Mapping, Sequence

from gemmviz.simt.inline_ptx.grammar import Address, Name, NotPtx, Number, Register, Value, Vector

# The names of types in instructions, and the C++ types of their values: see prelude/inline_ptx/.
TYPES = {
    "pred": "bool",
    "u8": "unsigned char",
    "s8": "signed char",
    "u16": "unsigned short",
    "s16": "short",
    "u32": "unsigned",
    "s32": "int",
    "u64": "unsigned long long",
    "s64": "long long",
    "b8": "unsigned char",
    "b16": "unsigned short",
    "b32": "unsigned",
    "b64": "unsigned long long",
    "f16": "_Float16",
    "bf16": "nv_bfloat16",
    "f16x2": "gv_ptx::two<_Float16>",
    "bf16x2": "gv_ptx::two<nv_bfloat16>",
    "f32": "float",
    "f32x2": "gv_ptx::two<float>",
    "f64": "double",
}
_SPECIAL = {
    **{f"%tid.{axis}": f"gv_thread_index().{axis}" for axis in "xyz"},
    **{f"%ntid.{axis}": f"gv_block_shape().{axis}" for axis in "xyz"},
    **{f"%ctaid.{axis}": f"gv_block().{axis}" for axis in "xyz"},
    **{f"%nctaid.{axis}": f"gv_grid().{axis}" for axis in "xyz"},
    "%laneid": "gv_lane()",
    "%warpid": "gv_ptx::warp()",
    "%nwarpid": "gv_ptx::warps()",
    "%lanemask_eq": "(1u << gv_lane())",
    "%lanemask_lt": "((1u << gv_lane()) - 1)",
    "%lanemask_le": "(((1u << gv_lane()) - 1) | 1u << gv_lane())",
    "%lanemask_ge": "(~0u << gv_lane())",
    "%lanemask_gt": "(~0u << gv_lane() & ~(1u << gv_lane()))",
    "%cluster_ctarank": "gv_cluster_rank()",
    "%cluster_ctaid.x": "gv_cluster_rank()",
    "%cluster_ctaid.y": "0u",
    "%cluster_ctaid.z": "0u",
    "%cluster_nctarank": "gv_cluster_blocks()",
    "%cluster_nctaid.x": "gv_cluster_blocks()",
    "%cluster_nctaid.y": "1u",
    "%cluster_nctaid.z": "1u",
    "%clusterid.x": "(gv_block_index().x / gv_cluster_blocks())",
    "%clusterid.y": "gv_block_index().y",
    "%clusterid.z": "gv_block_index().z",
    "%nclusterid.x": "(gv_grid_shape().x / gv_cluster_blocks())",
    "%nclusterid.y": "gv_grid_shape().y",
    "%nclusterid.z": "gv_grid_shape().z",
    # Time stands still, as for clock(), and the blocks run one after another on one multiprocessor.
    **dict.fromkeys(("%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi", "%smid"), "0u"),
    **dict.fromkeys(("%clock64", "%globaltimer", "%gridid"), "0ull"),
    "%nsmid": "1u",
    "WARP_SZ": "32u",
}
_WORD = "unsigned long long"
_SINK = "_"


class Values:
    """The values of one asm statement.

    Parameters
    ----------
    operands
        The C++ variable of each operand, by ``%0`` or ``%[name]``.
    registers
        The registers that the statement declares, each with the C++ variable for it.
    """

    def __init__(self, operands: Mapping[str, str], registers: Mapping[Register, str]) -> None:
        self._operands = operands
        self._registers = registers
        self._block: tuple[int, ...] = ()

    def enter(self, block: tuple[int, ...]) -> None:
        """From now on, search registers in the scope of a block."""
        self._block = block

    def variable(self, name: str) -> str:
        """Return the C++ variable of a register or an operand.

        Raises
        ------
        NotPtx
            When it is not declared.
        """
        if name in self._operands:
            return self._operands[name]
        found = self._declared(name)
        if found is None:
            raise NotPtx(name)
        return self._registers[found]

    def _declared(self, name: str) -> Register | None:
        """Return the register of a name; the declaration in the innermost block counts."""
        visible = [r for r in self._registers if r.name == name and r.block == self._block[: len(r.block)]]
        return max(visible, key=lambda register: len(register.block), default=None)

    def value(self, value: Value, kind: str) -> str:
        """Return a value as a C++ expression of a type.

        Parameters
        ----------
        value
            A register or a constant.
        kind
            A C++ type.
        """
        if isinstance(value, Number):
            return self._number(value.text, kind)
        if isinstance(value, Vector) and len(value.items) == 1:
            return self.value(value.items[0], kind)
        if not isinstance(value, Name):
            raise NotPtx("a vector where one value is wanted")
        special = value.text not in self._operands and value.text in _SPECIAL
        text = _SPECIAL[value.text] if special else self.variable(value.text)
        declared = None if special or value.text in self._operands else self._declared(value.text)
        if declared is not None and declared.count:  # the address of a shared array
            text = f"({_WORD})(void *){text}"
        return f"!gv_ptx::as<bool>({text})" if value.negated else f"gv_ptx::as<{kind}>({text})"

    def is_predicate(self, value: Value) -> bool:
        """Return whether a value is a predicate that the statement declares."""
        return isinstance(value, Name) and any(r.name == value.text and r.kind == "bool" for r in self._registers)

    def words(self, value: Value, kind: str = "unsigned") -> str:
        """Return the registers of a vector as the initialiser of a C++ array."""
        return f"{{{', '.join(self.value(item, kind) for item in items(value))}}}"

    def store(self, target: Value, value: str) -> str:
        """Return the C++ statement that writes an expression to a register."""
        if isinstance(target, Vector) and len(target.items) == 1:
            target = target.items[0]
        if not isinstance(target, Name) or target.negated:
            raise NotPtx("a destination that is no register")
        return "" if target.text == _SINK else f"gv_ptx::set({self.variable(target.text)}, {value});"

    def stores(self, target: Value, array: str) -> str:
        """Return the C++ statements that write the elements of an array to the registers of a vector."""
        return "".join(self.store(item, f"{array}[{i}]") for i, item in enumerate(items(target)))

    def address(self, value: Value) -> str:
        """Return an address as a C++ expression: a 64-bit number."""
        if not isinstance(value, Address) or not value.terms:
            raise NotPtx("an operand that is no address")
        return " + ".join(self.value(term, _WORD) for term in value.terms)

    def pointer(self, value: Value) -> str:
        """Return an address as a C++ pointer."""
        return f"gv_ptx::at({self.address(value)})"

    def _number(self, text: str, kind: str) -> str:
        if text[:2] in ("0f", "0F"):
            return f"gv_ptx::as<{kind}>(0x{text[2:]}u)"
        if text[:2] in ("0d", "0D"):
            return f"gv_ptx::as<{kind}>(0x{text[2:]}ull)"
        if "." in text:
            return f"({kind}){text}"
        return f"gv_ptx::as<{kind}>({text.rstrip('U')}ull)"


def items(value: Value) -> Sequence[Value]:
    """Return the elements of a vector, or the value itself if it is not a vector."""
    return value.items if isinstance(value, Vector) else (value,)
