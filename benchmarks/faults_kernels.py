"""Faults of kernels and of the machine, met on the CPU."""

import os
import subprocess
import threading
import time
from pathlib import Path
from unittest import mock

from faults_ground import Broken, Fault, Ground, c_kernel, need

from gemmviz.engine import process
from gemmviz.engine.messages import Recorded
from gemmviz.engine.supervisor import Engine

_STDLIB = "#include <stdlib.h>"
_ABORTS = c_kernel("    abort();", top=_STDLIB)
_SEGFAULT = c_kernel("    *(volatile int *)8 = 1;")
_DIVIDES = c_kernel("    volatile int zero = 0; c[0] = m / zero;")
_DEEP = c_kernel(
    "    c[0] = deep(c, 1 << 30);",
    top="static float deep(volatile float *c, int n) "
    "{ volatile float local[1024]; local[n % 1024] = n; return n ? deep(c, n - 1) + local[n % 7] : c[0]; }",
)
_ENDLESS = c_kernel("    for (volatile int forever = 1; forever;) ;")
_GREEDY = c_kernel(
    "    for (int i = 0; i < 48; i++) { char *volatile p = malloc(64 << 20); "
    "if (p) memset(p, 1, 64 << 20); usleep(20000); }",
    top=f"{_STDLIB}\n#include <string.h>\n#include <unistd.h>",
)


def _both(text: str, status: str, word: str):
    """Return a function that records a kernel and measures it; both sentences must hold the same word."""

    def provoke(ground: Ground) -> str:
        recorded, measured = ground.refused(text), ground.bad_row(text, status)
        need(word in recorded.lower(), f"recorded: {recorded}")
        need(word in measured.lower(), f"measured: {measured}")
        return recorded

    return provoke


def wrong_answer(ground: Ground) -> str:
    """Try a loop that stops one element early."""
    message = ground.bad_row(c_kernel().replace("l < k", "l < k - 1"), "wrong")
    need("elements of C are wrong" in message, message)
    return message


def wrong_later(ground: Ground) -> str:
    """Try a kernel that is right in its first calls, so that it passes before it is timed."""
    return ground.bad_row(c_kernel("    static int calls; calls++;", loops=_later()), "wrong")


def _later() -> str:
    return c_kernel().split("{", 1)[1].rsplit("}", 1)[0].replace("= sum;", "= calls > 4 ? sum + 1 : sum;")


def not_a_number(ground: Ground) -> str:
    """Try a C that is infinite in one element."""
    return ground.bad_row(c_kernel().replace("= sum;", "= i + j ? sum : sum / 0.0f;"), "wrong")


def no_entry(ground: Ground) -> str:
    """Front matter that names another function, and a signature with one parameter more."""
    message = ground.bad_row(c_kernel().replace('entry = "mine"', 'entry = "other"'), "compile")
    need("other" in message, message)
    return message


def no_c(ground: Ground) -> str:
    """Try a text that a compiler refuses: the line is that of the user's file."""
    message = ground.refused(c_kernel("    this is not C;"))
    need("mine.c:8:" in message or "mine.c:" in message, message)
    return message


def takes_all_memory(ground: Ground) -> str:
    """Try a kernel that takes 3 GiB where 0.7 are allowed."""
    engine = ground.limited(memory_bytes=700 << 20)
    try:
        return ground.refused(_GREEDY, engine=engine)
    finally:
        engine.close()


def endless(ground: Ground) -> str:
    """Try a loop without an end: recorded and measured."""
    message = ground.bad_row(_ENDLESS, "timeout", protocol={"deadline_s": 3.0})
    need("still running" in message, message)
    return message


def cannot_be_killed(ground: Ground) -> str:
    """Try a process that survives SIGKILL, as with a hanging driver: killing is replaced by nothing."""
    engine = Engine(ground.engine._consent)
    reply = ground.recorded(c_kernel(), engine=engine)
    need(isinstance(reply, Recorded), "the first recording")
    pid = engine.pid
    kinds = mock.patch.object(process.processes, "end_tree"), mock.patch.object(process.os, "killpg")
    try:
        with (
            kinds[0],
            kinds[1],
            mock.patch("multiprocessing.process.BaseProcess.kill"),
            mock.patch.object(process, "_DYING_S", 0.5),
        ):
            try:
                engine._process.kill()
            except process.ProcessLost as lost:
                message = str(lost)
            else:
                raise Broken("no message appears")
    finally:
        engine.close()
        if pid is not None and Path(f"/proc/{pid}").exists():
            os.kill(pid, 9)
    need(isinstance(ground.recorded(c_kernel(), engine=engine), Recorded), "the next recording")
    engine.close()
    return message


def no_compiler(ground: Ground) -> str:
    """Name a C compiler that does not exist in the environment variable."""
    nothing = ground.folder()
    done = ground.command(
        "record",
        "hostmult0",
        "--size",
        "4",
        environment={"GEMMVIZ_CC": str(nothing / "no-compiler"), "XDG_CACHE_HOME": str(nothing)},
    )
    need(done.returncode != 0, "exit code 0")
    return done.stderr.strip()


def cache_unwritable(ground: Ground) -> str:
    """Record while the path of the cache folder is a file."""
    place = ground.folder() / "cache"
    place.write_text("")
    done = ground.command("record", "hostmult0", "--size", "4", environment={"XDG_CACHE_HOME": str(place)})
    if done.returncode == 0:
        return f"(works without a cache) {done.stderr.strip()}".strip()
    return done.stderr.strip()


