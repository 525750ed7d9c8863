"""The most likely launch of a kernel, from its own code: block, grid, shared memory and constraints."""

import math
import re
from collections.abc import Mapping

import numpy as np

from gemmviz.catalogue.guessing.fitting import Fitting
from gemmviz.catalogue.guessing.folding import bracket, evaluate, fold
from gemmviz.catalogue.guessing.grid import Blocks, in_words, one_block
from gemmviz.catalogue.guessing.guards import flat, guarded, k_of, tail_guarded
from gemmviz.catalogue.guessing.launch_shape import Shape
from gemmviz.catalogue.guessing.polynomial import ONE, Polynomial, parse
from gemmviz.catalogue.guessing.roles import GuessReason, Term, kind_of
from gemmviz.catalogue.guessing.tunable import THREADS
from gemmviz.language import tr

_WARP, _MOST_THREADS, _USUAL_THREADS = 32, 1024, 256
_OF_WARPS = re.compile(r"\basm\b|\bmma_sync\b|\b__shfl_\w+|\bmma\w*\b")
_ASSERTED = re.compile(r"\bassert \( (\w+) % ([^;&|,=]+?) == 0 \) ;")
# Usual texts for the number of a warp in its row of the grid.
_OF_WARP = re.compile(r"\(\((?:blockDim\.(\w) \* blockIdx\.\w \+ threadIdx\.\w)\) / (\d+)\)")


class Shaper(Fitting):
    """Derives a launch from the use of block, thread and loop indices in the source."""

    def shape(self, params: dict[str, tuple[int, ...]]) -> Shape:
        """Return the launch with one value per parameter, chosen so that the arithmetic of the source is consistent."""
        self.params = dict(params)
        made = Shape(params=dict(params))
        self._block_dims(made)
        rows, columns = self._side(self.roles.rows), self._side(self.roles.columns)
        self._choose(made, rows, columns)
        values = {name: v[0] for name, v in made.params.items()}
        self.values = values
        made.block = self._legal(self._block(rows, columns, values, made), values, made)
        self._grid(made, rows, columns, values)
        self._shared(made, values)
        self._asked(made)
        # A divisor may be a quotient of sizes: it has the names of the kernel's parameters.
        sizes = {name: role for name, role in self.roles.of.items() if role in ("M", "N", "K")} | dict.fromkeys(
            made.params
        )
        made.requires = [
            re.sub(r"[A-Za-z_]\w*", lambda word: sizes.get(word[0]) or word[0], one) for one in made.requires
        ]
        return made

    # -- the block

    def _block_dims(self, made: Shape) -> None:
        """Give a name or a number to the extents of the block that the source does not define."""
        self.free = ["", "", ""]
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
            0.75,
            tr("read from the index of C: each thread index counts up to the next larger term of its row or column"),
        )
        return tuple(block)

    def _legal(self, block: tuple[str, ...], values: Mapping[str, int], made: Shape) -> tuple[str, ...]:
        """Return a block; a usual one in place of one that cannot be launched, or that has no whole warps for them."""
        sides = [evaluate(side, values) for side in block]
        threads = math.prod(side or 1 for side in sides)
        whole = threads % _WARP == 0 or not _OF_WARPS.search(self.body) or self.body.count("threadIdx") == 0
        if None in sides or (1 <= threads <= _MOST_THREADS and whole):
            return block
        named = (n for name, n in sorted(self.constants.items()) if re.fullmatch(THREADS, name, re.IGNORECASE))
        likely = _WARP if threads < _WARP else _USUAL_THREADS
        usual = next((n for n in named if n % _WARP == 0 and _WARP <= n <= _MOST_THREADS), likely)
        made.why["block"] = GuessReason(0.3, tr("nothing shows the number of threads: this is a usual one"))
        return (str(usual),)

    def _mentions_lanes(self) -> bool:
        return "wmma" not in self.body

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
        count = size if tile == "1" else f"{size} / {bracket(tile)}"
        if is_guarded and tile != "1":
            count = f"ceil({count})"
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

    def _asked(self, made: Shape) -> None:
        """Require the kernel's assertions about its sizes: ``assert(K % BK == 0)``."""
        for found in _ASSERTED.finditer(self.body):
            size = self.roles.of.get(found[1], "")
            condition = f"{size} % {bracket(self._text(parse(found[2].split())))} == 0"
            if size in ("M", "N", "K") and condition not in made.requires:
                made.requires.append(condition)

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
        # A loop over all of K, with pointers that move along; a further comparison with K may be a guard of its tail.
        k = k_of(self.roles)
        over_k = [loop.step for loop in self.indexing.loops if k and loop.bound == Polynomial.name(k)]
        if len(re.findall(rf"< {re.escape(str(k))}\b", self.body)) <= len(over_k):
            numbers += [(n, step) for step in over_k if (n := self._number(step, values))]
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
