// ---gemmviz
// version  = 2
// title    = "CPU loops, threads"
// idea     = "The rows of C are divided among threads; no two threads write the same element. THREADS = 0 takes all cores."
// source   = "S4"
// alias    = "OpenMP CPU"
// entry    = "hostmult_threads"
// args     = ["C", "A", "B", "M", "N", "K"]
// params   = { THREADS = [0, 1, 2, 4] }
// demo     = { size = 8, params = { THREADS = 4 }, stop = { share = 0.5 } }
// requires = ["THREADS >= 0", "THREADS <= 256"]
// ---

#include <pthread.h>
#include <unistd.h>

enum { MOST = 256 };

struct rows {
    float *C;
    const float *A, *B;
    int first, end, N, K;
};

static void *multiply(void *argument)
{
    const struct rows *r = argument;
    float *C = r->C;
    const float *A = r->A, *B = r->B;
    int end = r->end, N = r->N, K = r->K;
    for (int i = r->first; i < end; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
    return 0;
}

void hostmult_threads(float *C, const float *A, const float *B, int M, int N, int K)
{
    long wanted = THREADS ? THREADS : sysconf(_SC_NPROCESSORS_ONLN);
    int threads = wanted < 1 ? 1 : wanted > MOST ? MOST : wanted;
    if (threads > M)
        threads = M;
    struct rows rows[MOST];
    pthread_t ids[MOST];
    int running[MOST];

    for (int t = 0; t < threads; t++) {
        rows[t] = (struct rows){C, A, B, (long)M * t / threads, (long)M * (t + 1) / threads, N, K};
        running[t] = pthread_create(&ids[t], 0, multiply, &rows[t]) == 0;
        if (!running[t])
            multiply(&rows[t]); // no more threads to be had: this one does the work
    }
    for (int t = 0; t < threads; t++)
        if (running[t])
            pthread_join(ids[t], 0);
}

// ---gemmviz breaks
// [overlapping-rows]
// title = "With rows that overlap"
// find = "(long)M * (t + 1) / threads"
// replace = "t + 1 < threads ? (long)M * (t + 1) / threads + 1 : M"
// expect = "race"
// set = { THREADS = 4 }
//
// [sum-in-memory]
// title = "With the sum in C itself"
// expect = "none"
// [[sum-in-memory.edits]]
// find = "float sum = 0;"
// replace = "C[i * N + j] = 0;"
// [[sum-in-memory.edits]]
// find = "sum +="
// replace = "C[i * N + j] +="
// [[sum-in-memory.edits]]
// find = "C[i * N + j] = sum;"
//
// [one-step-too-many]
// title = "With one k-step too many"
// find = "k < K"
// replace = "k <= K"
// expect = "out of bounds"
// ---
