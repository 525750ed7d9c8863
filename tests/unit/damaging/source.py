"""Damage to the code of kernels: brackets, indices, loops, barriers, arrays, and calls that end a program."""

import re
from collections.abc import Callable
from random import Random

_BRACKETS = "()[]{}<>;,"
_OPERATORS = ("+", "-", "*", "/", "%", "<", "<=", ">", "==", "&&", "||", "<<", ">>", "=", "+=", "&", ".", "->", "::")
_NUMBERS = ("0", "1", "-1", "2", "3", "31", "33", "1024", "65536", "1 << 30", "0xffffffffffffffff", "1e30f", "0.0 / 0")
_STATEMENTS = (
    "return;",
    "if (threadIdx.x == 0) return;",
    "if (blockIdx.x == 1) return;",
    "for (;;) ;",
    "for (volatile int gv = 1; gv;) ;",
    "while (C[0] == C[0]) C[0] = C[0];",
    "volatile float gv_big[1 << 20]; gv_big[5] = 1;",
    "volatile float gv_huge[1 << 28]; gv_huge[1 << 27] = 1;",
    "__shared__ float gv_shared[1 << 16]; gv_shared[threadIdx.x] = 1; __syncthreads();",
    "__shared__ float gv_more[64]; gv_more[threadIdx.x] = gv_more[threadIdx.x + 1];",
    "*(volatile int *)8 = 1;",
    "C[-1000000] = 1;",
    "C[1 << 26] = 1;",
    "A = B;",
    "C = nullptr;",
    "{ volatile int gv_zero = 0; C[0] = 1 / gv_zero; }",
    "__builtin_trap();",
    "abort();",
    "exit(3);",
    '__asm__ volatile("ud2");',
    "__syncthreads();",
    "if (threadIdx.x < 3) __syncthreads();",
    "__syncwarp();",
    "__shfl_sync(0xffffffff, 1.0f, 99);",
    'asm volatile("bar.sync 99;");',
    "atomicAdd(&C[0], 1.0f);",
    'printf("%s%n", 3);',
    "malloc((size_t)1 << 40);",
    "int gv_negative[-1];",
    "goto gv_nowhere;",
    'static_assert(0, "no");',
    "alloca(1 << 26);",
    "((void (*)(void))0)();",
    "((void (*)(void))C)();",
    "{ auto gv_self = [&](auto self, int n) -> int { return self(self, n + 1) + n; }; C[0] = gv_self(gv_self, 0); }",
    "fork();",
    "throw 1;",
)
_LINES = (
    '#include "/etc/passwd"',
    "#include __FILE__",
    "#include <no/such.h>",
    "#error stop",
    '#line 99999999 "elsewhere.cu"',
    "#line 0",
    "#pragma once",
    "#pragma unroll 100000",
    "#define float double",
    "#define threadIdx blockIdx",
    "#define for if",
    "#if 1",
    "#endif",
    "/*",
    "*/",
    '"',
    'R"(',
    "template <int N> struct gv_deep { enum { v = gv_deep<N + 1>::v }; }; int gv_too = gv_deep<0>::v;",
    "int gv_global[1 << 28];",
    "__device__ float gv_flag; __constant__ float gv_constant[1 << 20];",
    "struct gv_start { gv_start() { for (;;) ; } } gv_started;",
    "int main() { return 1; }",
    'extern "C" int gv_missing(); int gv_link = gv_missing();',
    "\\",
    "\x00",
    "??/",
    "é한😀",
)


def changed_source(text: str, span: tuple[int, int], random: Random) -> str:
    """Return a kernel's text with one to three places of its code changed; `span` says where that begins and ends."""
    start, end = span
    code = text[start:end]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        code = random.choice(_CHANGES)(code, random)
    return text[:start] + code + text[end:]


def _at(pattern: str, code: str, random: Random) -> tuple[int, int] | None:
    found = [match.span() for match in re.finditer(pattern, code)]
    return random.choice(found) if found else None


def _put(code: str, span: tuple[int, int] | None, new: str) -> str:
    return code if span is None else code[: span[0]] + new + code[span[1] :]


def _bracket(code: str, random: Random) -> str:
    return _put(code, _at(r"[()\[\]{}<>;,]", code, random), random.choice(("", "", *_BRACKETS)))


def _name(code: str, random: Random) -> str:
    names = re.findall(r"\b[A-Za-z_]\w*\b", code) or ["x"]
    return _put(code, _at(r"\b[A-Za-z_]\w*\b", code, random), random.choice(names))


def _index(code: str, random: Random) -> str:
    inside = random.choice(("0", "-1", "N", "M * N", "threadIdx.x", "1 << 20", "", "i", "-(1 << 30)", "N - 1 - K"))
    return _put(code, _at(r"(?<=\[)[^\[\]]*(?=\])", code, random), inside)


def _number(code: str, random: Random) -> str:
    return _put(code, _at(r"\b\d+\b", code, random), random.choice(_NUMBERS))


def _operator(code: str, random: Random) -> str:
    return _put(code, _at(r"<=|>=|\+=|==|&&|\+\+|[-+*/%<>=]", code, random), random.choice(_OPERATORS))


def _endless(code: str, random: Random) -> str:
    return _put(code, _at(r"(?<=;)[^;()]*(?:\+\+|\+=[^;()]*|--)[^;()]*(?=\))", code, random), "")


def _barrier(code: str, random: Random) -> str:
    barrier = r"__sync\w+\([^;]*\);|cp_async_wait\w*[^;]*;|\bmbarrier\w*[^;]*;|#pragma omp[^\n]*"
    return _put(code, _at(barrier, code, random), "")


def _statement(code: str, random: Random) -> str:
    span = _at(r"(?<=[;{])\n", code, random)
    return _put(code, span, f"\n{random.choice(_STATEMENTS)}\n")


def _line(code: str, random: Random) -> str:
    lines = code.split("\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.randrange(4)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.insert(at, lines[other])
    elif change == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines.insert(at, random.choice(_LINES))
    return "\n".join(lines)


def _cut(code: str, random: Random) -> str:
    start = random.randint(0, len(code))
    return code[:start] + random.choice(("", code[start + random.choice((1, 5, 50, 500)) :]))


_CHANGES: tuple[Callable[[str, Random], str], ...] = (
    *(_bracket, _name, _index, _number, _operator, _endless, _barrier),
    *(_statement, _statement, _line, _line, _cut),
)
