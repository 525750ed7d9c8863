"""Kernels with CUDA's conversions and arithmetic that have a rounding in their names, and what they must give.

The wanted bits are computed here with fractions, without a float of the machine. C has the bits of each result, 16 in
each element: so every element is exact.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from ptx_kernels import PtxKernel

from gemmviz.catalogue.problem import Problem

Exact = Fraction | float
"""A number; the floats are infinite, -0 or NaN."""
ROUNDINGS = ("rn", "rz", "rd", "ru")
_LANES = 32


@dataclass(frozen=True)
class _Float:
    """A type of floats: bits in all and of the fraction, and its name in C."""

    bits: int
    fraction: int
    word: str

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.fraction - 2)) - 1

    def value(self, code: int) -> Exact:
        """The number that bits stand for."""
        sign = -1 if code >> (self.bits - 1) else 1
        exponent, fraction = code >> self.fraction & 2 * self.bias + 1, code & (1 << self.fraction) - 1
        if exponent == 2 * self.bias + 1:
            return math.nan if fraction else sign * math.inf
        if not exponent and not fraction:
            return sign * 0.0 if sign < 0 else Fraction(0)
        whole = fraction + (1 << self.fraction if exponent else 0)
        return sign * whole * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)

    def code(self, v: Exact, how: str) -> int:
        """The bits of a number that is rounded; all bits of NaN are set."""
        top = (2 * self.bias + 1) << self.fraction
        if isinstance(v, float):
            size = top if math.isinf(v) else 0
            return (1 << self.bits) - 1 if v != v else size | (math.copysign(1, v) < 0) << (self.bits - 1)
        if v == 0:
            return 0
        exponent = max(_exponent(abs(v)), 1 - self.bias)
        units = rounded(v / Fraction(2) ** (exponent - self.fraction), how)
        size = abs(units) + ((exponent + self.bias - 1) << self.fraction)
        if size >= top:
            size = top - (how == "rz" or (how == "rd" and v > 0) or (how == "ru" and v < 0))
        return size | (v < 0) << (self.bits - 1)


@dataclass(frozen=True)
class _Whole:
    bits: int
    signed: bool
    word: str

    def value(self, code: int) -> Exact:
        code &= (1 << self.bits) - 1
        return Fraction(code - (code >> (self.bits - 1) << self.bits if self.signed else 0))

    def code(self, v: Exact, how: str, wide: bool = False) -> int:
        """The bits of a number that is rounded and limited; of NaN zero, or the highest bit where a type is wide."""
        low = -(1 << (self.bits - 1)) if self.signed else 0
        high = low + (1 << self.bits) - 1
        if isinstance(v, float) and v != v:
            return 1 << (self.bits - 1) if wide or self.bits == 64 else 0
        whole = (high if v > 0 else low) if v in (math.inf, -math.inf) else rounded(Fraction(v), how)
        return min(max(whole, low), high) & (1 << self.bits) - 1


def _exponent(v: Fraction) -> int:
    exponent = v.numerator.bit_length() - v.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= v else exponent - 1


def rounded(v: Fraction, how: str) -> int:
    """Return the whole number next to a number in a direction; ties to even."""
    if how == "rn":
        return round(v)
    if how == "rz":
        how = "rd" if v > 0 else "ru"
    return math.floor(v) if how == "rd" else math.ceil(v)


FLOAT, DOUBLE = _Float(32, 23, "float"), _Float(64, 52, "double")
HALF, BFLOAT16 = _Float(16, 10, "__half"), _Float(16, 7, "__nv_bfloat16")
INT, UINT = _Whole(32, True, "int"), _Whole(32, False, "unsigned")
LL, ULL = _Whole(64, True, "long long"), _Whole(64, False, "unsigned long long")
_LONG = {"int": INT, "uint": UINT, "ll": LL, "ull": ULL}
_SHORT = {"short": _Whole(16, True, "short"), "ushort": _Whole(16, False, "unsigned short")}
_BYTES = {"char": _Whole(8, True, "signed char"), "uchar": _Whole(8, False, "unsigned char")}
_TESTED = [
    *(0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 0.1, -0.1, 1e-7, -3.7e-5, 99.5, -127.5, 254.49, 32767.5, -32768.4),
    *(65519.0, 65520.0, 1e5, 16777215.5, 2147483520.0, -2147483648.0, 4294967040.0, 5e9, -9.3e18, 9.2e18, 1.9e19),
    *(3.1e38, 1e-40, math.inf, -math.inf, math.nan),
]
_COUNTED = [0, 1, 3, 7, 255, 257, 2049, 2051, -2049, 32767, -32768, 65519, 65520, 65535, 131071, 0xFFFFFF, 0x1000001]
_COUNTED += [-0x1000001, 0x1000003, 2147483647, -2147483648, 0xFFFFFFFF, 2**33 + 1, 2**40 + 2**16 + 1, 2**53 + 1]
_COUNTED += [-(2**53) - 3, 2**54 + 2, 2**63 - 1, -(2**63), 2**64 - 1, 2**60 + 2**52 + 1, 2**60 - 2**35 - 1]


def codes(kind: _Float | _Whole) -> list[int]:
    """Return the bits of the 32 numbers that are converted."""
    if isinstance(kind, _Whole):
        return [number & (1 << kind.bits) - 1 for number in _COUNTED]
    given = [math.nan if v != v else v if math.isinf(v) or str(v) == "-0.0" else Fraction(v) for v in _TESTED]
    return [kind.code(v, "rn") for v in given]


@dataclass(frozen=True)
class Case:
    """A function of one number, or an expression of numbers `v`, `w` and `x`, with what it must give."""

    call: str
    source: _Float | _Whole
    result: _Float | _Whole
    how: str
    exact: Callable[..., Exact] = lambda v, *_: v

    def given(self, lane: int) -> tuple[Exact, Exact, Exact]:
        """The numbers `v`, `w` and `x` of a lane."""
        numbers = [self.source.value(code) for code in codes(self.source)]
        return numbers[lane], numbers[(7 * lane + 3) % _LANES], numbers[(5 * lane + 1) % _LANES]

    def flushed(self, lane: int) -> bool:
        """Whether a float of the lane is subnormal: with ``-ftz=true`` a GPU takes zero for it."""
        given = self.given(lane)
        floats = given if self.source is FLOAT else ()
        result = (self.exact(*given),) if self.result is FLOAT else ()
        return "x1p-" in self.call or any(
            isinstance(v, Fraction) and 0 < abs(v) < Fraction(2) ** -126 for v in (*floats, *result)
        )

    def wanted(self) -> list[int]:
        """The bits of the result in each lane."""
        made = []
        for lane in range(_LANES):
            exact = self.exact(*self.given(lane))
            if isinstance(self.result, _Whole):
                made.append(self.result.code(exact, self.how, self.source.bits == 64))
            else:
                made.append(self.result.code(exact, self.how))
        return made


def _conversions() -> Iterator[Case]:
    for how in ROUNDINGS:
        for name, whole in _LONG.items():
            yield Case(f"__float2{name}_{how}(v)", FLOAT, whole, how)
            yield Case(f"__double2{name}_{how}(v)", DOUBLE, whole, how)
            yield Case(f"__{name}2float_{how}(v)", whole, FLOAT, how)
        yield Case(f"__double2float_{how}(v)", DOUBLE, FLOAT, how)
        for name in ("ll", "ull"):
            yield Case(f"__{name}2double_{how}(v)", _LONG[name], DOUBLE, how)
        for float_name, kind in (("half", HALF), ("bfloat16", BFLOAT16)):
            for name, whole in (_SHORT | _LONG).items():
                yield Case(f"__{float_name}2{name}_{how}(v)", kind, whole, how)
                yield Case(f"__{name}2{float_name}_{how}(v)", whole, kind, how)
            yield Case(f"__float2{float_name}_{how}(v)", FLOAT, kind, how)
    for float_name, kind in (("half", HALF), ("bfloat16", BFLOAT16)):
        for name, whole in _BYTES.items():
            yield Case(f"__{float_name}2{name}_rz(v)", kind, whole, "rz")


def _sum(a: Exact, b: Exact, how: str) -> Exact:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return -0.0 if how == "rd" and a + b == 0 and a else a + b
    if a == 0 and b == 0:  # one of them is -0
        both = isinstance(a, float) and isinstance(b, float)
        return -0.0 if both or how == "rd" else Fraction(0)
    return (b if a == 0 else a) if 0 in (a, b) else float(_far(a)) + float(_far(b))


def _far(v: Exact) -> float:
    """Return an infinite number, NaN, or a number with the sign of a finite one."""
    return v if isinstance(v, float) else math.copysign(1, v) if v else 0.0


def _product(a: Exact, b: Exact) -> Exact:
    if isinstance(a, Fraction) and isinstance(b, Fraction) and a and b:
        return a * b
    made = _far(a) * _far(b)
    return Fraction(0) if made == 0 and math.copysign(1, made) > 0 else made


def _quotient(a: Exact, b: Exact) -> Exact:
    if isinstance(a, Fraction) and isinstance(b, Fraction) and a and b:
        return a / b
    x, y = _far(a), _far(b)
    if x != x or y != y or (x == 0 and y == 0) or (math.isinf(x) and math.isinf(y)):
        return math.nan
    sign = math.copysign(1, x) * math.copysign(1, y)
    if y == 0 or math.isinf(x):
        return sign * math.inf
    return Fraction(0) if sign > 0 else -0.0


def _root(v: Exact) -> Exact:
    if isinstance(v, float):
        return v if v == 0 or v == math.inf else math.nan
    if v < 0:
        return math.nan
    scale = 1 << 400  # far more digits than a float has; a digit behind them says whether the root is exact
    whole = math.isqrt(v.numerator * scale * scale // v.denominator)
    exact = Fraction(whole, scale)
    return exact if exact * exact == v else exact + Fraction(1, 4 * scale)


def _negative(v: Exact) -> Exact:
    return -0.0 if isinstance(v, Fraction) and v == 0 else Fraction(0) if v == 0 else -v


def _arithmetic() -> Iterator[Case]:
    for how in ROUNDINGS:

        def added(a: Exact, b: Exact, _: Exact, how: str = how) -> Exact:
            return _sum(a, b, how)

        def less(a: Exact, b: Exact, _: Exact, how: str = how) -> Exact:
            return _sum(a, _negative(b), how)

        def joined(a: Exact, b: Exact, c: Exact, how: str = how) -> Exact:
            return _sum(_product(a, b), c, how)

        yield Case(f"__fadd_{how}(v, w)", FLOAT, FLOAT, how, added)
        yield Case(f"__fsub_{how}(v, w)", FLOAT, FLOAT, how, less)
        yield Case(f"__fmul_{how}(v, w)", FLOAT, FLOAT, how, lambda a, b, _: _product(a, b))
        yield Case(f"__fdiv_{how}(v, w)", FLOAT, FLOAT, how, lambda a, b, _: _quotient(a, b))
        yield Case(f"__fmaf_{how}(v, w, x)", FLOAT, FLOAT, how, joined)
        yield Case(f"__frcp_{how}(v)", FLOAT, FLOAT, how, lambda a, *_: _quotient(Fraction(1), a))
        yield Case(f"__fsqrt_{how}(v)", FLOAT, FLOAT, how, lambda a, *_: _root(a))
    yield Case("__fadd_rd(v, -v)", FLOAT, FLOAT, "rd", lambda a, *_: _sum(a, _negative(a), "rd"))
    yield Case("__fmul_rz(v * 0x1p-120f, w * 0x1p-120f)", FLOAT, FLOAT, "rz", _tiny)


def _tiny(a: Exact, b: Exact, _: Exact) -> Exact:
    small = [v if isinstance(v, float) else FLOAT.value(FLOAT.code(v / 2**120, "rn")) for v in (a, b)]
    return _product(*small)


CASES = {"conversions": list(_conversions()), "arithmetic": list(_arithmetic())}
_READ = """
template <class T> __device__ T read(unsigned long long code)
{
    T v;
    memcpy(&v, &code, sizeof v);
    return v;
}
template <class T> __device__ void write(float *C, int N, int row, T v, bool is_float)
{
    unsigned long long code = 0;
    memcpy(&code, &v, sizeof v);
    if (is_float && v != v) code = ~0ull >> (64 - 8 * sizeof v);
    for (int i = 0; i < 4; i++) C[row * N + threadIdx.x * 4 + i] = (float)(code >> 16 * i & 65535);
}
"""


def kernel(name: str) -> PtxKernel:
    """Return the kernel with the cases of a name, a row of C for each."""
    cases = CASES[name]
    kinds = {case.source.word: case.source for case in cases}
    given = "".join(
        f"    const unsigned long long of_{number}[] = {{{', '.join(f'{code}ull' for code in codes(kind))}}};\n"
        for number, kind in enumerate(kinds.values())
    )
    numbers = {word: number for number, word in enumerate(kinds)}
    body = given + "    int t = threadIdx.x;\n"
    for row, case in enumerate(cases):
        word, table = case.source.word, f"of_{numbers[case.source.word]}"
        numbers_given = ", ".join(
            f"{letter} = read<{word}>({table}[{at}])"
            for letter, at in (("v", "t"), ("w", "(7 * t + 3) % 32"), ("x", "(5 * t + 1) % 32"))
            if letter in case.call.replace("x1p", "")
        )
        is_float = "true" if isinstance(case.result, _Float) else "false"
        made = f"{case.result.word} r = {case.call}; write(C, N, {row}, r, {is_float});"
        body += f"    {{ {word} {numbers_given}; {made} }}\n"
    return PtxKernel(name, body, Problem(len(cases), 4 * _LANES, 1), _READ)


def wanted(name: str) -> np.ndarray:
    """Return what C must be."""
    rows = [[(code >> 16 * i) & 65535 for code in case.wanted() for i in range(4)] for case in CASES[name]]
    return np.array(rows, dtype=np.float64)


def flushed(name: str) -> np.ndarray:
    """Return which elements of C may differ where subnormal floats are zero."""
    return np.array([np.repeat([case.flushed(lane) for lane in range(_LANES)], 4) for case in CASES[name]])
