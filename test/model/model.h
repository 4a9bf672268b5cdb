/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - the library's own lock-free code, run by a model of the machine that tries every order.
 *
 * A test includes this header, and behind it the source file that it is about. The atomics and the
 * system calls in that file are then those of the model. Its threads are fibers, of which one runs
 * at a time; before each access to an atomic the scheduler decides who goes on. Stores do not reach
 * memory at once: each thread has a buffer, which only it sees, as a processor has. A relaxed store
 * may leave the buffer before older ones to other places; a release store only behind all older
 * ones. Sequentially consistent stores, fences and exchanges wait until the buffer is empty.
 * membarrier(2) empties the buffers of all threads, and a futex sleeps until somebody wakes it:
 * time limits never end, so that a lost wake-up is found as a thread that sleeps for ever.
 *
 * What the model does not do: loads are not reordered among each other, and accesses that are not
 * atomic are done at once. Missing acquires are for the thread sanitizer to find.
 *
 * model_explore runs a scenario again and again until each choice has been made each way, within a
 * bound on the choices that differ from the usual (which is: go on with the same thread, and leave
 * stores in the buffer). The bound is small because what goes wrong goes wrong with few switches.
 * The same program explores the same orders each time.
 */
#ifndef MRMA_TEST_MODEL_H
#define MRMA_TEST_MODEL_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { MODEL_THREADS = 4 };

struct model_scenario {
    void (*setup)(void);                 /* before each run, by nobody */
    void (*thread[MODEL_THREADS])(void); /* those that are not NULL */
    void (*check)(void);                 /* behind each run, when all stores have reached memory */
    unsigned deviations;                 /* how many choices of a run may differ from the usual */
    bool no_membarrier;                  /* the kernel refuses it, as old ones and containers do */
};

/* Explore s. NULL: no run failed, and none is left. Otherwise what went wrong first, with the
 * switches that led there. *runs: how many runs were made. The text is valid until the next call.
 */
const char *model_explore(const struct model_scenario *s, unsigned long *runs);

/* By a thread or a check: what must not be has happened. Returns only outside of threads. */
void model_fail(const char *what);

/* By a thread: nothing can be done until somebody else has changed something. */
void model_pause(void);
int model_yield(void); /* the same, in place of sched_yield */
/* By a thread: sleep until thread i is woken; a wake that comes first is not lost. */
void model_sleep(void);
void model_wake(unsigned i);
/* From now on an access to an atomic in there is a failure; size 0: nowhere. */
void model_forbid(const void *at, size_t size);

/* ---- what the macros below call ---- */

enum model_op { MODEL_ADD, MODEL_SUB, MODEL_OR, MODEL_AND, MODEL_EXCHANGE };

uint64_t model_load(const volatile void *at, size_t size);
void model_store(volatile void *at, size_t size, uint64_t value, memory_order order);
uint64_t model_change(volatile void *at, size_t size, enum model_op op, uint64_t by);
bool model_compare_exchange(volatile void *at, size_t size, void *expected, uint64_t value);
void model_fence(memory_order order);
long model_syscall(long number, ...);

#define MODEL_TYPE(at) __typeof__((void)0, *(at))
#define MODEL_CHANGE(at, op, by)                                                           \
    ({                                                                                     \
        const uint64_t model_old = model_change((at), sizeof *(at), (op), (uint64_t)(by)); \
        (MODEL_TYPE(at)) model_old;                                                        \
    })

#undef atomic_load_explicit
#define atomic_load_explicit(at, order) \
    ((void)(order), (MODEL_TYPE(at))model_load((at), sizeof *(at)))
#undef atomic_store_explicit
#define atomic_store_explicit(at, value, order) \
    model_store((at), sizeof *(at), (uint64_t)(MODEL_TYPE(at))(value), (order))
#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(at, by, order) MODEL_CHANGE(at, MODEL_ADD, by)
#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(at, by, order) MODEL_CHANGE(at, MODEL_SUB, by)
#undef atomic_fetch_or_explicit
#define atomic_fetch_or_explicit(at, by, order) MODEL_CHANGE(at, MODEL_OR, by)
#undef atomic_fetch_and_explicit
#define atomic_fetch_and_explicit(at, by, order) MODEL_CHANGE(at, MODEL_AND, by)
#undef atomic_exchange_explicit
#define atomic_exchange_explicit(at, value, order) MODEL_CHANGE(at, MODEL_EXCHANGE, value)
#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(at, expected, value, order, order_else) \
    model_compare_exchange((at), sizeof *(at), (expected), (uint64_t)(MODEL_TYPE(at))(value))
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit atomic_compare_exchange_strong_explicit
#undef atomic_thread_fence
#define atomic_thread_fence(order) model_fence(order)
#define syscall model_syscall
#define sched_yield model_yield

#endif
