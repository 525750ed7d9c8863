"""The most likely launch of a kernel: its tunable parameters, block, grid, shared memory and constraints."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.folding import bracket, evaluate, fold
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.grid import Blocks, in_words, one_block
from gemmviz.catalogue.guessing.guards import flat, guarded, k_of, tail_guarded
from gemmviz.catalogue.guessing.indexing import Indexing
from gemmviz.catalogue.guessing.polynomial import ONE, Polynomial, parse
from gemmviz.catalogue.guessing.roles import GuessReason, Roles, Term, kind_of, terms
from gemmviz.catalogue.guessing.tunable import THREADS
from gemmviz.catalogue.matrices import MATRICES
from gemmviz.language import tr

_SHARED_BYTES = 48 * 1024
_MOST_COMBINATIONS = 3000
_MOST_FITTING = 64
_WARP = 32
_OF_WARPS = re.compile(r"\basm\b|\bmma_sync\b|\b__shfl_\w+|\bmma\w*\b")
# Usual texts for the number of a warp in its row of the grid.
_OF_WARP = re.compile(r"\(\((?:blockDim\.(\w) \* blockIdx\.\w \+ threadIdx\.\w)\) / (\d+)\)")


@dataclass
class Shape:
    """A launch in the form of front matter. `why` holds the evidence by key of the front matter."""

    params: dict[str, tuple[int, ...]] = field(default_factory=dict)
    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    shared: str = "0"
    requires: list[str] = field(default_factory=list)
    why: dict[str, GuessReason] = field(default_factory=dict)
    tiles: dict[str, str] = field(default_factory=dict)


class Shaper:
    """Derives a launch from the use of block, thread and loop indices in the source."""

    def __init__(self, function: Function, source: ParsedSource, indexing: Indexing, roles: Roles, dtype: str) -> None:
        self.function, self.source, self.indexing, self.roles, self.dtype = function, source, indexing, roles, dtype
        self.sizes = {name for name, role in roles.of.items() if role not in ("A", "B", "C", "alpha", "beta", "")}
        self.found = {
            role: terms(indexing, roles.parameter(role), self.sizes) if roles.parameter(role) else []
            for role in MATRICES
        }
        self.body = " ".join(function.body)
        self.constants = {
            name: value for name, tokens in source.constants.items() if (value := self._constant(tokens)) is not None
        }

    def _constant(self, tokens: tuple[str, ...], depth: int = 0) -> int | None:
        def look(name: str) -> Polynomial | None:
            inner = self.source.constants.get(name)
            value = self._constant(inner, depth + 1) if inner and depth < 8 else None
            return None if value is None else Polynomial.number(value)

        return parse(tokens, look).value

    def shape(self, params: dict[str, tuple[int, ...]]) -> Shape:
        """Return the launch with one value per parameter, chosen so that the arithmetic of the source is consistent."""
        self.params = dict(params)
        made = Shape(params=dict(params))
        self._block_dims(made)
        rows, columns = self._side(self.roles.rows), self._side(self.roles.columns)
        self._choose(made, rows, columns)
        values = {name: v[0] for name, v in made.params.items()}
        self.values = values
        made.block = self._block(rows, columns, values, made)
        self._grid(made, rows, columns, values)
        self._shared(made, values)
        return made

    # -- the direction of an index

    def _side(self, atoms: tuple[str, ...]) -> list[Term]:
        """Return the summands of C's index that select a row, or those that select a column."""
        strided = any(t.size for t in self.found["C"] if t.atom in atoms)
        return [t for t in self.found["C"] if bool(t.size) == strided] if atoms else []

    def _text(self, value: Polynomial) -> str:
        """Return an expression of parameters and numbers, with the extents of the block filled in."""
        text = str(value)
        for axis, extent in zip("xyz", self.free, strict=False):
            text = re.sub(rf"\bblockDim\.{axis}\b", bracket(extent) if extent else "1", text)
        text = re.sub(
            r"[A-Za-z_]\w*",
            lambda word: str(self.constants.get(word[0], word[0])) if word[0] not in self.params else word[0],
            text,
        )
        return fold(text)

    def _number(self, value: Polynomial, values: Mapping[str, int]) -> float | None:
        return evaluate(self._text(value), values)

    # -- the block

    def _block_dims(self, made: Shape) -> None:
        """Give a name or a number to the extents of the block that the source does not define."""
        self.free: list[str] = ["", "", ""]
        for axis, letter in enumerate("xyz"):
            if not any(f"blockDim.{letter}" in f"{t.atom} {t.factor}" for t in self.found["C"]):
                continue
            extent = self._from_shared(f"threadIdx.{letter}")
            if not extent:
                names = (f"{front}{letter.upper()}" for front in ("B", "BLOCK_", "GV_BLOCK_"))
                name = next(name for name in names if name not in self.source.words)
                wide = not re.search(r"threadIdx \. y", self.body)
                made.params[name] = (256, 128, 64, 32) if wide else (16, 8, 32)
                if letter == "x" and _OF_WARPS.search(self.body):  # tensor cores and shuffles need whole warps
                    made.params[name] = (128, 32, 64, 256) if wide else (32, 64, 128)
                if letter == "x" and any(_OF_WARP.fullmatch(t.atom) for t in self.found["C"]):
                    made.params[name] = (128, 64, 32)
                    made.requires.append(f"{name} % {_WARP} == 0")
                elif letter == "y" and "wmma" in self.body:
                    made.params[name] = (2, 1, 4)
                self.params[name] = made.params[name]
                extent = name
            self.free[axis] = extent

    def _from_shared(self, atom: str) -> str:
        for name, uses in self.indexing.shared_terms.items():
            extents = self.indexing.shared.get(name, ())
            for use in uses:
                for extent, index in zip(extents, use, strict=False):
                    if index == Polynomial.name(atom):
                        text = fold(str(extent))
                        constant = self.constants.get(text)
                        return text if constant is None else str(constant)
        return ""

    def _extent(self, term: Term, side: list[Term], values: Mapping[str, int]) -> Polynomial | None:
        """Return the number of values of a thread index: the next larger factor on its side divided by its own."""
        mine = self._number(term.factor, values)
        if not mine:
            return None
        larger = [
            (number, t.factor)
            for t in side
            if t is not term and (number := self._number(t.factor, values)) and number > mine
        ]
        larger += [(number, Polynomial.number(number)) for number in self._offsets(term) if number > mine]
        return min(larger, key=lambda pair: pair[0])[1].over(term.factor) if larger else None

    def _offsets(self, term: Term) -> list[int]:
        """Return by how many rows, or columns, a thread's further elements of C are away: another thread has those."""
        pointer = self.indexing.pointers.get(self.roles.parameter("C"))
        found = pointer.terms.get((term.size,) if term.size else (), set()) if pointer else set()
        return sorted(found)

    def _threads(self, rows: list[Term], columns: list[Term], values: Mapping[str, int]) -> dict[str, list[Polynomial]]:
        """Return the extents of every thread index in C's index, by axis of the block."""
        found: dict[str, list[Polynomial]] = {}
        for side in (rows, columns):
            for term in side:
                if kind_of(term.atom) != "thread":
                    continue
                modulus = re.fullmatch(r"\(.* % (\w+|\([^()]*\))\)", term.atom)
                extent = self._extent(term, side, values)
                if extent is None and modulus:
                    extent = parse(re.findall(r"\w+|[^\s\w]", modulus[1]))
                axes = "".join(dict.fromkeys(re.findall(r"threadIdx\.([xyz])", term.atom)))
                found.setdefault(axes, []).append(extent or ONE)
        return found

    def _block(self, rows: list[Term], columns: list[Term], values: Mapping[str, int], made: Shape) -> tuple[str, ...]:
        warp = Polynomial.number(_WARP) if "wmma" in self.body or "mma_sync" in self.body else ONE
        by_axis = self._threads(rows, columns, values)
        used = [axis for axis in "xyz" if f"threadIdx . {axis}" in self.body]
        if self.function.bounds and used in ([], ["x"]):
            bound = parse(list(self.function.bounds))
            made.why["block"] = GuessReason(0.8, tr("__launch_bounds__ gives the number of threads of a block"))
            return (self._text(bound),)
        if not used:
            made.why["block"] = GuessReason(
                0.6,
                tr("no thread index is used: one warp cooperates") if warp != ONE else tr("no thread index is used"),
            )
            return (self._text(warp),)
        block = []
        for axis in used if used != ["y"] else ["x", "y"]:
            letter = "xyz".index(axis)
            total = warp if axis == "x" and not self._mentions_lanes() else ONE
            for extent in by_axis.get(axis, []):
                total = total * extent
            known = axis in by_axis or warp != ONE
            block.append(
                self.free[letter] or (self._text(total) if known else self._from_shared(f"threadIdx.{axis}") or "1")
            )
        made.why["block"] = GuessReason(
            0.75, tr("the thread indices of C, each up to the next larger part of its row or column index")
        )
        return tuple(block)

    def _mentions_lanes(self) -> bool:
        return "wmma" not in self.body

    # -- values that fit each other

    def _choose(self, made: Shape, rows: list[Term], columns: list[Term]) -> None:
        """Choose the values closest to the usual ones with a legal block whose loads cover its tiles."""
        fitting = (values for values in _combinations(made.params) if self._fits(values, rows, columns))
        some = list(itertools.islice(fitting, _MOST_FITTING))
        # First those whose loops over a tile end where the next tile begins.
        values = next((one for one in some if self._joins(one)), some[0] if some else None)
        if values is not None:
            alone = len(made.params) - sum(name in self.free for name in made.params) == 1
            for name, value in values.items():
                offered = made.params[name]
                keep = name in self.free or (alone and len(offered) > 1)
                rest = (
                    [v for v in offered if v != value and self._fits(values | {name: v}, rows, columns)] if keep else []
                )
                made.params[name] = (value, *rest)
            if made.params:
                made.why["params"] = GuessReason(0.7, tr("usual sizes with a legal block whose loads cover its tiles"))
            return
        made.params = {name: values[:1] for name, values in made.params.items()}
        if made.params:
            made.why["params"] = GuessReason(
                0.2, tr("no usual sizes fit the arithmetic of the source: these are the usual sizes without a check")
            )

    def _fits(self, values: Mapping[str, int], rows: list[Term], columns: list[Term]) -> bool:
        threads = 1.0
        for extents in self._threads(rows, columns, values).values():
            for extent in extents:
                number = self._number(extent, values)
                if number is None or number < 1 or number != int(number):
                    return False
                threads *= number
        free = [evaluate(extent, values) or 1 for extent in self.free if extent]
        for count in free:
            threads = max(threads, count)
        if len(free) > 1:
            threads = max(threads, free[0] * free[1])
        given = self._number(parse(list(self.function.bounds)), values) if self.function.bounds else None
        if threads > 1024 or (given and threads not in (1, given)):
            return False
        for name in values:
            if re.fullmatch(THREADS, name, re.IGNORECASE) and threads not in (1, values[name]):
                return False
        if self._static_bytes(values) > _SHARED_BYTES or not self._asserted(values):
            return False
        return all(self._covers(self.found[m], threads, values) for m in "AB")

    def _static_bytes(self, values: Mapping[str, int]) -> float:
        total = 0.0
        for name, extents in self.indexing.shared.items():
            count = 1.0
            for extent in extents:
                count *= self._number(extent, values) or 1
            kind = self.indexing.shared_types.get(name, "")
            total += count * (8 if kind == "double" else 2 if "half" in kind else 4) * bool(extents)
        return total

    def _asserted(self, values: Mapping[str, int]) -> bool:
        for found in re.finditer(r"static_assert \( (.*?)(?:, \" \" )?\) ;", self.body):
            text = fold(found[1].replace("&&", "and").replace("||", "or"))
            held = evaluate(re.sub(r"[A-Za-z_]\w*", lambda w: str(self.constants.get(w[0], w[0])), text), values)
            if held == 0:
                return False
        return True

    def _covers(self, found: list[Term], threads: float, values: Mapping[str, int]) -> bool:
        """Return whether a linear thread index, split into a row and a column, covers the tile exactly."""
        for strided in (True, False):
            side = [t for t in found if bool(t.size) == strided]
            numbers = {id(t): self._number(t.factor, values) or 0 for t in side}
            for term in side:
                quotient = re.fullmatch(r"\((?:threadIdx\.x) ([/%]) (\w+|\(.*\))\)", term.atom)
                if not quotient:
                    continue
                by = evaluate(self._text(Polynomial.name(quotient[2])), values)
                larger = [n for n in numbers.values() if n > numbers[id(term)]]
                if not by or by != int(by) or (quotient[1] == "/" and threads % by):
                    return False
                extent = threads / by if quotient[1] == "/" else by
                if larger and extent * numbers[id(term)] != min(larger):
                    return False
        return True

    def _joins(self, values: Mapping[str, int]) -> bool:
        """Return whether each loop of a known number of turns ends where the next larger part of its side begins."""
        for matrix, strided in itertools.product("AB", (True, False)):
            side = [t for t in self.found[matrix] if bool(t.size) == strided]
            parts = [(self._number(t.factor, values) or 0, self._turns(t.atom, values), t) for t in side]
            steps = [number for number, turns, t in parts if kind_of(t.atom) == "loop" and not turns]
            for number, turns, term in parts:
                larger = [n for n, _, t in parts if t is not term and n >= number]
                if turns and min([*larger, *steps], default=number * turns) != number * turns:
                    return False
        return True

    def _turns(self, atom: str, values: Mapping[str, int]) -> float:
        """Return how often a loop runs; 0 where that depends on a size."""
        loop = next((one for one in self.indexing.loops if f"{one.variable}#" == atom), None)
        if loop is None or loop.start.value != 0:
            return 0
        bound, step = (self._number(part, values) for part in (loop.bound, loop.step))
        return bound / step if bound and step else 0

    # -- the grid

    def _grid(self, made: Shape, rows: list[Term], columns: list[Term], values: Mapping[str, int]) -> None:
        elements = flat(self.indexing, self.roles, self.body, strided=any(t.size for t in self.found["C"]))
        if elements:
            self._step(made, values)
            made.grid = (f"ceil({elements} / {bracket(made.block[0])})",)
            made.why["grid"] = GuessReason(0.7, tr("the threads are numbered through all elements of C"))
            return
        along = {"M": self._blocks("M", rows, made, values), "N": self._blocks("N", columns, made, values)}
        if not any(kind_of(t.atom) == "block" for t in (*rows, *columns)):
            made.requires += [
                one for size, side in (("M", rows), ("N", columns)) for one in one_block(size, side, made.block)
            ]
        self._step(made, values)
        self._fragments(made)
        used = [axis for axis in "xyz" if f"blockIdx . {axis}" in self.body]
        chosen = {size: blocks for size, blocks in along.items() if blocks}
        if not used or not chosen:
            made.grid = ("1",)
            made.why["grid"] = GuessReason(0.5, tr("no block index is used"))
            return
        made.grid = tuple(self._along(axis, chosen, values) for axis in "xyz"[: "xyz".index(used[-1]) + 1])
        made.why["grid"] = GuessReason(0.8, in_words(made.grid, chosen))

    def _blocks(self, size: str, side: list[Term], made: Shape, values: Mapping[str, int]) -> Blocks | None:
        """Return the blocks that divide the rows (M) or columns (N) of C; None where one block has them all."""
        blocks = [t for t in side if kind_of(t.atom) == "block"]
        if not blocks:
            return None
        smallest = min(blocks, key=lambda t: self._number(t.factor, values) or 1e9)
        tile = self._text(smallest.factor)
        warps = _OF_WARP.fullmatch(smallest.atom)
        if warps:
            tile = f"{tile} * {bracket(self.free['xyz'.index(warps[1])])} / {warps[2]}"
        made.tiles[size] = tile
        is_guarded = guarded(size, self.indexing, self.roles)
        if not is_guarded and tile != "1":
            made.requires.append(f"{size} % {bracket(tile)} == 0")
        count = f"{size} / {bracket(tile)}"
        count = size if tile == "1" else f"ceil({count})" if is_guarded else count
        return Blocks(count, "".join(dict.fromkeys(re.findall(r"blockIdx\.([xyz])", blocks[0].atom))))

    def _along(self, axis: str, chosen: dict[str, Blocks], values: Mapping[str, int]) -> str:
        """Return the blocks along an axis of the grid."""
        counts = [blocks.count for blocks in chosen.values() if blocks.axis == axis]
        alone = len(counts) == 1
        text = " * ".join(count if count.startswith("ceil") or alone else bracket(count) for count in counts)
        return text or self._shares(axis, values)

    def _shares(self, axis: str, values: Mapping[str, int]) -> str:
        """Return the number of shares into which a block index splits the sum; ``"1"`` where it does not."""
        k = k_of(self.roles)
        for matrix in "AB":
            for term in self.found[matrix]:
                if term.atom != f"blockIdx.{axis}":
                    continue
                for text in (name for product in term.factor.terms for name in product):
                    share = re.fullmatch(r"\((.*) / (\w+|\([^()]*\))\)", text)
                    if share and k in re.findall(r"\w+", share[1]):
                        return self._text(parse(re.findall(r"\w+|[^\s\w]", share[2])))
                if self._number(term.factor, values):
                    return f"ceil(K / {bracket(self._text(term.factor))})"
        return "1"

    def _fragments(self, made: Shape) -> None:
        """Require whole fragments: tensor cores load only whole ones, and only from aligned rows."""
        found = re.search(r"matrix_a , (\w+) , (\w+) , (\w+) ,", self.body)
        for size, extent in zip(("M", "N", "K"), found.groups() if found else (), strict=False):
            text = fold(str(self.constants.get(extent, extent)))
            if (text.isdecimal() or text in self.params) and not any(r.startswith(f"{size} % ") for r in made.requires):
                made.requires.append(f"{size} % {text} == 0")

    def _step(self, made: Shape, values: Mapping[str, int]) -> None:
        """Find the k-step and the required divisor of K."""
        whole = tail_guarded(self.indexing, self.roles, self.body)
        self._loop_step(made, values, whole)
        k = k_of(self.roles)
        for name, divisor in self.indexing.quotients:
            number = self._number(divisor, values)
            condition = f"K % {bracket(self._text(divisor))} == 0"
            # The quotient drops the remainder of K, and no guard handles it.
            if name == k and not whole and number and number > 1 and condition not in made.requires:
                made.requires.append(condition)

    def _loop_step(self, made: Shape, values: Mapping[str, int], whole: bool) -> None:
        in_c = {t.atom for t in self.found["C"]}
        # Along k, A advances by its stride if it is stored by columns, B if it is stored by rows.
        strided = {"A": "A" in self.roles.column_major, "B": "B" not in self.roles.column_major}
        along = [t for m in "AB" for t in self.found[m] if bool(t.size) == strided[m]]
        steps = [t for t in along if kind_of(t.atom) == "loop" and t.atom not in in_c]
        numbers = [(n, t.factor) for t in steps if (n := self._number(t.factor, values))]
        if not numbers:
            return
        largest = max(numbers, key=lambda pair: pair[0])
        tile = self._text(largest[1])
        made.tiles["K"] = tile
        if not whole and largest[0] > 1:
            made.requires.append(f"K % {bracket(tile)} == 0")

    def _shared(self, made: Shape, values: Mapping[str, int]) -> None:
        dynamic = [name for name, extents in self.indexing.shared.items() if not extents]
        if not dynamic:
            return
        name = dynamic[0]
        kind = self.indexing.shared_types.get(name, "float")
        known = {"char": np.dtype(self.dtype).itemsize, "uint8_t": np.dtype(self.dtype).itemsize, "double": 8}
        size = known.get(kind, 2 if "half" in kind else 4)
        offsets = re.findall(rf"\b{name} \+ ([^;]*?) \)? ?;|& {name} \[ ([^;]*?) \] ;", self.body)
        last = self._text(parse((offsets[-1][0] or offsets[-1][1]).split())) if offsets else ""
        if offsets and evaluate(last, values) is not None:
            made.shared = f"2 * {bracket(last)} * {size}"
        else:
            m, n, k = (bracket(made.tiles.get(s, "1")) for s in ("M", "N", "K"))
            made.shared = fold(f"({m} * {k} + {k} * {n}) * {size}")
        made.why["shared"] = GuessReason(
            0.6 if offsets else 0.4, tr("{name} seems to hold a tile of A and one of B", name=name)
        )


def _combinations(params: dict[str, tuple[int, ...]]) -> Iterator[dict[str, int]]:
    """Yield values for all parameters, the most usual combinations first."""
    names = list(params)
    places = itertools.islice(itertools.product(*(range(len(params[n])) for n in names)), _MOST_COMBINATIONS)
    for place in sorted(places, key=lambda p: (sum(p), p)):
        yield {name: params[name][i] for name, i in zip(names, place, strict=True)}
