"""The mistakes: each operator changes one place of a kernel's text, and the number of lines stays."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest

from gemmviz.catalogue.chapters import chapter_of
from gemmviz.catalogue.kernel import Kernel, parse

Edit = tuple[int, str]  # index of the line, its new text
Operator = Callable[["Source"], Iterator[Edit]]

_STRIDES = {"M": "N", "N": "K", "K": "N", "Ay": "Ax", "Ax": "Bx", "Bx": "Ax", "lda": "ldb", "ldb": "lda", "ldc": "lda"}
_TYPES = r"(?:const\s+)?(?:float|int|double|half|unsigned|bool|size_t|long)"
_LOOP = re.compile(r"(\bfor \([^;]*;[^;]*?<=?\s*)([^;&]+)(;)")
_GUARD = re.compile(r"\bif \(((?:[^()]|\([^()]*\))*)\)")
_CHOICE = re.compile(r"=\s*([^=?;]+?)\s*\?\s*([^?:]+?)\s*:\s*0;")
_COMPARISON = re.compile(r"[\w.+*() ]*?[\w)]\s*(?:<|>=)\s*\w+|\bin_(?:row|col)\b")
_INIT = re.compile(rf"^(\s*{_TYPES}\s+\w+(?:\[\w+\])*)\s*=\s*(?:0|0\.0f|{{}});")


@dataclass(frozen=True)
class Mutant:
    """One mistake in one kernel: `text` has it in `line`, from 1, and `name` is the unique name of the mutant."""

    name: str
    original: Kernel
    text: str
    operator: str
    line: int

    @cached_property
    def digest(self) -> str:
        """A number of 16 digits that stays the same if other lines of the kernel change, or are moved."""
        lines = [line.strip() for line in self.original.text.split("\n")[: self.line]]
        mistaken = self.text.split("\n")[self.line - 1].strip()
        what = f"{self.original.name} {self.operator} {lines[-1]} {mistaken} {lines.count(lines[-1])}"
        return sha256(what.encode()).hexdigest()[:16]

    @cached_property
    def kernel(self) -> Kernel:
        """The mutant; it keeps the file's name, so that messages name the file that people know."""
        return replace(parse(self.text, self.original.path), name=re.sub(r"\W", "_", self.name))


class Source:
    """A kernel's lines without comments, from behind the front matter on."""

    def __init__(self, kernel: Kernel) -> None:
        self.lines = [line.split("//")[0] for line in kernel.text.split("\n")]
        body = next(i for i, line in enumerate(kernel.text.split("\n")) if line.rstrip() == "// ---") + 1
        self.code = range(body, len(self.lines))
        self.shared = re.findall(r"__shared__\s+\w+\s+(\w+)\[", kernel.text)
        self.shared += re.findall(r"\(\*(\w+)\)\[\w+\] = ", kernel.text)
        self.arrays = {"A", "B", "C", *self.shared}
        self.factors = {
            *kernel.params,
            "blockDim.x",
            "blockDim.y",
            "16",
            *re.findall(r"constexpr int (\w+)", kernel.text),
        }

    def is_declaration(self, index: int) -> bool:
        """Whether a line declares shared memory or a pointer into it, or is the head of a function."""
        line = self.lines[index]
        return "__shared__" in line or "(*" in line or "__global__" in line or "*r = " in line


def mutants(kernel: Kernel) -> list[Mutant]:
    """Return every mutant of a kernel, in the order of operators and lines; no two have one text."""
    source = Source(kernel)
    seen = {kernel.text}
    found: list[Mutant] = []
    named: Counter[str] = Counter()
    for operator, edits in OPERATORS.items():
        for index, line in edits(source):
            lines = kernel.text.split("\n")
            lines[index] = line
            text = "\n".join(lines)
            if text in seen:
                continue
            seen.add(text)
            name = f"{kernel.name}~{operator}-{index + 1}"
            named[name] += 1
            name += f"-{named[name]}" if named[name] > 1 else ""
            found.append(Mutant(name, kernel, text, operator, index + 1))
    return found


