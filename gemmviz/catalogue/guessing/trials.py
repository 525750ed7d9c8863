"""The results of the trials of a guess, and the sentence if none of them was right."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from gemmviz.catalogue.cut_text import cut_text
from gemmviz.catalogue.errors import NO_COMMA, BuildError, GemmvizError
from gemmviz.catalogue.guessing.asserted_sizes import MOST_ELEMENTS, MOST_PRODUCTS, with_asserted_sizes
from gemmviz.catalogue.guessing.candidates import is_launched_so, squared
from gemmviz.catalogue.guessing.certainty import (
    constant_threads,
    has_known_depth,
    has_whole_blocks,
    has_whole_groups,
    is_given,
    is_known,
    is_whole,
)
from gemmviz.catalogue.guessing.deeper_sums import with_deeper_sums
from gemmviz.catalogue.guessing.flaw import Flaw
from gemmviz.catalogue.guessing.guessed_kernel import guessed_kernel
from gemmviz.catalogue.guessing.guessed_matter import Guess, is_stated
from gemmviz.catalogue.guessing.hindrances import in_its_file, needed
from gemmviz.catalogue.guessing.kernel_text import kernel_line
from gemmviz.catalogue.guessing.one_step import right_with_one_tile
from gemmviz.catalogue.guessing.own_size import at_its_own_size, given_at_its_size
from gemmviz.catalogue.guessing.refused import compile_flaw
from gemmviz.catalogue.guessing.trial_sizes import first_size
from gemmviz.catalogue.guessing.verdict import Verdict
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import MAX_THREADS_PER_BLOCK
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.unclosed_body import unclosed_body
from gemmviz.language import mark, tr, trn

TryDevice = Callable[[Kernel, Problem], BuildError | None]
TryRace = Callable[[Kernel, Problem], Flaw | None]
TryOne = Callable[[Kernel, Problem], str]
_MOST_TRIES = 20
_MOST_ELEMENTS = 512 * 512
# A launch that is right but for reads out of bounds is taken where none of the likeliest is right altogether.
_MOST_TRIES_WITH_SPARE = 10
# So many more launches are tried after one that is right at the first size and wrong at a broad one.
_MOST_TRIES_AFTER_NARROW = 6
# So many more launches are tried after the file's own, where no layout of the matrices makes that one right.
_MOST_TRIES_AFTER_NEVER = 6
# Where so many launches have no end and none has one, the others are left: each costs a new process.
_MOST_CRASHES = 8
# So many grids of the file's own are tried for a cube at the end, if none was before.
_MOST_CUBES = 3
# The compiler may refuse so many sets of values of the parameters.
_MOST_REFUSED = 3
# After so many seconds of processor time, or by the clock, no further launch is tried, whatever was found.
_MOST_PROCESSOR_S, _MOST_S = 60.0, 300.0
# A sum of such a length has whole tiles for every usual tile.
_WHOLE_STEP = 64
OWN_LAUNCH_IS_WRONG = mark("with the launch in the file itself, elements of C are wrong")
OWN_LAUNCH_CRASHES = mark("with the launch in the file itself, the kernel crashes")
SCALES = mark(
    "recorded at {size}: every element of C is {factor} times that of A B. The kernel scales its result by a factor of "
    "its own, which front matter cannot say: with a parameter alpha in its place the kernel can be described"
)
OWN_LAUNCH_MISSES = mark("with the launch in the file itself, the kernel misses its arrays")


@dataclass
class Trials:
    """The launches that were tried, none of them right.

    Attributes
    ----------
    guess
        The guess that they are variants of.
    spent, clock
        Return the processor time and the time, in seconds.
    try_device, try_race
        As for `gemmviz.catalogue.guessing.settle.settle`.
    first, unmade
        The fault of the first one, and that of the first guess that is no launch.
    tried, crashed
        How many were tried, and how many of these had no end.
    narrow
        A launch that is right at its first size only, this size, and how many were tried up to it.
    square
        A launch for square matrices that is right at its first size, after a narrow one; and this size.
    partly
        A launch that is right at its first sizes, with what is wrong at another one.
    spare
        A launch that is right but for reads out of bounds, its size, and the first of them.
    ended
        The launches that ran to their end with a wrong C.
    refused
        The compiler's messages, by the values of the parameters.
    """

    guess: Guess
    spent: Callable[[], float]
    clock: Callable[[], float]
    try_device: TryDevice | None = None
    try_race: TryRace | None = None
    first: str = ""
    unmade: str = ""
    tried: int = 0
    crashed: int = 0
    narrow: tuple[Guess, Problem, int] | None = None
    square: tuple[Guess, Problem] | None = None
    partly: Guess | None = None
    spare: tuple[Guess, Problem, str] | None = None
    ended: list[Guess] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _refusal: tuple[Guess, Problem, BuildError] | None = None
    _own_refused: str = ""
    _first_refused: bool = False
    _refusals: set[str] = field(default_factory=set)
    _ran: Guess | None = None
    _missing: Guess | None = None
    _crashing: Guess | None = None
    _shallow: tuple[Guess, Problem] | None = None
    _never: Guess | None = None
    _never_at: int = 0
    _given: tuple[Guess, Problem] | None = None
    _uneven: dict[tuple[str, ...], Guess] = field(default_factory=dict)
    _cubes: int = 0
    _larger: Guess | None = None
    _asserted: bool = False
    _computes: str = ""
    _scaled: str = ""
    _threads: int = 0

    def __post_init__(self) -> None:
        self._until = self.spent() + _MOST_PROCESSOR_S, self.clock() + _MOST_S

    @property
    def over(self) -> bool:
        """Whether no further launch is tried."""
        most = _MOST_TRIES_WITH_SPARE if self.spare else _MOST_TRIES
        most = self.narrow[2] + _MOST_TRIES_AFTER_NARROW if self.narrow else most
        most = min(most, self._never_at + _MOST_TRIES_AFTER_NEVER) if self._never else most
        over = self.spent() > self._until[0] or self.clock() > self._until[1]
        return over or self.tried >= most or self.crashed == self.tried == _MOST_CRASHES

    def takes(self, size: Problem) -> bool:
        """Return whether a size is small enough to be tried."""
        if self._larger:
            return size.m * size.n <= MOST_ELEMENTS and size.m * size.n * size.k <= MOST_PRODUCTS
        return size.m * size.n <= _MOST_ELEMENTS

    def larger(self, candidate: Guess, wrong: str, try_one: Callable[[Kernel, Problem], str]) -> Guess | None:
        """Return the guess for larger sizes, where an assertion of the kernel is false with its file's own launch.

        None where that is not so, or where no size helps.

        Parameters
        ----------
        candidate, wrong
            A launch, and its fault at a small size.
        try_one
            As for `gemmviz.catalogue.guessing.settle.settle`.
        """
        stated = is_stated(candidate, "block") and is_stated(candidate, "grid")
        asserted = isinstance(wrong, Verdict) and wrong.asserted and stated
        if not asserted or self._asserted:
            return None
        self._asserted = True
        self._larger = with_asserted_sizes(candidate, try_one)
        self.guess = self._larger or self.guess
        return self._larger

    def refuse(self, candidate: Guess, error: BuildError, size: Problem) -> bool:
        """Note the compiler's message about a launch; return whether no other launch can help."""
        self.refused[repr(candidate.params)] = str(error)
        self._refusal = self._refusal or (candidate, size, error)
        self._own_refused = self._own_refused or (str(error) if is_launched_so(candidate) else "")
        # Another launch helps only if it has other values of the parameters.
        return len(self.refused) == _MOST_REFUSED or not candidate.params

    def note(self, candidate: Guess, size: Problem, at: Problem, wrong: str) -> None:
        """Note a launch that is wrong.

        Parameters
        ----------
        candidate
            The launch.
        size, at
            Its first size, and the size at which it is wrong.
        wrong
            The fault, see `gemmviz.catalogue.guessing.verdict.Verdict`.
        """
        if not self.first:
            self.first = tr("recorded at {size}: {fault}", size=at, fault=wrong)
            self._first_refused = isinstance(wrong, Verdict) and wrong.refused
        self._refusals.add(wrong if isinstance(wrong, Verdict) and wrong.refused else "")
        if not isinstance(wrong, Verdict):
            return
        known = not candidate.params or is_stated(candidate, "params")
        if wrong.refused and is_launched_so(candidate) and known:
            self._threads = self._threads or constant_threads(candidate)
        self.crashed += wrong.crashed
        if wrong.computes and not self._computes:
            self._computes = tr("recorded at {size}: {fault}", size=at, fault=wrong.computes)
        if wrong.factor and not self._scaled:
            self._scaled = tr(SCALES, size=at, factor=f"{wrong.factor:.6g}")
        self.ended += [candidate] if wrong.comparable else []
        # At M = N = K layouts and roles make no difference, and all arrays have one size: the kernel is wrong itself.
        equal = size.m == size.n == size.k and has_known_depth(self.guess)
        cube = equal and has_whole_blocks(candidate, size)
        # A launch that has ended without a miss shows that its blocks beyond C, if it has any, store nothing.
        ended = cube or (equal and wrong.ended and has_whole_groups(candidate, size))
        self._cubes += cube and is_known(candidate)
        if wrong.ended and not cube and len(self._uneven) < _MOST_CUBES and is_known(candidate):
            self._uneven.setdefault(candidate.grid, candidate)
        if wrong.only_reads and is_stated(candidate, "block"):
            self.spare = self.spare or (candidate, size, wrong)
        if wrong.ended and is_launched_so(candidate):
            self._ran = self._ran or candidate
            # The grid of such a launch covers C: that only its first rows are right is no other way to read it.
            if ended and all(one.rows or one.columns or one.depth for one in wrong.readings) and is_known(candidate):
                self._never, self._never_at = self._never or candidate, self._never_at or self.tried
        ran = wrong.ended or not (wrong.crashed or wrong.misses or wrong.refused or wrong.asserted or wrong.only_reads)
        if ended and ran and at == size and size.k % _WHOLE_STEP == 0 and is_given(candidate):
            self._given = self._given or (candidate, size)
        if wrong.misses and is_stated(candidate, "block") and is_stated(candidate, "grid"):
            self._shallow = self._shallow or (candidate, at)
        if wrong.misses and cube and is_whole(candidate):
            self._missing = self._missing or candidate
        if wrong.faulty and cube and is_whole(candidate):
            self._crashing = self._crashing or candidate

    def ending(self, try_one: TryOne | None = None, settled: "Settled | None" = None) -> Guess:
        """Return the guess with its fault and its flaws; or the file's own launch, if the kernel is wrong with it.

        Parameters
        ----------
        try_one
            As for `gemmviz.catalogue.guessing.settle.settle`; None: nothing more is tried.
        settled
            Tries a guess and its variants.
        """
        deeper = self._at_larger_k(try_one, settled) if try_one and settled else None
        if deeper is not None:
            return deeper
        # One tile shows the roles of unequal sizes, too, where the file's own launch was only wrong at equal ones.
        one_tile = right_with_one_tile(self.ended, try_one) if try_one else None
        if one_tile is not None:
            return one_tile
        if try_one and not self._cubes and not in_its_file(self.guess):
            self._try_cubes(try_one)
        found, flaws = self._ending(), self.guess.flaws
        if try_one and self.tried and not in_its_file(self.guess):
            # A kernel with the sizes of its file in its body is wrong at all others, and may be right there.
            own = at_its_own_size(self.guess, try_one)
            found = own if own is not None and (own.right or not found.wrong_itself) else found
            if found.right:
                return found
        if self._computes and not in_its_file(self.guess):
            flaws = (*flaws, Flaw("another result", kernel_line(self.guess), self._computes))
        given = self._given or given_at_its_size(self.guess)
        if self.try_race and given and not found.wrong_itself and not in_its_file(self.guess):
            race = self.try_race(guessed_kernel(given[0]), given[1])
            flaws = (*flaws, race) if race else flaws
        if self._threads > MAX_THREADS_PER_BLOCK:
            template = mark("the file starts it with blocks of {count} threads; CUDA allows {most}")
            said = tr(template, count=self._threads, most=MAX_THREADS_PER_BLOCK)
            flaws = (*flaws, Flaw("not started", kernel_line(self.guess), said))
        if self.refused and self._refusal and len(self.refused) == self.tried:
            flaws = (*flaws, *self._of_compilers(*self._refusal))
        return replace(found, flaws=flaws)

    def _try_cubes(self, try_one: TryOne) -> None:
        """Try the launches in the file at M = N = K: the conditions of the first of them may have no small cube."""
        for one in self._uneven.values():
            square = squared(one)
            try:
                kernel = guessed_kernel(square)
                size = first_size(kernel)
                if size is not None and self.takes(size):
                    self.note(square, size, size, try_one(kernel, size))
            except GemmvizError:  # it has no launch there
                continue

    def _at_larger_k(self, try_one: TryOne, settled: "Settled") -> Guess | None:
        """Return a launch that is right for larger K, where the file's own launch misses its arrays at a small K."""
        if self._shallow is None or self._larger or self.spent() > self._until[0] or self.clock() > self._until[1]:
            return None
        found = with_deeper_sums(*self._shallow, try_one)
        if found is None:
            return None
        further = Trials(found, self.spent, self.clock, self.try_device, self.try_race, _larger=found)
        further._until = self._until
        made = settled(found, try_one, True, further)
        return made if made.right else None

    def _ending(self) -> Guess:
        seen = next((one for one in self.guess.flaws if one.kind == "not compiled"), None)
        if seen and not self._ran:  # the text itself shows why no launch can run
            return self._hindered(str(seen), self.guess.hindrance)
        if len(self.refused) == self.tried > 0 or (self._own_refused and not self._ran):
            reason = self._own_refused or next(iter(self.refused.values()))
            return self._hindered(tr("it cannot be compiled: {reason}", reason=reason), self.guess.hindrance)
        if self.tried > 1 and len(self._refusals) == 1 and "" not in self._refusals:
            # Each launch is refused for one reason, such as an unknown instruction: no other launch helps.
            return self._hindered(self.first, self.guess.hindrance)
        others = self.tried - 1
        also = trn("{count} other launch is wrong too", "{count} other launches are wrong too", others)
        reason = f"{self.first}; {also}" if others > 0 else self.first
        if not self.tried and not self.first:
            # A value that the guess could not read stands there in the kernel's own words, which help nobody.
            unread = any(sign in self.unmade for sign in "?{")
            reason = "" if unread or in_its_file(self.guess) else self.unmade
        if self._scaled or in_its_file(self.guess):  # then a wrong C is no fault of the kernel's
            return self._hindered(self._scaled or reason, self.guess.hindrance)
        if self._never:  # the launch is right, and the kernel wrong: then the checker says where
            # Equal sizes that are smaller show the same, and the checker takes less time.
            kept = (one for one in self._never.requires if not one.startswith("K % ") or one in self.guess.requires)
            reason = f"{reason}; {tr(OWN_LAUNCH_IS_WRONG)}"
            return replace(self._never, requires=tuple(kept), settled=reason, wrong_itself=True)
        if self._missing:
            return replace(self._missing, settled=f"{reason}; {tr(OWN_LAUNCH_MISSES)}", wrong_itself=True)
        if self._crashing and self.crashed == self.tried:
            return replace(self._crashing, settled=f"{reason}; {tr(OWN_LAUNCH_CRASHES)}", wrong_itself=True)
        return self._hindered(reason, self.guess.hindrance or needed(self.guess, refused=self._first_refused))

    def _of_compilers(self, refused: Guess, size: Problem, error: BuildError) -> Iterator[Flaw]:
        """Yield the flaw that both compilers have found."""
        if NO_COMMA in str(error):
            line = error.line or kernel_line(refused)
            yield Flaw("not compiled", line, str(error).removeprefix(f"{refused.path.name}:{line}: "))
        unclosed = unclosed_body(self.guess.text)
        if unclosed is not None:
            yield Flaw("not compiled", unclosed.line, str(unclosed))
            return
        line = cut_text(self.guess.text, self.guess.headers)
        if line:
            yield Flaw("not compiled", line, tr("a bracket opens here, and the file ends before it is closed"))
            return
        if self.try_device is None:
            return
        flaw = compile_flaw(self.guess, error, self.try_device(guessed_kernel(refused), size))
        if flaw is not None:
            yield flaw

    def _hindered(self, reason: str, asked: str) -> Guess:
        """Return the guess with its fault, and with the reason or the missing front matter, if its files show one."""
        return replace(self.guess, settled="; ".join(filter(None, (reason, asked))))


Settled = Callable[[Guess, TryOne, bool, Trials], Guess]
