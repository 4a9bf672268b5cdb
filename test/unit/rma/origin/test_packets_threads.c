/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_packets_threads.c - several threads of a process by packets, in one window and in one epoch,
 * between processes of the in-process fabric. See pkt_run.h.
 */
#include "test/support/pkt_run.h"

enum { THREADS = 3, THREAD_ROUNDS = 30, LONG_CELLS = 3000 };

struct worker {
    struct win *w;
    struct fabric_proc *p;
    int number;
};

/* Sums of one cell, of many in one operation and one by one (packets fill while
 * other threads wait for room), gets of what this thread has put; flushes of all. */
static void *worker_main(void *arg)
{
    const struct worker *me = arg;
    const int n = me->p->fabric->opts.nproc;
    int64_t ones[LONG_CELLS], old, back = 0;
    for (int i = 0; i < LONG_CELLS; i++)
        ones[i] = 1;
    for (int round = 0; round < THREAD_ROUNDS; round++) {
        const int target = (round + me->number) % n;
        const int64_t own = 8 * (LONG_CELLS + me->p->rank * THREADS + me->number);
        const int64_t value = round * 10 + me->number;
        add(me->w, target, 0, ones, round % 3 ? 500 : LONG_CELLS);
        for (int i = 0; i < 100; i++)
            add(me->w, target, 8 * i, ones, 1);
        fetch_add(me->w, target, 0, ones, &old, 1);
        put(me->w, target, own, &value, 8);
        OK(round & 1 ? rma_flush(me->w, target, false) : rma_flush_all(me->w, false));
        get(me->w, target, own, &back, 8);
        OK(round & 2 ? rma_flush(me->w, target, true) : rma_flush_all(me->w, true));
        FABRIC_CHECK(back == value && old >= 0);
    }
    return NULL;
}

static void threads(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc;
    pthread_t ids[THREADS];
    struct worker workers[THREADS];
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, (uint64_t)8 * (LONG_CELLS + n * THREADS), 1);
    OK(rma_lock_all(w, 0));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){w, p, i};
        FABRIC_CHECK(pthread_create(&ids[i], NULL, worker_main, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        FABRIC_CHECK(pthread_join(ids[i], NULL) == 0);
    OK(rma_unlock_all(w));
    rest(p);
    const int64_t *mine = *win_base_attr(w);
    int64_t expected[3] = {0, 0, 0}; /* of cells 0, 1 and the last */
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < THREAD_ROUNDS; round++)
            if ((round + i) % n == p->rank) {
                expected[0] += 3 * n;
                expected[1] += 2 * n;
                expected[2] += round % 3 ? 0 : n;
            }
    FABRIC_CHECK(mine[0] == expected[0] && mine[1] == expected[1] &&
                 mine[LONG_CELLS - 1] == expected[2]);
    fabric_win_free(w);
}

/* Each thread locks targets of its own, while others flush whatever is locked. */
static void *locker_main(void *arg)
{
    const struct worker *me = arg;
    const int64_t one = 1;
    for (int round = 0; round < THREAD_ROUNDS; round++) {
        OK(rma_lock(me->w, false, me->number, 0));
        for (int i = 0; i < 600 * (round % 3); i++)
            add(me->w, me->number, 0, &one, 1);
        add(me->w, me->number, 0, &one, 1);
        OK(round & 1 ? rma_flush(me->w, me->number, false) : rma_flush_all(me->w, false));
        OK(rma_unlock(me->w, me->number));
    }
    return NULL;
}

static void lockers(struct fabric_proc *p, void *arg)
{
    pthread_t ids[THREADS];
    struct worker workers[THREADS];
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 8, 1);
    rest(p);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){w, p, i};
        FABRIC_CHECK(pthread_create(&ids[i], NULL, locker_main, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        FABRIC_CHECK(pthread_join(ids[i], NULL) == 0);
    rest(p);
    FABRIC_CHECK(**(int64_t **)win_base_attr(w) ==
                 (int64_t)p->fabric->opts.nproc * THREAD_ROUNDS * 601);
    fabric_win_free(w);
}

enum { COUNTED = 200000 }; /* long enough that the threads run at the same time */

static void *counted_main(void *arg)
{
    const struct worker *me = arg;
    const int64_t place = 8 * me->number;
    int64_t value = 1;
    pthread_barrier_wait(me->p->user);
    for (int i = 0; i < COUNTED; i++) {
        put(me->w, 1, place, &value, 8);
        get(me->w, 1, place, &value, 8);
    }
    return NULL;
}

/* Statistics of operations that do nothing but copy: none is missing. */
static void counted(struct fabric_proc *p, void *arg)
{
    pthread_t ids[THREADS];
    struct worker workers[THREADS];
    pthread_barrier_t together;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 8 * THREADS, 1);
    p->conf.stats[0] = '1';
    pthread_barrier_init(&together, NULL, THREADS);
    p->user = &together;
    OK(rma_lock_all(w, 0));
    for (int i = 0; p->rank == 0 && i < THREADS; i++) {
        workers[i] = (struct worker){w, p, i};
        FABRIC_CHECK(pthread_create(&ids[i], NULL, counted_main, &workers[i]) == 0);
    }
    for (int i = 0; p->rank == 0 && i < THREADS; i++)
        FABRIC_CHECK(pthread_join(ids[i], NULL) == 0);
    OK(rma_unlock_all(w));
    const uint64_t ops = p->rank ? 0 : 2 * THREADS * COUNTED;
    FABRIC_CHECK(w->rma->stats.paths.ops[STATS_MAPPED] == ops &&
                 w->rma->stats.paths.bytes[STATS_MAPPED] == 8 * ops);
    pthread_barrier_destroy(&together);
    fabric_win_free(w);
}

static void run_threads(void (*body)(struct fabric_proc *p, void *arg))
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (int per_node = 0; per_node <= 2; per_node += 2)
            run_one((struct fabric_opts){.nproc = 3,
                                         .per_node = per_node,
                                         .progress = variants[i].progress,
                                         .path = per_node ? CONF_PATH_AUTO : CONF_PATH_SHM_PACKETS,
                                         .threads = true,
                                         .refuse_percent = variants[i].refuse,
                                         .delay_percent = variants[i].delay},
                    body, NULL);
}

static void test_threads(void **state)
{
    (void)state;
    run_threads(threads);
}

static void test_lockers(void **state)
{
    (void)state;
    run_threads(lockers);
}

static void test_counted(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 2, .threads = true}, counted, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_lockers),
        cmocka_unit_test(test_counted),
    };
    RUN_TESTS("packets, threads", tests);
}