def cache_full(ground: Ground) -> str:
    """Record where the cache lies on a disk of 64 KiB."""
    place = ground.folder()
    mounted = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)], check=False
    )
    if mounted.returncode != 0:
        raise Broken("a small disk cannot be made here: it takes root")
    script = f'mount -t tmpfs -o size=64k none {place} && exec "$@"'
    done = ground.command(
        "record",
        "hostmult0",
        "--size",
        "4",
        environment={"XDG_CACHE_HOME": str(place)},
        before=("unshare", "--mount", "sh", "-c", script, "sh"),
    )
    need("No space left" in done.stderr or done.returncode == 0, done.stderr)
    return done.stderr.strip()


def cache_raced(ground: Ground) -> str:
    """Four programs record the same kernel at once, with one empty cache."""
    place, found = ground.folder(), []

    def run() -> None:
        done = ground.command("record", "gputiled", environment={"XDG_CACHE_HOME": str(place)})
        found.append((done.returncode, done.stdout))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    need(all(code == 0 for code, _ in found), f"exit codes {[code for code, _ in found]}")
    return "(nothing: four times the same recording)"


def writes_to_descriptors(ground: Ground) -> str:
    """Try a kernel that writes to every descriptor it may have."""
    body = (
        'for (int f = 0; f < 256; f++) { if (write(f, "garbage, and more of it than a head has", 40) < 0) continue; }'
    )
    return ground.refused(c_kernel(f"    {body}", top="#include <unistd.h>"))


def never_answers(ground: Ground) -> str:
    """Try a kernel that sleeps for ever: it neither ends nor answers, and its pipe stays open."""
    message = ground.refused(c_kernel("    for (;;) pause();", top="#include <unistd.h>"))
    need("sleeps" in message, message)
    return message


def undefined_symbol(ground: Ground) -> str:
    """Try a kernel that calls a function which is not defined."""
    message = ground.refused(c_kernel("    nobody_defines_this();", top="void nobody_defines_this(void);"))
    need("nobody_defines_this" in message, message)
    return message


def sixty_edits(ground: Ground) -> str:
    """Sixty edits of one kernel: the engine's memory does not grow."""
    engine, taken = Engine(ground.engine._consent), []
    try:
        for number in range(60):
            reply = ground.recorded(c_kernel().replace("sum = 0", f"sum = {number} - {number}"), engine=engine)
            need(isinstance(reply, Recorded), f"edit {number}")
            taken.append(_address_space(engine.pid))
    finally:
        engine.close()
    need(taken[-1] < taken[9] * 1.1, f"address space {taken[9] >> 20} MiB after 10 edits, {taken[-1] >> 20} after 60")
    return f"(nothing: {taken[9] >> 20} MiB of address space after 10 edits, {taken[-1] >> 20} after 60)"


def _address_space(pid: int | None) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmSize:")[1].split()[0]) << 10


def forks(ground: Ground) -> str:
    """Try a kernel that forks, and whose child leaves its session: it is gone when the run is."""
    top = "int fork(void); int setsid(void); unsigned sleep(unsigned); int prctl(int, ...);"
    before = 'if (fork() == 0) { setsid(); prctl(15, "gv-faults"); sleep(60); }'
    ground.recorded(c_kernel(f"    {before}", top=top))
    time.sleep(0.2)
    left = [p for p in Path("/proc").glob("[0-9]*/comm") if _comm(p) == "gv-faults"]
    need(not left, f"{len(left)} processes are left")
    return "(the child is gone)"


def _comm(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def too_large_to_record(ground: Ground) -> str:
    """Try a recording of 4096 x 4096 x 4096."""
    done = ground.command("record", "gputiled", "--size", "4096")
    need(done.returncode != 0, "exit code 0")
    return done.stderr.strip()


FAULTS = [
    Fault("6", "A process that cannot be killed", cannot_be_killed, stand_in="killing is made to do nothing"),
    Fault("7a", "A text that the C compiler refuses", no_c),
    Fault("8a", "A C kernel without the function that its front matter names", no_entry),
    Fault("10a", "A C kernel with a wrong C", wrong_answer),
    Fault("11", "A kernel that is right first and wrong later", wrong_later),
    Fault("12", "A kernel with an infinite element in C", not_a_number),
    Fault("21a", "The cache folder cannot be made", cache_unwritable),
    Fault("21b", "The disk of the cache is full", cache_full),
    Fault("21c", "Four programs fill one empty cache at once", cache_raced),
    Fault("23a", "A C kernel writes where nothing is", _both(_SEGFAULT, "crash", "segmentation fault")),
    Fault("23b", "A C kernel calls abort", _both(_ABORTS, "crash", "abort")),
    Fault("23c", "A C kernel fills the stack", _both(_DEEP, "crash", "stack")),
    Fault("23d", "A C kernel divides by zero", _both(_DIVIDES, "crash", "division by zero")),
    Fault("24a", "A C kernel that never ends", endless),
    Fault("24b", "A C kernel that takes all memory", takes_all_memory),
    Fault("25", "No C compiler", no_compiler),
    Fault("33", "A recording that does not fit in memory", too_large_to_record),
    Fault("43", "A kernel writes to every descriptor", writes_to_descriptors),
    Fault("43b", "A kernel sleeps for ever, with its pipe open", never_answers),
    Fault("44", "A kernel calls a function that nobody defines", undefined_symbol),
    Fault("45", "Sixty edits of one kernel", sixty_edits),
    Fault("46", "A kernel forks, and the child leaves its session", forks),
]
