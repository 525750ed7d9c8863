"""The kinds of questions about one event of a recording; see `gemmviz.trace.quiz.questions`."""

from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from gemmviz.catalogue.matrices import C
from gemmviz.language import tr, trn
from gemmviz.trace.cost.wavefronts import BANK_BYTES, BANKS, SECTOR_BYTES, sectors, wavefronts
from gemmviz.trace.distinct import distinct
from gemmviz.trace.order.requests import Ints
from gemmviz.trace.playable import Playable
from gemmviz.trace.recording.accesses import Array
from gemmviz.trace.recording.recording import WARP

Cell = tuple[int, int]
"""Array, and element in memory order."""
_MOST_UNITS = 4 * WARP
_LOOK_AHEAD = 6
_AT_BARRIERS = {(True, False): 0, (False, True): 1, (True, True): 2, (False, False): 3}
"""The right answer, by whether there is a barrier directly before a step, and directly after it."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Event:
    """The accesses of one warp (or loop) in one step.

    Attributes
    ----------
    playable, step
        The recording, and the step.
    block, warp
        The warp's block and number, linear.
    rows
        int64, its accesses there.
    """

    playable: Playable
    step: int
    block: int
    warp: int
    rows: Ints

    @property
    def array(self) -> Array:
        """The accessed array."""
        return self.playable.recording.arrays[self.which]

    @property
    def which(self) -> int:
        """The index of the accessed array."""
        return int(self.playable.timeline.array[self.step])

    @property
    def write(self) -> bool:
        """Whether it writes."""
        return bool(self.playable.timeline.write[self.step])

    @property
    def on_gpu(self) -> bool:
        """Whether the kernel runs on a GPU, in warps."""
        return self.playable.recording.backend == "cuda"

    @property
    def one_each(self) -> bool:
        """Whether every lane accesses a single element."""
        return int(self.playable.recording.accesses.bytes[self.rows].max()) <= self.array.itemsize

    def lead(self) -> str:
        """Return the sentence about the event."""
        named = {"warp": self.warp, "block": _index(self.playable.recording.block_index(self.block))}
        if self.write:
            return tr("Next, warp {warp} of block {block} writes {array}.", array=self.array.name, **named)
        return tr("Next, warp {warp} of block {block} reads {array}.", array=self.array.name, **named)


class QuestionText(NamedTuple):
    """The texts of a question: see `gemmviz.trace.quiz.questions.Question`."""

    lead: str
    text: str
    answers: tuple[str, str, str, str]
    right: int
    why: str


def owner(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask which thread writes an element of C."""
    if not event.on_gpu or event.which != C or not event.write:
        return None
    playable, recording = event.playable, event.playable.recording
    log = recording.accesses
    rows = playable.timeline.rows(event.step)
    position, elements, values = recording.covered(rows)
    mine = np.isin(rows[position], event.rows) & (elements < event.array.size)
    different, times = np.unique(elements, return_counts=True)
    # If threads overwrite each other, more than one answer would be right.
    mine &= np.isin(elements, different[times == 1])
    if cell is not None and cell[0] == C:
        mine &= elements != cell[1]
    choice = np.flatnonzero(mine)
    if not len(choice):
        return None
    at = choice[rng.randrange(len(choice))]
    row = rows[position[at]]
    block, thread = int(log.block[row]), int(log.thread[row])
    (bx, by, bz), (tx, ty, tz) = recording.block_index(block), recording.thread_index(thread)
    (gx, gy, _), (sx, sy, _) = recording.grid, recording.block
    turned = (ty, tx, tz) if ty < sx and tx < sy else (tx, ty, tz)
    across = (by, bx, bz) if by < gx and bx < gy else (bx, by, bz)
    others = [((bx, by, bz), turned), (across, (tx, ty, tz)), (across, turned)]
    near = (thread + 1, thread - 1, *_some(rng, recording.threads))
    others += [((bx, by, bz), recording.thread_index(number % recording.threads)) for number in near]
    others += [(recording.block_index(number), (tx, ty, tz)) for number in _some(rng, recording.blocks)]
    four = _four(rng, ((bx, by, bz), (tx, ty, tz)), others)
    if four is None:
        return None
    answers = [tr("block {block}, thread {thread}", block=_index(b), thread=_index(t)) for b, t in four[0]]
    name = _cell(event.array, int(elements[at]))
    why = tr(
        "Block {block}, thread {thread} (warp {warp}, lane {lane}) writes {cell} = {value}.",
        block=_index((bx, by, bz)),
        thread=_index((tx, ty, tz)),
        warp=thread // WARP,
        lane=thread % WARP,
        cell=name,
        value=f"{float(values[at]):g}",
    )
    lead = tr("Next, {cell} is written.", cell=name)
    return QuestionText(lead, tr("Which thread writes it?"), _texts(answers), four[1], why)


