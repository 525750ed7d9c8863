"""C kernels that are right, wrong, or misbehave."""

HEAD = """// ---gemmviz
// entry = "mine"
// args  = ["C", "A", "B", "M", "N", "K"]
// ---
"""
END = "// ---\n"
LOOPS = """
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += a[i * k + l] * b[l * n + j];
            c[i * n + j] = sum;
        }
"""


def source(before="", top="", loops=LOOPS, head=""):
    """Return a C kernel with front matter: ``top`` stands above the function, ``before`` at its beginning."""
    signature = "void mine(float *c, const float *a, const float *b, int m, int n, int k)"
    return f"{HEAD.replace(END, head + END)}{top}\n{signature}\n{{\n{before}\n{loops}}}\n"


RIGHT = source()
WRONG = source(loops=LOOPS.replace("l < k", "l < k - 1"))
SEGFAULT = source("    *(volatile int *)8 = 1;")
ABORT = source("    abort();", top="#include <stdlib.h>")
DIVIDES_BY_ZERO = source("    volatile int zero = 0; c[0] = m / zero;")
OVERFLOWS_THE_STACK = source(
    "    c[0] = deep(c, 1 << 30);",
    top="static float deep(volatile float *c, int n) "
    "{ volatile float local[1024]; local[n % 1024] = n; return n ? deep(c, n - 1) + local[n % 7] : c[0]; }",
)
TOO_LARGE_AN_ARRAY = source("    volatile float local[1 << 23]; local[m] = 0; c[0] = local[m];")
EXITS = source("    exit(3);", top="#include <stdlib.h>")
ENDLESS = source("    for (volatile int forever = 1; forever;) ;")
# Endless as well, for tests of what happens meanwhile: it takes no processor time.
SLEEPS = source("    for (;;) nanosleep(&(struct timespec){1, 0}, 0);", top="#include <time.h>")
SYNTAX = source("    this is not C;")
PRINTS = source('    printf("hello from a kernel\\n"); fflush(stdout);', top="#include <stdio.h>")
NO_FRONT_MATTER = "void mine(void) {}\n"
