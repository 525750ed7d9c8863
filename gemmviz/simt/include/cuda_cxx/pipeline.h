// <cuda/pipeline> for the recorder: a thread's own queue of copies, and one that the producers and consumers of a block
// share. Meanings as in the CUDA C++ Core Libraries, "cuda::pipeline", and the CUDA C++ Programming Guide,
// "Asynchronous Data Copies using cuda::pipeline".
#pragma once
#include "barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

// Of each stage: filled by the producers, released by the consumers.
template <thread_scope Scope, unsigned char Stages> struct pipeline_shared_state {
    barrier<Scope> gv_filled[Stages], gv_released[Stages];
    unsigned gv_producers;
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state &) = delete;
    pipeline_shared_state &operator=(const pipeline_shared_state &) = delete;
};

template <thread_scope Scope> struct pipeline {
    barrier<Scope> *gv_filled, *gv_released;
    unsigned gv_stages, gv_head, gv_tail;
    bool gv_released_parity, gv_filled_parity;

    pipeline(pipeline &&) = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    template <unsigned char Stages> GV_METHOD explicit pipeline(pipeline_shared_state<Scope, Stages> *state)
        : gv_filled(state->gv_filled), gv_released(state->gv_released), gv_stages(Stages), gv_head(0), gv_tail(0),
          gv_released_parity(true), gv_filled_parity(false)
    {}
    // All stages are free in the beginning: a wait for the phase before the first one passes.
    GV_METHOD void producer_acquire() { gv_released[gv_head].wait_parity(gv_released_parity); }
    GV_METHOD void producer_commit()
    {
        gv_mbarrier_await_copied(&gv_filled[gv_head]);
        gv_mbarrier_arrive(&gv_filled[gv_head], 0, 0);
        if (++gv_head < gv_stages) return;
        gv_head = 0;
        gv_released_parity = !gv_released_parity;
    }
    GV_METHOD void consumer_wait() { gv_filled[gv_tail].wait_parity(gv_filled_parity); }
    GV_METHOD void consumer_release()
    {
        gv_mbarrier_arrive(&gv_released[gv_tail], 0, 0);
        if (++gv_tail < gv_stages) return;
        gv_tail = 0;
        gv_filled_parity = !gv_filled_parity;
    }
    GV_METHOD bool quit() { return true; }
};

// The copies of one thread, which waits for its own.
template <> struct pipeline<thread_scope_thread> {
    unsigned gv_made, gv_done; // groups
    pipeline(pipeline &&) = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    GV_METHOD pipeline() : gv_made(0), gv_done(0) {}
    GV_METHOD void producer_acquire() {}
    GV_METHOD void producer_commit()
    {
        gv_copy_commit();
        gv_made++;
    }
    GV_METHOD void consumer_wait()
    {
        if (gv_made == gv_done) return;
        gv_copy_wait(gv_made - ++gv_done);
    }
    GV_METHOD void consumer_release() {}
    GV_METHOD bool quit() { return true; }
};

GV_DEVICE pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }

template <class Group, thread_scope Scope, unsigned char Stages> GV_DEVICE pipeline<Scope> gv_pipeline(
    const Group &group, pipeline_shared_state<Scope, Stages> *state, size_t producers, size_t consumers)
{
    if (group.thread_rank() == 0)
        for (unsigned i = 0; i < Stages; i++) {
            init(&state->gv_released[i], (ptrdiff_t)consumers);
            init(&state->gv_filled[i], (ptrdiff_t)producers);
        }
    group.sync();
    return pipeline<Scope>(state);
}
// Every thread produces and consumes.
template <class Group, thread_scope Scope, unsigned char Stages>
GV_DEVICE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state)
{
    return gv_pipeline(group, state, group.size(), group.size());
}
template <class Group, thread_scope Scope, unsigned char Stages> GV_DEVICE pipeline<Scope> make_pipeline(
    const Group &group, pipeline_shared_state<Scope, Stages> *state, size_t producers)
{
    return gv_pipeline(group, state, producers, group.size() - producers);
}
template <class Group, thread_scope Scope, unsigned char Stages> GV_DEVICE pipeline<Scope> make_pipeline(
    const Group &group, pipeline_shared_state<Scope, Stages> *state, pipeline_role role)
{
    if (group.thread_rank() == 0) state->gv_producers = 0;
    group.sync();
    if (role == pipeline_role::producer) atomicAdd(&state->gv_producers, 1u);
    group.sync();
    size_t producers = state->gv_producers;
    return gv_pipeline(group, state, producers, group.size() - producers);
}

// Waits for all but the latest groups of the thread.
template <unsigned char Left> GV_DEVICE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &p)
{
    gv_copy_wait(Left);
    p.gv_done = p.gv_made - Left;
}

template <class Group, class T, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(const Group &group, T *to, const T *from, Shape bytes, pipeline<Scope> &)
{
    constexpr size_t width = gv_width(gv_aligned<T>::of_type, gv_alignment<Shape>::of_size);
    gv_copy_pieces<width>(group, (char *)to, (const char *)from, bytes);
}
template <class Group, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(const Group &group, void *to, const void *from, Shape bytes, pipeline<Scope> &)
{
    constexpr size_t width = gv_width(1, gv_alignment<Shape>::of_size);
    gv_copy_pieces<width>(group, (char *)to, (const char *)from, bytes);
}
template <class T, class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(T *to, const T *from, Shape bytes, pipeline<Scope> &p)
{
    memcpy_async(gv_one_thread(), to, from, bytes, p);
}
template <class Shape, thread_scope Scope>
GV_DEVICE void memcpy_async(void *to, const void *from, Shape bytes, pipeline<Scope> &p)
{
    memcpy_async(gv_one_thread(), to, from, bytes, p);
}

} // namespace cuda