def bank(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask which bank of shared memory a lane hits."""
    array = event.array
    if array.space != "shared" or not event.one_each or array.itemsize > BANK_BYTES:
        return None
    lane, element = _lane(event, rng)
    word = element * array.itemsize // BANK_BYTES
    row, column = (int(v[0]) for v in array.cells(np.array([element])))
    right = word % BANKS
    others = [lane % BANKS, column % BANKS, row % BANKS, (right + 1) % BANKS, 0, 2 * right % BANKS]
    four = _four(rng, right, [*others, *_some(rng, BANKS)], in_order=True)
    if four is None:
        return None
    text = tr("Which of the {count} banks does lane {lane} hit?", count=BANKS, lane=lane)
    why = tr(
        "Lane {lane} hits {cell}: word {word} of {array}, counted from its start. {word} mod {count} = {bank}.",
        lane=lane,
        cell=_cell(array, element),
        word=word,
        array=array.name,
        count=BANKS,
        bank=right,
    )
    return QuestionText(event.lead(), text, _texts([tr("bank {bank}", bank=n) for n in four[0]]), four[1], why)


def cost(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask how many sectors or wavefronts a request costs."""
    if not event.on_gpu:
        return None
    log, array = event.playable.recording.accesses, event.array
    rows = event.rows
    start = log.element[rows].astype(np.int64) * array.itemsize
    width = log.bytes[rows].astype(np.int64)
    lane, same = log.thread[rows].astype(np.int64) % WARP, np.zeros(len(rows), np.int64)
    lanes = len(rows)
    if array.space == "shared":
        units, served = (int(n[0]) for n in wavefronts(same, lane, start, width, log.write[rows] > 0, 1))
        text = tr("How many wavefronts does the request take?")
        why = _why_wavefronts(units, served, lanes)
        others = [lanes, 1, served, 2 * units, units // 2, 2, 4, 8, 16, 32]
    else:
        units, least = (int(n[0]) for n in sectors(same, lane, start, width, 1))
        text = trn(
            "How many sectors of 32 bytes does the request of {count} lane move?",
            "How many sectors of 32 bytes does the request of {count} lanes move?",
            lanes,
        )
        _, covered = event.playable.recording.elements(rows)
        why = trn(
            "The {asked} different bytes that its lanes ask for are in {count} sector: {moved} bytes are moved.",
            "The {asked} different bytes that its lanes ask for are in {count} sectors: {moved} bytes are moved.",
            units,
            asked=len(distinct(covered)) * array.itemsize,
            moved=units * SECTOR_BYTES,
        )
        others = [lanes, least, 1, 2 * units, units // 2, 4, 8, 16, 32]
    four = _four(rng, units, [n for n in others if 1 <= n <= _MOST_UNITS], in_order=True)
    if four is None:
        return None
    if array.space == "shared":
        answers = [trn("{count} wavefront", "{count} wavefronts", n) for n in four[0]]
    else:
        answers = [trn("{count} sector", "{count} sectors", n) for n in four[0]]
    return QuestionText(event.lead(), text, _texts(answers), four[1], why)


def _why_wavefronts(units: int, served: int, lanes: int) -> str:
    if units > served:
        return trn(
            "Lanes access different words of one bank, which are served one after another: {count} wavefront.",
            "Lanes access different words of one bank, which are served one after another: {count} wavefronts.",
            units,
        )
    if served > 1:
        return tr("Such a wide access is served in {count} parts of the warp, without a bank conflict.", count=served)
    return trn(
        "One wavefront serves the {count} lane: no bank has to deliver two different words.",
        "One wavefront serves all {count} lanes: no bank has to deliver two different words.",
        lanes,
    )


def element(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask which element of A or B a lane reads."""
    if not event.on_gpu or event.which >= C or event.write or not event.one_each:
        return None
    recording, array = event.playable.recording, event.array
    lane, number = _lane(event, rng)
    r, c = (int(v[0]) for v in array.cells(np.array([number])))
    rows, columns = array.grid
    # First the usual mistakes: rows instead of columns, the elements of the next lanes, the neighbours.
    read = distinct(recording.accesses.element[event.rows])
    near = [(int(i), int(j)) for i, j in zip(*array.cells(read), strict=True)]
    rng.shuffle(near)
    others = [(c, r), near[0], (r, c + 1), (r + 1, c), *near[1:4], (r, c - 1), (r - 1, c)]
    others += [divmod(n, columns) for n in _some(rng, rows * columns)]
    four = _four(rng, (r, c), [(i, j) for i, j in others if 0 <= i < rows and 0 <= j < columns])
    if four is None:
        return None
    name = _cell(array, number)
    thread = event.warp * WARP + lane
    why = tr(
        "Lane {lane} is thread {thread} of block {block}: it reads {cell}.",
        lane=lane,
        thread=_index(recording.thread_index(thread)),
        block=_index(recording.block_index(event.block)),
        cell=name,
    )
    text = tr("Which element of {array} does lane {lane} read?", array=array.name, lane=lane)
    return QuestionText(event.lead(), text, _texts([f"{array.name}[{i}, {j}]" for i, j in four[0]]), four[1], why)


def barrier(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask whether a barrier is right before or right after the block's step."""
    playable, log = event.playable, event.playable.recording.accesses
    if not event.on_gpu or not int(playable.timeline.phase.max()):
        return None
    begin, end = np.searchsorted(log.block, np.array([event.block, event.block + 1], log.block.dtype))
    step, phase = playable.timeline.step_of_row[begin:end], log.phase[begin:end]
    now = phase[step == event.step]
    # A barrier after the last access is not recorded.
    if not (step > event.step).any():
        return None
    first = int(step[step > event.step].min())
    before = bool(now.min() > phase[step < event.step].max(initial=0))
    after = bool(phase[step == first].min() > now.max())
    right = _AT_BARRIERS[before, after]
    answers = [tr("right before it"), tr("right after it"), tr("both before and after it"), tr("neither")]
    whys = (
        tr("There is a barrier of the block directly before this step, and none directly after it."),
        tr("There is a barrier of the block directly after this step, and none directly before it."),
        tr("There is a barrier of the block directly before this step, and another one directly after it."),
        tr("The block's steps before and after this one are in the same phase: there is no barrier between them."),
    )
    return QuestionText(event.lead(), tr("Where is the barrier?"), _texts(answers), right, whys[right])


def loop(event: Event, rng: Random, cell: Cell | None) -> QuestionText | None:
    """Ask about the next access of a loop on the CPU."""
    if event.on_gpu:
        return None
    recording, timeline = event.playable.recording, event.playable.timeline
    log = recording.accesses
    row = int(event.rows[rng.randrange(len(event.rows))])
    thread = int(log.thread[row])
    right = (int(log.array[row]), int(log.element[row]), bool(log.write[row]))
    i, j = (int(v[0]) for v in event.array.cells(np.array([right[1]])))
    rows, columns = event.array.grid
    others = []
    # Accesses that follow soon are the best wrong answers.
    for step in range(event.step + 1, min(event.step + _LOOK_AHEAD, timeline.steps)):
        soon = timeline.rows(step)
        soon = soon[log.thread[soon] == thread][:1]
        others += [(int(log.array[r]), int(log.element[r]), bool(log.write[r])) for r in soon]
    others.append((right[0], right[1], not right[2]))
    for r, c in ((j, i), (i, j + 1), (i + 1, j)):
        if r < rows and c < columns:
            others.append((right[0], event.array.element(r, c), right[2]))
    four = _four(rng, right, others)
    if four is None:
        return None
    names = [_cell(recording.arrays[a], e) for a, e, _ in four[0]]
    does = zip(names, four[0], strict=True)
    answers = [tr("it writes {cell}", cell=n) if w else tr("it reads {cell}", cell=n) for n, (_, _, w) in does]
    text = tr("What does the loop do next?")
    if recording.threads > 1:
        text = tr("What does thread {thread} do next?", thread=thread)
    fields = {"cell": _cell(event.array, right[1]), "value": f"{float(log.value[row]):g}"}
    why = tr("It writes {cell} = {value}.", **fields) if right[2] else tr("It reads {cell} = {value}.", **fields)
    return QuestionText("", text, _texts(answers), four[1], why)


def _four(rng: Random, right: _T, others: list[_T], in_order: bool = False) -> tuple[list[_T], int] | None:
    """Return the right answer among three other answers that differ from it; None if there are too few."""
    wrong = [other for other in dict.fromkeys(others) if other != right][:3]
    if len(wrong) < 3:
        return None
    answers = [right, *wrong]
    if in_order:
        answers.sort()
    else:
        rng.shuffle(answers)
    return answers, answers.index(right)


def _texts(answers: list[str]) -> tuple[str, str, str, str]:
    first, second, third, fourth = answers
    return first, second, third, fourth


def _some(rng: Random, count: int) -> list[int]:
    """Return a few different numbers below `count`."""
    return rng.sample(range(count), min(count, 8))


def _lane(event: Event, rng: Random) -> tuple[int, int]:
    """Choose a lane of the request, lane 0 last as it is the easiest; return it, and its element."""
    log, rows = event.playable.recording.accesses, event.rows
    lane = log.thread[rows].astype(np.int64) % WARP
    choice = np.flatnonzero(lane > 0) if len(rows) > 1 else np.arange(len(rows))
    at = choice[rng.randrange(len(choice))]
    return int(lane[at]), int(log.element[rows[at]])


def _cell(array: Array, element: int) -> str:
    row, column = (int(v[0]) for v in array.cells(np.array([element])))
    return f"{array.name}[{row}, {column}]"


def _index(index: tuple[int, int, int]) -> str:
    x, y, z = index
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"
