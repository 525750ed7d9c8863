"""`gemmviz/threads.h`: threads that stay do each part once, whatever happens between two calls, and help each other."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from gemmviz import data
from gemmviz.backends.toolchain import compile_shared

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#ifdef NO_THREADS
static int refused(pthread_t *id, void *(*start)(void *)) { return *id = 0, start != 0; }
#define pthread_create(id, attributes, start, argument) refused(id, start)
#endif
#include <gemmviz/threads.h>
struct part { int done, thread; pthread_t by; };
static struct part parts[300][PARTS];
static int most = 1; // jobs of a call
static void work(void *what, int thread, int job, int part)
{
    struct part *p = (struct part *)what + job * PARTS + part;
    p->done++;
    p->thread = thread;
    p->by = pthread_self();
}
// Returns how many parts were not done once in each round, or by a thread whose number is too large.
int missed(int jobs, int rounds)
{
    struct part (*all)[PARTS] = calloc(300, sizeof *all);
    int wrong = 0;
    if (most < jobs && jobs <= THREADS_MOST)
        most = jobs;
    for (int round = 0; round < rounds; round++)
        threads_run(jobs, PARTS, work, all);
    for (int i = 0; i < 300; i++)
        for (int p = 0; p < PARTS; p++)
            wrong += all[i][p].done != (i < jobs ? rounds : 0) || all[i][p].thread >= most;
    free(all);
    return wrong;
}
// Returns how many threads did the parts of two calls.
int different(int jobs)
{
    int found = 0;
    threads_run(jobs, PARTS, work, parts);
    threads_run(jobs, PARTS, work, parts + jobs);
    for (int i = 0; i < 2 * jobs * PARTS; i++) {
        int before = 0;
        while (!pthread_equal(parts[0][before].by, parts[0][i].by))
            before++;
        found += before == i;
    }
    return found;
}
// Thread 1 waits in its first part until all other parts are done. Returns how many parts it did.
static atomic_int others, slow_parts;
static void slow(void *what, int thread, int job, int part)
{
    (void)what, (void)job, (void)part;
    slow_parts += thread == 1;
    while (thread == 1 ? others < 2 * PARTS - slow_parts : !slow_parts)
        usleep(100);
    others += thread != 1;
}
int of_a_slow_thread(void)
{
    threads_run(2, PARTS, slow, NULL);
    return slow_parts;
}
int cores(void) { return threads_cores(); }
"""
MOST = 256  # THREADS_MOST
PARTS = 5


def compiled(folder: Path, *flags: str) -> Path:
    source, library = folder / "threads.c", folder / "threads.so"
    source.write_text(SOURCE)
    include = f"-I{data.root('kernels') / 'include'}"
    compile_shared(
        [source],
        library,
        ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-DPARTS={PARTS}", include, *flags],
        source,
    )
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("threads"))


@pytest.fixture
def code(library: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("count", [1, 2, 5, 40, MOST, MOST + 1, 300])
def test_each_part_is_done_once(code: ctypes.CDLL, count: int) -> None:
    assert code.missed(count, 20) == 0


def test_many_calls_in_a_row(code: ctypes.CDLL) -> None:
    assert code.missed(3, 3000) == 0


@pytest.fixture
def fresh(library: Path, tmp_path: Path) -> ctypes.CDLL:
    """Without the threads that other tests have started."""
    return ctypes.CDLL(str(shutil.copy(library, tmp_path / "another.so")))


def test_threads_stay(fresh: ctypes.CDLL) -> None:
    assert fresh.different(4) <= 4  # a fast thread may do the parts of the others


def test_threads_help_a_slow_one(fresh: ctypes.CDLL) -> None:
    """One slow core must not make all others wait: another thread does what is left of its job."""
    assert fresh.of_a_slow_thread() == 1


def test_only_cores_that_the_process_may_use_count(library: Path) -> None:
    script = (
        "import ctypes, os, sys\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "sys.exit(ctypes.CDLL(sys.argv[1]).cores() != 1)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(library)], check=True, timeout=60)


def test_all_cores_of_the_process_count(code: ctypes.CDLL) -> None:
    assert code.cores() == len(os.sched_getaffinity(0))


def test_threads_that_sleep_are_woken(code: ctypes.CDLL) -> None:
    for _ in range(5):
        subprocess.run([sys.executable, "-c", ""], check=True)  # much longer than they look for work
        assert code.missed(3, 1) == 0


def test_two_calls_at_the_same_time(code: ctypes.CDLL) -> None:
    found: list[int] = []
    callers = [Thread(target=lambda: found.append(code.missed(4, 2000))) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [0, 0]


def test_a_forked_process_has_threads_of_its_own(library: Path) -> None:
    """A fork copies the list of threads, but none of the threads."""
    script = (
        "import ctypes, os, sys\n"
        "code = ctypes.CDLL(sys.argv[1])\n"
        "before = code.missed(3, 10)\n"
        "child = os.fork()\n"
        "if not child: os._exit(code.missed(3, 10) or code.different(3) > 3)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "sys.exit(before or status or code.missed(3, 10))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(library)], check=True, timeout=60)


def test_without_a_thread_the_caller_does_all(tmp_path: Path) -> None:
    code = ctypes.CDLL(str(compiled(tmp_path, "-DNO_THREADS")))
    assert code.missed(7, 10) == 0
    assert code.different(7) == 1
