"""Runs through the statements of host code, with names for all values that it does not give."""

from gemmviz.catalogue.guessing.host.calls import Calls
from gemmviz.catalogue.guessing.host.evaluation import VECTORS, bracketed
from gemmviz.catalogue.guessing.host.expressions import WORDS_OF_TYPES, Node, Tokens
from gemmviz.catalogue.guessing.host.names import Stop
from gemmviz.catalogue.guessing.host.outside import outside
from gemmviz.catalogue.guessing.host.round_ups import rounded_up
from gemmviz.catalogue.guessing.host.statements import Block
from gemmviz.catalogue.guessing.host.values import Array, Cell, Code, Frame, Struct, Value, copied
from gemmviz.catalogue.guessing.plain_values import SIZES

_LEAVES = frozenset({"return", "exit", "abort", "throw", "continue", "break", "EXIT_FAILURE", "TORCH_CHECK"})


class _Left(Exception):
    def __init__(self, value: Value = None) -> None:
        self.value = value


class Run(Calls):
    """One evaluation of host code; its parameters are those of `gemmviz.catalogue.guessing.host.names.Names`."""

    def declare_outside(self) -> None:
        """Evaluate the declarations outside of functions."""
        for file in self.files:
            here = Frame(self.outside.scopes, self.outside.types, None, file.constants)
            for one in outside(file.tokens):
                self._outer(one, here)

    def run(self, block: Block, frame: Frame) -> Value:
        """Run a function's body and return its value."""
        self.depth += 1
        try:
            self.block(block, frame)
        except _Left as left:
            return left.value
        finally:
            self.depth -= 1
        return None

    def block(self, block: Block, frame: Frame) -> None:
        """Run statements in the scope that is open."""
        for one in block:
            self.statement(one, frame)

    def statement(self, node: Node, frame: Frame) -> None:
        """Run one statement."""
        what = node[0]
        if what == "block":
            self.block(node[1], frame.inner() if not _declares_only(node[1]) else frame)
        elif what == "expression":
            self.value(node[1], frame)
        elif what == "declare":
            self.declare(node, frame)
        elif what == "alias":
            frame.types[node[1]] = self.argument(node[2], frame)
        elif what == "return":
            raise _Left(copied(self.value(node[1], frame)) if node[1] else None)
        elif what == "if":
            self._if(node, frame)
        elif what == "loop":
            inner = frame.inner()
            self._head(node[1], inner)
            self.block(node[2], inner.inner())
        elif what == "switch":
            self._switch(node, frame)

    def _if(self, node: Node, frame: Frame) -> None:
        condition = self.value(node[1], frame)
        asked = self.truth(condition)
        then, other = node[2], node[3]
        if isinstance(condition, Code) and not other and self._rounds_up(condition, then, frame):
            return
        leads = [self._leads(block) for block in (then, other)]
        if asked is None or leads[not asked]:
            if leads == [True, True] and asked is None:
                self._both(then, other, frame)
                return
            if leads[0] != leads[1]:
                # The launch is in one of the branches: the other one is for other arguments.
                self._guarded(then if leads[0] else other, frame)
                return
            if asked is None:  # an option, or an error: without it there is the usual way
                asked = int(bool(other) and not _leaves(then))
        self.block(then if asked else other, frame.inner())

    def _rounds_up(self, condition: Code, then: Block, frame: Frame) -> bool:
        """Round a variable up where a condition says so: ``if (N % 16) blocks++``. Return whether it does that."""
        cell = self.cell(target, frame) if (target := _counted(then)) else None
        if cell is None or not isinstance(cell.value, Code):
            return False
        old, name = cell.value.tokens, cell.value.tokens[0]
        floor = self.constants.get(name, old) if len(old) == 1 else old
        asked = tuple(part for word in condition.tokens for part in (bracketed(floor) if word == name else (word,)))
        whole = rounded_up((*bracketed(floor), "+", "(", *bracketed(asked), "?", "1", ":", "0", ")"))
        if whole is not None:
            cell.value = self.named(cell.called, Code(whole))
        return whole is not None

    def _both(self, then: Block, other: Block, frame: Frame) -> None:
        for one in (then, other):
            self._guarded(one, frame)

    def _guarded(self, block: Block, frame: Frame) -> None:
        """Run a branch; the statements behind it run even if the branch leaves the function."""
        try:
            self.block(block, frame.inner())
        except _Left:
            return

    def _switch(self, node: Node, frame: Frame) -> None:
        self.value(node[1], frame)
        leading = [block for block in node[2] if self._leads(block)]
        for block in leading or node[2][:1]:
            self._guarded(block, frame)

    def _leads(self, block: Block) -> bool:
        return _mentions(block, self.reaching)

    def _head(self, node: Node, frame: Frame) -> None:
        if node[0] == "range":
            item = self.likely(self.value(node[2], frame))
            for name, *_ in node[1][2] if node[1] else ():
                frame.scopes[-1][name] = Cell(copied(item), name)
        elif node[0] == "declare":
            # The first turn of a loop: ``for (int T = 16; ...)`` launches with 16, and later with other values.
            for name, _, _, given in node[2]:
                first = self.value(given[1], frame) if given and given[0] == "=" else None
                frame.scopes[-1][name] = Cell(self.named(name, first) if isinstance(first, Code) else None, name)
        elif node[0] == "expression" and node[1][0] == "assign":
            cell = self.cell(node[1][2], frame)
            if cell is not None:
                cell.value = None

    def declare(self, node: Node, frame: Frame) -> None:
        """Declare variables."""
        kind = self.kind(node[1], frame)
        for name, sign, extents, given in node[2]:
            cell = Cell(None, name)
            if extents:
                cell.value = self._array(kind, given[1] if given else (), frame)
            elif given and given[0] == "=":
                if given[1][0] == "braces" and not given[1][1] and not sign:
                    cell.value = self._of_braces(kind, given[1], name, frame)
                else:
                    if sign == "&" and (place := self.cell(given[1], frame)) is not None:
                        frame.scopes[-1][name] = place
                        continue
                    cell.value = self.named(name, copied(self.value(given[1], frame)))
            elif given:
                node_made = given[1]
                items = node_made[2]
                pairs = list(items) if node_made[0] == "braces" else [("", one) for one in items]
                cell.value = self._of_items(kind, pairs, name, frame)
            elif not sign and kind and (kind[-1] in VECTORS or kind[0] in self.fields):
                cell.value = self.made(_struct(kind), (), frame)
                if kind[-1] == "dim3":  # it gets its extents later: from nowhere that was seen, if it still has none
                    cell.value.members["x"].value = None
            elif not sign and kind and kind[0] not in WORDS_OF_TYPES and kind[0] not in SIZES:
                cell.value = Struct(kind[0])
            elif name in self.asked:
                cell.value = self.named(name, None)
            frame.scopes[-1][name] = cell

    def _array(self, kind: Tokens, node: Node, frame: Frame) -> Value:
        if not node or node[0] != "braces":
            return Array([])
        made, name = kind and (kind[0] in self.fields or kind[-1] in VECTORS), _struct(kind)
        items = (item for _, item in node[2])
        return Array(
            [self.made(name, i[2], frame) if made and i[0] == "braces" else self.value(i, frame) for i in items]
        )

    def _of_braces(self, kind: Tokens, node: Node, name: str, frame: Frame) -> Value:
        return self._of_items(kind, list(node[2]), name, frame)

    def _of_items(self, kind: Tokens, items: list[tuple[str, Node]], name: str, frame: Frame) -> Value:
        first = _struct(kind)
        if first in WORDS_OF_TYPES or first in SIZES:
            return self.named(name, self.value(items[0][1], frame)) if len(items) == 1 else None
        if first in ("vector", "array", "initializer_list") or kind[:3] == ("std", "::", "vector"):
            return Array([self.value(item, frame) for _, item in items])
        return self.made(first, items, frame)

    def _outer(self, node: Node, frame: Frame) -> None:
        try:
            if node[0] == "alias":
                self.outside.types.setdefault(node[1], node[2])
            elif node[0] == "declare" and all(self._is_new(name) for name, *_ in node[2]):
                self.declare(node, frame)
        except (Stop, _Left):
            return

    def _is_new(self, name: str) -> bool:
        return name not in self.outside.scopes[0] and name not in self.functions and name != self.wanted


def _counted(block: Block) -> Node | None:
    """Return the variable to which a block adds 1, and does nothing else; None for another block."""
    inner = block[0][1] if len(block) == 1 and block[0][0] == "block" else block
    if len(inner) != 1 or inner[0][0] != "expression":
        return None
    node = inner[0][1]
    adds = node[:2] == ("unary", "++") or (node[:2] == ("assign", "+=") and node[3] == ("number", "1"))
    counted: Node | None = node[2] if adds else None
    return counted


def _declares_only(block: Block) -> bool:
    return bool(block) and all(one[0] == "declare" for one in block)


def _leaves(block: Block) -> bool:
    return _mentions(block, frozenset(_LEAVES)) or any(one[0] in ("return", "leave") for one in block)


def _mentions(node: object, words: frozenset[str]) -> bool:
    """Return whether a word stands anywhere in a node."""
    if isinstance(node, str):
        return node in words
    return isinstance(node, tuple) and any(_mentions(one, words) for one in node)


def _struct(kind: Tokens) -> str:
    """Return the name of a structure's type: the vector that its words end with, else the first one; "" for none."""
    if not kind:
        return ""
    return kind[-1] if kind[-1] in VECTORS else kind[0]
