"""`gemmviz/threads.h`: threads that stay do each job once, whatever happens between two calls."""

import ctypes
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from gemmviz import data
from gemmviz.backends.toolchain import compile_shared

SOURCE = """
#include <pthread.h>
#ifdef NO_THREADS
static int refused(pthread_t *id, void *(*start)(void *)) { return *id = 0, start != 0; }
#define pthread_create(id, attributes, start, argument) refused(id, start)
#endif
#include <gemmviz/threads.h>
struct job { int number, done; pthread_t by; };
static void work(void *argument)
{
    struct job *job = argument;
    job->done++;
    job->by = pthread_self();
}
// Returns how many jobs were not done once in each round, or -1 if the calling thread did not do the first one.
int missed(int count, int rounds)
{
    struct job jobs[300] = {0};
    int wrong = 0;
    for (int round = 0; round < rounds; round++)
        threads_run(count, work, jobs, sizeof *jobs);
    for (int i = 0; i < 300; i++)
        wrong += jobs[i].done != (i < count ? rounds : 0);
    return jobs[0].by == pthread_self() ? wrong : -1;
}
// Returns how many threads did the jobs of two calls.
int different(int count)
{
    struct job jobs[600] = {0};
    int found = 0;
    threads_run(count, work, jobs, sizeof *jobs);
    threads_run(count, work, jobs + count, sizeof *jobs);
    for (int i = 0; i < 2 * count; i++) {
        int before = 0;
        while (!pthread_equal(jobs[before].by, jobs[i].by))
            before++;
        found += before == i;
    }
    return found;
}
"""
MOST = 256  # THREADS_MOST


def compiled(folder: Path, *flags: str) -> Path:
    source, library = folder / "threads.c", folder / "threads.so"
    source.write_text(SOURCE)
    include = f"-I{data.root('kernels') / 'include'}"
    compile_shared([source], library, ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", include, *flags], source)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("threads"))


@pytest.fixture
def code(library: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("count", [1, 2, 5, 40, MOST, MOST + 1, 300])
def test_each_job_is_done_once(code: ctypes.CDLL, count: int) -> None:
    assert code.missed(count, 20) == 0


def test_many_calls_in_a_row(code: ctypes.CDLL) -> None:
    assert code.missed(3, 3000) == 0


def test_threads_stay(code: ctypes.CDLL) -> None:
    assert code.different(4) == 4


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
        "if not child: os._exit(code.missed(3, 10) or code.different(3) != 3)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "sys.exit(before or status or code.missed(3, 10))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(library)], check=True, timeout=60)


def test_without_a_thread_the_caller_does_all(tmp_path: Path) -> None:
    code = ctypes.CDLL(str(compiled(tmp_path, "-DNO_THREADS")))
    assert code.missed(7, 10) == 0
    assert code.different(7) == 1
