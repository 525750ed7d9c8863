// Threads that stay, and help each other. To start and end two threads takes 0.1 ms; a thread that already waits for
// work begins at once. Cores are not equally fast: other programs use them, too, and some processors have two kinds.
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#if defined(__linux__)
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#if defined(__x86_64__)
#define THREADS_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define THREADS_PAUSE() __asm__ volatile("yield")
#else
#define THREADS_PAUSE() ((void)0)
#endif

// The most jobs of a call, and how often a thread looks for a change before it sleeps: for 0.1 to 0.2 ms.
enum { THREADS_MOST = 256, THREADS_LOOKS = 4000 };

// What one thread writes often and others read has a line of the cache for itself.
static struct {
    pthread_mutex_t used, lock;
    pthread_cond_t changed;
    pid_t process;
    int count;
    void (*work)(void *what, int thread, int job, int part);
    void *what;
    atomic_int jobs, parts, asleep;
    _Alignas(64) atomic_int calls; // it changes with each call
    _Alignas(64) atomic_int undone; // parts of all jobs
    struct {
        _Alignas(64) atomic_int next; // the next part, minus the number of parts: from 0 on there is none
    } job[THREADS_MOST];
} threads_kept = {
    .used = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
};

// Sleeps until another thread changes a number from `old` and calls threads_wake, which wakes all that wait for this
// number. With Linux's own calls all of them wake at once: after a condition variable each one takes its lock in turn.
#if defined(__linux__)
static void threads_sleep(atomic_int *number, int old)
{
    threads_kept.asleep++; // Who changes the number later sees this. If it has changed, the call returns at once.
    syscall(SYS_futex, number, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    threads_kept.asleep--;
}

static void threads_wake(atomic_int *number)
{
    if (threads_kept.asleep)
        syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#else
static void threads_sleep(atomic_int *number, int old)
{
    pthread_mutex_lock(&threads_kept.lock);
    threads_kept.asleep++;
    while (*number == old)
        pthread_cond_wait(&threads_kept.changed, &threads_kept.lock);
    threads_kept.asleep--;
    pthread_mutex_unlock(&threads_kept.lock);
}

static void threads_wake(atomic_int *number)
{
    (void)number;
    if (!threads_kept.asleep)
        return;
    pthread_mutex_lock(&threads_kept.lock);
    pthread_cond_broadcast(&threads_kept.changed);
    pthread_mutex_unlock(&threads_kept.lock);
}
#endif

// Waits until a number is `value` (is = 1), or until it is not (is = 0).
static void threads_wait(atomic_int *number, int value, int is)
{
    for (int looks = 0;; looks++) {
        int now = *number;
        if ((now == value) == is)
            return;
        if (looks < THREADS_LOOKS)
            THREADS_PAUSE();
        else
            threads_sleep(number, now);
    }
}

// Does parts of the job with the thread's own number until none is left, then of the job that has the most left. What a
// call wants is read after a part is taken: until that part is done, no other call begins.
static void threads_work(int thread)
{
    int job = thread, done = 0;
    while (job >= 0) {
        int taken = threads_kept.job[job].next < 0 ? threads_kept.job[job].next++ : 0;
        if (taken < 0) {
            threads_kept.work(threads_kept.what, thread, job, threads_kept.parts + taken);
            done++;
            continue;
        }
        int most = 0, jobs = threads_kept.jobs;
        job = -1;
        for (int other = 0; other < jobs; other++) {
            int next = threads_kept.job[other].next;
            if (next < most) {
                most = next;
                job = other;
            }
        }
    }
    if (done && (threads_kept.undone -= done) == 0)
        threads_wake(&threads_kept.undone);
}

static void *threads_stay(void *number)
{
    for (;;) {
        int calls = threads_kept.calls; // before it looks for work, so that it misses no call
        threads_work((int)(size_t)number);
        threads_wait(&threads_kept.calls, calls, 0);
    }
    return NULL;
}

// Starts threads until there are `wanted`, or as many as there can be.
static void threads_start(int wanted)
{
    if (threads_kept.process != getpid()) { // the first call, or the first one after a fork, which copies no threads
        threads_kept.count = threads_kept.asleep = 0;
        pthread_mutex_init(&threads_kept.lock, NULL);
        pthread_cond_init(&threads_kept.changed, NULL);
    }
    threads_kept.process = getpid();
    while (threads_kept.count < wanted) {
        pthread_t id;
        if (pthread_create(&id, NULL, threads_stay, (void *)(size_t)(threads_kept.count + 1)))
            break;
        pthread_detach(id);
        threads_kept.count++;
    }
}

// Calls work(what, thread, job, part) for each of `parts` parts of each of `jobs` jobs, in parallel, and returns when all
// are done. Each job has a thread of the same number; that of the first one, 0, is the caller. A thread whose job is done
// helps with the others. Numbers of threads are smaller than the most jobs that a call has had.
static void threads_run(int jobs, int parts, void (*work)(void *what, int thread, int job, int part), void *what)
{
    // Alone if there is one job, if there are too many, or if another call uses the threads.
    if (jobs < 2 || jobs > THREADS_MOST || pthread_mutex_trylock(&threads_kept.used)) {
        for (int job = 0; job < jobs; job++)
            for (int part = 0; part < parts; part++)
                work(what, 0, job, part);
        return;
    }
    threads_start(jobs - 1);
    threads_kept.work = work;
    threads_kept.what = what;
    threads_kept.jobs = jobs;
    threads_kept.parts = parts;
    threads_kept.undone = jobs * parts;
    for (int job = 0; job < jobs; job++)
        threads_kept.job[job].next = -parts;
    threads_kept.calls++;
    threads_wake(&threads_kept.calls);
    threads_work(0);
    threads_wait(&threads_kept.undone, 0, 1);
    pthread_mutex_unlock(&threads_kept.used);
}

// Returns on how many cores this process may run.
static inline int threads_cores(void)
{
#if defined(__linux__)
    unsigned char mask[1024];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int cores = 0;
    for (long i = 0; i < bytes; i++)
        cores += __builtin_popcount(mask[i]);
    if (cores)
        return cores;
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online;
}
