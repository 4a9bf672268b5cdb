/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_helper.h - threads that work on, for the tests of what stops them.
 */
#ifndef MRMA_TEST_THREADS_HELPER_H
#define MRMA_TEST_THREADS_HELPER_H

#include "base_helper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Adds one to a word of memory, which nobody else writes, and says how often. */
struct worker {
    pthread_t thread;
    _Atomic pid_t tid;
    _Atomic bool stop;
    _Atomic uint64_t *word, done;
};

static inline void *worker_main(void *arg)
{
    struct worker *w = arg;
    uint64_t n = 0;
    atomic_store(&w->tid, (pid_t)syscall(SYS_gettid));
    while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
        const uint64_t is = atomic_load_explicit(w->word, memory_order_relaxed);
        atomic_store_explicit(w->word, is + 1,
                              memory_order_relaxed); /* what is lost once is lost for ever */
        atomic_store_explicit(&w->done, ++n, memory_order_relaxed);
    }
    return NULL;
}

static inline void worker_begin(struct worker *w, void *word)
{
    *w = (struct worker){.word = word};
    assert_int_equal(pthread_create(&w->thread, NULL, worker_main, w), 0);
    while (!atomic_load(&w->done))
        sched_yield();
}

static inline void worker_end(struct worker *w)
{
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
}

/* ThreadSanitizer starts no threads in forked processes, and keeps its own books of memory: all is
 * skipped. */
static inline bool under_tsan(void)
{
#if defined(__SANITIZE_THREAD__)
    puts("1..0 # SKIP ThreadSanitizer does not do with pages that are replaced and threads that "
         "are stopped");
    return true;
#else
    return false;
#endif
}

#define NEED_PTRACE "another process may not trace this one's threads"

/* May a process of this user trace the threads of this one? */
static inline bool tracing_allowed(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_SEIZE, parent, NULL, NULL) != 0);
    return child > 0 && wait_child(child) == 0;
}

static inline void need_tracing(void)
{
    if (!tracing_allowed())
        expect_child(CHILD_SKIP, NEED_PTRACE);
}

/* A process that has the thread and will not let it go until it is told, by the end of *fd. */
static inline pid_t hold_by_tracer(pid_t tid, int *fd)
{
    int up[2], down[2];
    char byte = 0;
    assert_true(pipe(up) == 0 && pipe(down) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(down[1]);
        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 || write(up[1], &byte, 1) != 1)
            _exit(1);
        _exit(read(down[0], &byte, 1) != 0);
    }
    close(up[1]);
    close(down[0]);
    assert_int_equal(read(up[0], &byte, 1), 1);
    close(up[0]);
    *fd = down[1];
    return pid;
}

#endif