def sample(every: list[Mutant], count: int) -> list[Mutant]:
    """Return so many mutants: the operators take turns, and for each of them the chapters of the ladder.

    Of an operator and a chapter those come first whose digest is the smallest. So a change in one kernel exchanges only
    mutants of that kernel, or puts one of them in the place of another one.
    """
    by_operator: dict[str, dict[str, list[Mutant]]] = {}
    for mutant in sorted(every, key=lambda mutant: mutant.digest):
        chapters = by_operator.setdefault(mutant.operator, {})
        chapters.setdefault(chapter_of(mutant.original).id, []).append(mutant)
    turns = [_in_turns(by_operator[operator].values()) for operator in OPERATORS if operator in by_operator]
    return _in_turns(turns)[:count]


def _in_turns(lists: Iterable[list[Mutant]]) -> list[Mutant]:
    return [mutant for turn in zip_longest(*lists) for mutant in turn if mutant is not None]


def _subscripts(line: str, names: set[str]) -> Iterator[tuple[int, int, str, int]]:
    """Yield (start, end, array, dimension) of the indices in accesses to some arrays."""
    for found in re.finditer(r"\b(\w+)(?=\[)", line):
        if found[1] not in names:
            continue
        at, dimension = found.end(), 0
        while at < len(line) and line[at] == "[":
            depth, end = 1, at + 1
            while depth:
                depth += {"[": 1, "]": -1}.get(line[end], 0)
                end += 1
            yield at + 1, end - 1, found[1], dimension
            at, dimension = end, dimension + 1


def _accesses(source: Source, names: set[str]) -> Iterator[tuple[int, int, int, str, int]]:
    for index in source.code:
        if not source.is_declaration(index):
            for found in _subscripts(source.lines[index], names):
                yield index, *found


def _put(line: str, start: int, end: int, text: str) -> str:
    return line[:start] + text + line[end:]


