// Threads that stay. To start and end two threads takes 0.1 ms; a thread that already waits for work begins at once.
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THREADS_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define THREADS_PAUSE() __asm__ volatile("yield")
#else
#define THREADS_PAUSE() ((void)0)
#endif

// The most threads beside the caller, and how often one looks for a change before it sleeps: for 0.1 to 0.2 ms.
enum { THREADS_MOST = 256, THREADS_LOOKS = 4000 };

// A thread does the job that is in its place, and then clears the place.
struct threads_place {
    _Alignas(64) _Atomic(void *) job; // a line of the cache for each
    atomic_int asleep;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static struct {
    pthread_mutex_t used;
    pid_t process;
    int count;
    void (*work)(void *job);
    struct threads_place places[THREADS_MOST];
} threads_kept = {.used = PTHREAD_MUTEX_INITIALIZER};

// Waits until a place has a job, or until it has none.
static void threads_wait(struct threads_place *place, int has_job)
{
    for (int looks = 0; looks < THREADS_LOOKS; looks++) {
        if ((place->job != NULL) == has_job)
            return;
        THREADS_PAUSE();
    }
    pthread_mutex_lock(&place->lock);
    place->asleep++; // Then it looks again. Who changes the place later sees this, and wakes the thread.
    while ((place->job != NULL) != has_job)
        pthread_cond_wait(&place->changed, &place->lock);
    place->asleep--;
    pthread_mutex_unlock(&place->lock);
}

// Gives a place another job, or none, and wakes the thread that waits for it.
static void threads_change(struct threads_place *place, void *job)
{
    place->job = job;
    if (!place->asleep)
        return;
    pthread_mutex_lock(&place->lock);
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
}

static void *threads_stay(void *argument)
{
    struct threads_place *place = argument;
    for (;;) {
        threads_wait(place, 1);
        threads_kept.work(place->job);
        threads_change(place, NULL);
    }
    return NULL;
}

// Starts threads until there are `wanted`, or as many as there can be. Returns how many of them there are.
static int threads_start(int wanted)
{
    if (threads_kept.process != getpid()) // the first call, or the first one after a fork, which copies no threads
        threads_kept.count = 0;
    threads_kept.process = getpid();
    while (threads_kept.count < wanted) {
        struct threads_place *place = &threads_kept.places[threads_kept.count];
        pthread_t id;
        place->job = NULL;
        place->asleep = 0;
        pthread_mutex_init(&place->lock, NULL);
        pthread_cond_init(&place->changed, NULL);
        if (pthread_create(&id, NULL, threads_stay, place))
            break;
        pthread_detach(id);
        threads_kept.count++;
    }
    return wanted < threads_kept.count ? wanted : threads_kept.count;
}

// Calls work(job) for each of `count` jobs, which are `size` bytes apart, in parallel, and returns when all are done. The
// calling thread does the first one, and those for which there is no thread.
static void threads_run(int count, void (*work)(void *job), void *jobs, size_t size)
{
    char *job = jobs;
    int alone = pthread_mutex_trylock(&threads_kept.used) != 0; // another call uses the threads
    int others = alone ? 0 : threads_start(count <= THREADS_MOST ? count - 1 : THREADS_MOST);
    if (others)
        threads_kept.work = work;
    for (int t = 0; t < others; t++)
        threads_change(&threads_kept.places[t], job + (t + 1) * size);
    work(job);
    for (int t = others + 1; t < count; t++)
        work(job + t * size);
    for (int t = 0; t < others; t++)
        threads_wait(&threads_kept.places[t], 0);
    if (!alone)
        pthread_mutex_unlock(&threads_kept.used);
}
