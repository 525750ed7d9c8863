"""Kernels that attempt forbidden actions. Each of them also computes the right C."""

import hostile

from gemmviz.engine import start
from gemmviz.sandbox import landlock, namespaces, seccomp

# The engine's beginning, whatever a test puts in its place.
_main = start.main

C_TOP = """#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <netinet/in.h>
#include <arpa/inet.h>
static int result;
"""
# The result of the attack is added to the first element of C.
C_LOOPS = hostile.LOOPS + "        c[0] = result;\n"


def attack(body, top=""):
    """A C kernel that attempts something first, and reports a number."""
    return hostile.source(f"    {body}", top=C_TOP + top, loops=C_LOOPS)


def device_attack(body, top=""):
    """The same in CUDA, done by the first thread, in a grid that several processes share."""
    return f"""// ---gemmviz
// entry = "mine"
// args  = ["C", "A", "B", "N"]
// block = ["64"]
// grid  = ["16"]
// ---
extern "C" {{ int fork(void); int setsid(void); unsigned sleep(unsigned); int prctl(int, ...); }}
{top}
__global__ void mine(float *C, const float *A, const float *B, int N)
{{
    float s = 0;
    for (int k = 0; k < 1024; k++) s += A[(threadIdx.x + k) % N];
    if (blockIdx.x == 3 && threadIdx.x == 0) {{ {body} }}
    C[blockIdx.x * 64 + threadIdx.x] = s;
}}
"""


# A process that leaves its group and session, and goes by a name that can be looked for.
DAEMON = 'if (fork() == 0) { setsid(); prctl(15, "gv-daemon"); if (fork() == 0) { setsid(); sleep(60); } sleep(60); }'

# Python's own message for a pipe: the length, then a pickle that calls os.mkdir of what {place} is.
FORGED = """
static void forge(void) {{
    const char *place = "{place}";
    unsigned char m[512]; int n = 4;
    n += sprintf((char *)m + n, "cposix\\nmkdir\\n(S'%s'\\ntR.", place);
    int body = n - 4;
    m[0] = body >> 24; m[1] = body >> 16; m[2] = body >> 8; m[3] = body;
    for (int f = 0; f < 256; f++) {{ ssize_t ignored = write(f, m, n); (void)ignored; }}
}}
"""


def without_namespaces(connection, setting):
    """An engine's beginning on a Linux that gives no namespaces."""
    namespaces.leave = lambda network: False
    _main(connection, setting)


def without_anything(connection, setting):
    """An engine's beginning on a Linux that has nothing that a sandbox is made of."""
    landlock.version, seccomp.offered = lambda: 0, lambda: False
    without_namespaces(connection, setting)