def _drop_barrier(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = re.sub(r"\b(?:__syncthreads|__syncwarp|__pipeline_wait_prior)\([^()]*\);", ";", source.lines[index])
        if line != source.lines[index]:
            yield index, line


def _shift_index(source: Source) -> Iterator[Edit]:
    for index, start, end, _, _ in _accesses(source, source.arrays):
        line = source.lines[index]
        yield index, _put(line, start, end, f"{line[start:end]} + 1")
    for index in source.code:
        line = source.lines[index]
        for found in re.finditer(r"(?:load_matrix_sync\([^,]*, |store_matrix_sync\()([^,]*),", line):
            yield index, _put(line, found.start(1), found.end(1), f"{found[1]} + 16")


def _swap_stride(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if "for (" in line or "__global__" in line:
            continue
        for found in re.finditer(r"\* (\w+)\b|, (\w+)(?=[,)])(?=.*;)", line):
            name = found[1] or found[2]
            other = _STRIDES.get(name)
            whole = "\n".join(source.lines)
            if other and re.search(rf"\bint {other}\b", whole) and (found[1] or "_matrix_sync" in line):
                at = found.start(1) if found[1] else found.start(2)
                yield index, _put(line, at, at + len(name), other)


def _bound(change: str) -> Operator:
    def edits(source: Source) -> Iterator[Edit]:
        for index in source.code:
            for found in _LOOP.finditer(source.lines[index]):
                yield index, _put(source.lines[index], found.start(2), found.end(2), f"{found[2].strip()} {change} 1")

    return edits


def _skip_init(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if _INIT.match(line):
            yield index, _INIT.sub(r"\1;", line)
        elif re.match(r"\s*C\[.*\] = 0;", line) or "fill_fragment" in line:
            yield index, re.sub(r"\S.*", ";", line)


def _skip_zero_fill(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if found := _CHOICE.search(line):
            target = line[: found.start()].strip()
            yield index, re.sub(r"\S.*", lambda _, f=found, t=target: f"if ({f[1]}) {t} = {f[2]};", line)


def _remove_guard(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if found := _CHOICE.search(line):
            yield index, _put(line, found.start(), found.end(), f"= {found[2]};")
            yield from ((index, edited) for edited in _without_comparisons(line, found.start(1), found.end(1), "1"))
        elif found := _GUARD.search(line):
            value = "0" if "||" in found[1] else "1"
            yield index, _put(line, found.start(1), found.end(1), value)
            yield from ((index, edited) for edited in _without_comparisons(line, found.start(1), found.end(1), value))


def _without_comparisons(line: str, start: int, end: int, value: str) -> Iterator[str]:
    for part in re.finditer(r"[^&|]+", line[start:end]):
        if _COMPARISON.search(part[0]):
            yield (
                _put(line, start + part.start(), start + part.end(), f" {value} ").replace("( ", "(").replace(" )", ")")
            )


def _return_above_barrier(source: Source) -> Iterator[Edit]:
    lines = source.lines
    barriers = [i for i in source.code if "__syncthreads" in lines[i]]
    if not barriers:
        return
    loops = [i for i in source.code if i < barriers[0] and re.match(r"    for \(", lines[i])]
    # Only those of the same function: a helper above does not know the kernel's names.
    loops = [i for i in loops if not any(line.startswith("}") for line in lines[i : barriers[0]])]
    guards = [f[1] for i in source.code if i > barriers[-1] and (f := _GUARD.search(lines[i]))]
    inner = {n for i in source.code for n in re.findall(r"^\s{5,}.*?\bint (\w+)", lines[i])}
    inner |= set(re.findall(r"for \(int (\w+)", "\n".join(lines)))
    for guard in guards:
        if loops and not inner & set(re.findall(r"\w+", guard)):
            above = loops[-1] - 1
            while lines[above].strip().startswith("#pragma"):
                above -= 1
            yield above, f"{lines[above].rstrip()} if (!({guard})) return;"


def _swap_xy(source: Source) -> Iterator[Edit]:
    for word in ("threadIdx", "blockIdx"):
        for index in source.code:
            line = source.lines[index]
            if word in line:
                yield index, re.sub(rf"\b{word}\.([xy])", lambda f, w=word: f"{w}.{'yx'['xy'.index(f[1])]}", line)


def _drop_accumulate(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if "+=" in line and "for (" not in line:
            yield index, line.replace("+=", "=")


def _drop_factor(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if "for (" in line or "(*" in line or "__shared__" in line:
            continue
        for found in re.finditer(r" \* ([\w.]+)", line):
            if found[1] in source.factors:
                yield index, _put(line, found.start(), found.end(), "")


def _shrink_shared(source: Source) -> Iterator[Edit]:
    for index in source.code:
        line = source.lines[index]
        if "__shared__" in line and "extern" not in line:
            for found in re.finditer(r"\[([^\]]+)\]", line):
                yield index, _put(line, found.start(1), found.end(1), f"{found[1]} - 1")


def _transpose(source: Source) -> Iterator[Edit]:
    pair = re.compile(rf"\b({'|'.join(source.shared) or '(?!)'})\[([^\]\[]+)\]\[([^\]\[]+)\]")
    for index in source.code:
        if source.is_declaration(index):
            continue
        line = source.lines[index]
        for found in pair.finditer(line):
            yield index, _put(line, found.start(), found.end(), f"{found[1]}[{found[3]}][{found[2]}]")


OPERATORS: dict[str, Operator] = {
    "drop-barrier": _drop_barrier,
    "shift-index": _shift_index,
    "swap-stride": _swap_stride,
    "shrink-bound": _bound("-"),
    "grow-bound": _bound("+"),
    "skip-init": _skip_init,
    "skip-zero-fill": _skip_zero_fill,
    "remove-guard": _remove_guard,
    "return-above-barrier": _return_above_barrier,
    "swap-xy": _swap_xy,
    "drop-accumulate": _drop_accumulate,
    "drop-factor": _drop_factor,
    "shrink-shared": _shrink_shared,
    "transpose": _transpose,
}
