"""The limits of a stranger's kernel: memory, processes, output, processor time, the compiler's time."""

import shlex
import sys

import attacks
import pytest
from attacking import assert_goes_on, limited, measured, record, result_of

from gemmviz.engine.messages import Failed

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux has what the sandbox is made of"
)
MIB = 1 << 20


@pytest.mark.sweep("timed")
@pytest.mark.parametrize("way", ["recorded", "timed"])
def test_a_kernel_that_takes_all_memory_is_ended_and_told_why(way):
    fill = "char *volatile p = malloc(64 << 20); if (p) memset(p, 1, 64 << 20); usleep(20000);"
    hog = f"for (int i = 0; i < 48; i++) {{ {fill} }}"
    engine = limited(memory_bytes=700 * MIB)
    try:
        if way == "recorded":
            reply = record(engine, attacks.attack(hog))
            assert isinstance(reply, Failed)
            message = reply.message
        else:
            row = measured(engine, attacks.attack(hog))
            assert row["status"] == "crash"
            message = row["message"]
        assert "it took more than 0.68 GiB of memory" in message
        assert_goes_on(engine)
    finally:
        engine.close()


def test_a_kernel_that_forks_without_end_is_ended_and_told_why():
    engine = limited(processes=40)
    try:
        text = attacks.device_attack("for (int i = 0; i < 200; i++) if (fork() == 0) { sleep(30); } sleep(2);")
        reply = record(engine, text, "/nowhere/mine.cu", 32)
        assert isinstance(reply, Failed)
        assert "more than 40 processes" in reply.message
        assert_goes_on(engine)
    finally:
        engine.close()


def test_what_is_printed_fills_no_disk(engine):
    body = (
        "static char line[1 << 20]; memset(line, 'x', sizeof line); line[sizeof line - 1] = '\\n';"
        "for (int i = 0; i < 64; i++) { ssize_t n = write(1, line, sizeof line); if (n > 0) result += n >> 20; }"
    )
    assert result_of(engine, body) <= 16


def test_processor_time_is_limited():
    engine = limited(run_s=1)
    try:
        reply = record(engine, attacks.attack("for (volatile int forever = 1; forever;) ;"))
        assert isinstance(reply, Failed)
        assert "1 s of processor time" in reply.message
    finally:
        engine.close()


ENDLESS_TO_COMPILE = """
template <int A, long B> struct many { enum { value = many<A - 1, B * 2>::value | many<A - 1, B * 2 + 1>::value }; };
template <long B> struct many<0, B> { enum { value = 1 }; };
__device__ int much() { return many<28, 1>::value; }
"""


def test_a_kernel_that_takes_for_ever_to_compile_is_given_up():
    engine = limited(compile_s=4, memory_bytes=4 << 30)
    try:
        text = attacks.device_attack("s += much();", ENDLESS_TO_COMPILE)
        reply = record(engine, text, "/nowhere/mine.cu", 32)
        assert isinstance(reply, Failed)
        assert reply.kind == "compile"
        assert "stopped" in reply.message
    finally:
        engine.close()


# Like zig: the compiler's own process waits for another one, and ends without a message when that one fails.
WAITS = "case $1 in --version) echo clang; exit 0;; esac; sh -c '{child}'; exit 1"


@pytest.mark.parametrize(
    ("child", "text"),
    [
        ("while :; do :; done", "mine.c does not compile: stopped: it took more than 1 s"),
        ("exit 1", "the compiler printed no message"),
    ],
    ids=["endless", "refuses"],
)
def test_a_limit_that_ends_a_process_of_the_compiler_is_named(monkeypatch, child, text):
    monkeypatch.setenv("GEMMVIZ_CC", shlex.join(["sh", "-c", WAITS.format(child=child), "cc"]))
    engine = limited(compile_s=1)
    try:
        reply = record(engine, attacks.attack(""))
        assert isinstance(reply, Failed)
        assert reply.kind == "compile"
        assert text in reply.message
        assert ("args" in reply.message) == (child == "exit 1")
    finally:
        engine.close()
