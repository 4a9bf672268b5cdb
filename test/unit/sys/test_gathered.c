/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gathered.c - small puts and gets on memory that the kernel reaches, several in one system
 * call: the queue by itself (sys/cma_queue.c), and when it is run (rma/path/assisted.c): by
 * every flush and end of an epoch, and before operations that go another way; and several threads
 * that share it.
 *
 * process_vm_writev and _readv of the library are the linker's __wrap_ functions here, which count.
 * The last process is the target, and in no call while the other one operates.
 */
#define _GNU_SOURCE 1
#include "test/support/count_assisted.h"
#include "test/support/pkt_run.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/cma_queue.h"

enum { CELLS = 512, SOME = 40, ROOM = 16384 };

/* Calls since this was last asked. */
static unsigned long counted(void)
{
    return atomic_exchange(&calls, 0);
}

/* ---- the queue ---- */

static int64_t there[4 * CELLS];

static int add_one(struct cma_queue *q, bool write, int64_t *here, int64_t *to)
{
    return cma_queue_add(q, write, here, (uintptr_t)to, sizeof *here);
}

static void test_adjacent(void **state)
{
    struct cma_queue *q = cma_queue_create(getpid(), NULL, ROOM);
    int64_t got[8] = {0};
    (void)state;
    entries = calls = 0;
    memset(there, 0, sizeof there);
    for (int64_t i = 0; i < 200; i++)
        OK(add_one(q, true, &i, &there[i]));
    assert_true(calls == 0 && there[0] == 0);
    OK(cma_queue_run(q));
    assert_true(calls == 1 && entries == 2);
    OK(cma_queue_run(q)); /* nothing is left */
    assert_int_equal(calls, 1);
    for (int i = 0; i < 200; i++)
        assert_int_equal(there[i], i);
    for (int i = 0; i < 8; i++) /* backwards: pieces on both sides */
        OK(add_one(q, false, &got[7 - i], &there[10 + i]));
    OK(cma_queue_run(q));
    assert_true(calls == 2 && entries == 2 + 9);
    for (int i = 0; i < 8; i++)
        assert_int_equal(got[7 - i], 10 + i);
    cma_queue_free(q);
}

/* Without room what is there is done first; no data is lost in between. */
static void test_room(void **state)
{
    struct cma_queue *q = cma_queue_create(getpid(), NULL, ROOM);
    static char block[ROOM / 16], target[40 * ROOM / 16];
    (void)state;
    calls = 0;
    memset(there, 0, sizeof there);
    for (int64_t i = 1; i <= 200; i++)
        OK(add_one(q, true, &i, &there[2 * i]));
    OK(cma_queue_run(q));
    assert_true(calls >= 4 && calls <= 8); /* pieces of 64 */
    for (int i = 1; i <= 200; i++)
        assert_true(there[2 * i] == i && there[2 * i + 1] == 0);
    calls = 0;
    for (int i = 0; i < 40; i++) {
        memset(block, i + 1, sizeof block);
        OK(cma_queue_add(q, true, block, (uintptr_t)target + (size_t)i * sizeof block,
                         sizeof block));
    }
    OK(cma_queue_run(q));
    assert_true(calls >= 2 && calls <= 5); /* bytes: ROOM */
    for (size_t i = 0; i < sizeof target; i++)
        assert_int_equal(target[i], i / sizeof block + 1);
    cma_queue_free(q);
}

/* In the order in which they were added, whatever their direction. */
static void test_order(void **state)
{
    struct cma_queue *q = cma_queue_create(getpid(), NULL, ROOM);
    int64_t value = 1, got = 0;
    (void)state;
    calls = 0;
    OK(add_one(q, true, &value, &there[0]));
    value = 2; /* it was copied */
    OK(add_one(q, true, &value, &there[0]));
    OK(add_one(q, false, &got, &there[0]));
    value = 3;
    OK(add_one(q, true, &value, &there[0]));
    assert_true(calls == 2 && got == 2);
    OK(cma_queue_run(q));
    assert_true(calls == 3 && there[0] == 3);
    cma_queue_free(q);
}

/* After an error nothing is kept, and the queue goes on. */
static void test_errors(void **state)
{
    struct cma_queue *q = cma_queue_create(getpid(), NULL, ROOM);
    int64_t value = 7, other = 8;
    (void)state;
    OK(cma_queue_add(q, true, &value, 8, sizeof value));
    assert_int_equal(cma_queue_run(q), MRMA_ERR_RMA_RANGE);
    OK(cma_queue_run(q));
    OK(cma_queue_add(q, false, &value, 8, sizeof value));
    assert_int_equal(add_one(q, true, &other, &there[1]), MRMA_ERR_RMA_RANGE);
    OK(cma_queue_run(q)); /* what met the error of another is kept */
    assert_int_equal(there[1], 8);
    cma_queue_free(q);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_true(child > 0 && waitpid(child, NULL, 0) == child);
    q = cma_queue_create(child, NULL, ROOM);
    OK(add_one(q, true, &value, &there[0]));
    assert_int_equal(cma_queue_run(q), MRMA_ERR_PROC_FAILED);
    cma_queue_free(q);
    cma_queue_free(NULL);
}

/* ---- epochs ---- */

static int64_t area[2][CELLS];

enum epochs { LOCK, LOCK_NOCHECK, LOCK_ALL, PSCW, FENCE, EPOCHS };

static void begin(struct win *w, int rank, enum epochs kind)
{
    const int other = 1 - rank;
    if (kind == FENCE)
        OK(rma_fence(w, 0));
    else if (kind == PSCW)
        OK(rank ? rma_post(w, &other, 1, 0) : rma_start(w, &other, 1, 0));
    else if (!rank)
        OK(kind == LOCK_ALL ? rma_lock_all(w, 0)
                            : rma_lock(w, true, 1, kind == LOCK ? 0 : RMA_NOCHECK));
}

static void end(struct win *w, int rank, enum epochs kind)
{
    if (kind == FENCE)
        OK(rma_fence(w, RMA_NOSUCCEED));
    else if (kind == PSCW)
        OK(rank ? rma_wait(w) : rma_complete(w));
    else if (!rank)
        OK(kind == LOCK_ALL ? rma_unlock_all(w) : rma_unlock(w, 1));
}

/* What goes into a stage in active target epochs is not counted here: gets do not. */
static void gets(struct fabric_proc *p, void *arg)
{
    const enum epochs kind = *(const enum epochs *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 8);
    int64_t got[SOME] = {0};
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < CELLS; i++)
            area[p->rank][i] = round * 1000 * p->rank + i;
        fabric_barrier(p);
        begin(w, p->rank, kind);
        fabric_barrier(p); /* the target has posted, so that nothing waits for that */
        if (p->rank == 0) {
            (void)counted();
            for (int i = 0; i < SOME; i++)
                get(w, 1, 2 * i, &got[i], 8);
            FABRIC_CHECK(calls == 0 && w->nsent == 1);
        }
        end(w, p->rank, kind);
        for (int i = 0; p->rank == 0 && i < SOME; i++)
            FABRIC_CHECK(got[i] == round * 1000 + 2 * i);
        FABRIC_CHECK(p->rank || (counted() == 1 && w->nsent == 0));
        fabric_barrier(p);
    }
    fabric_win_free(w);
}

/* Puts: what a stage does not take, too, and all are there when the epoch is over. */
static void puts_in(struct fabric_proc *p, void *arg)
{
    const enum epochs kind = *(const enum epochs *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 8);
    for (int round = 1; round <= 3; round++) {
        int64_t value;
        fabric_barrier(p);
        begin(w, p->rank, kind);
        fabric_barrier(p);
        for (int i = 0; p->rank == 0 && i < CELLS; i++) {
            value = round * 1000 + i;
            put(w, 1, i * 7 % CELLS, &value, 8); /* each cell once; few are adjacent */
        }
        end(w, p->rank, kind);
        fabric_barrier(p);
        for (int i = 0; p->rank == 0 && i < CELLS; i++)
            FABRIC_CHECK(area[1][i * 7 % CELLS] == round * 1000 + i);
        FABRIC_CHECK(p->rank || counted() <= CELLS / 64 + 2);
    }
    fabric_win_free(w);
}

static void test_epochs(void **state)
{
    (void)state;
    for (enum epochs kind = 0; kind < EPOCHS; kind++) {
        const struct fabric_opts opts = {.nproc = 2, .progress = CONF_PROGRESS_POLL, .cpus = 8};
        run_one(opts, gets, &kind);
        run_one(opts, puts_in, &kind);
    }
}

/* Two puts wait, also the first since a flush, or other operation. */
static void keep_back(struct win *w, int64_t value)
{
    area[1][0] = area[1][1] = 0;
    put(w, 1, 1, &value, 8);
    put(w, 1, 0, &value, 8);
    FABRIC_CHECK(area[1][0] == 0 && area[1][1] == 0 && w->nsent == 1);
}

/* All kinds of flush do it, and an accumulate, a large put and an operation with a request, which
 * go behind it. */
static void flushes(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 8);
    const int64_t two = 2, large[256] = {3};
    int64_t got = 0;
    (void)arg;
    if (p->rank == 0) {
        OK(rma_lock_all(w, 0));
        for (int way = 0; way < 4; way++) {
            keep_back(w, way + 1);
            OK(way < 2 ? rma_flush(w, 1, way) : rma_flush_all(w, way == 2));
            FABRIC_CHECK(area[1][0] == way + 1 && area[1][1] == way + 1 && w->nsent == 0);
        }
        keep_back(w, 1);
        add(w, 1, 0, &two, 1);
        FABRIC_CHECK(area[1][0] == 3);
        keep_back(w, 1);
        put(w, 1, 0, large, sizeof large);
        FABRIC_CHECK(area[1][0] == 3);
        keep_back(w, 1);
        struct rma_req req;
        struct rma_op op = byte_op(NULL, &got, 1, 0, 8);
        rma_req_init(&req);
        op.req = &req;
        OK(rma_get(w, &op));
        FABRIC_CHECK(rma_req_done(&req) && got == 1);
        keep_back(w, 2);
        OK(rma_unlock_all(w));
        FABRIC_CHECK(area[1][0] == 2);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_flushes(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 2, .progress = CONF_PROGRESS_POLL, .cpus = 8}, flushes,
            NULL);
}

/* ---- threads ---- */

enum { THREADS = 3, THREAD_CELLS = 8, THREAD_ROUNDS = 3000 };

struct worker {
    struct win *w;
    int number;
};

/* What a thread has put is there when its flush returns, and its gets see it, whatever the others
 * add to the queue and flush meanwhile. */
static void *worker_main(void *arg)
{
    const struct worker *me = arg;
    const int first = me->number * 2 * THREAD_CELLS;
    for (int64_t round = 1; round <= THREAD_ROUNDS; round++) {
        const int n = (int)(round % THREAD_CELLS) + 1;
        int64_t got[THREAD_CELLS] = {0};
        for (int i = 0; i < n; i++)
            put(me->w, 1, first + 2 * i, &round, 8);
        OK(round & 1 ? rma_flush(me->w, 1, false) : rma_flush_all(me->w, false));
        for (int i = 0; i < n; i++)
            FABRIC_CHECK(area[1][first + 2 * i] == round);
        for (int i = 0; i < n; i++)
            get(me->w, 1, first + 2 * i, &got[i], 8);
        OK(round & 2 ? rma_flush(me->w, 1, true) : rma_flush_all(me->w, true));
        for (int i = 0; i < n; i++)
            FABRIC_CHECK(got[i] == round);
    }
    return NULL;
}

static void threads(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 8);
    pthread_t ids[THREADS];
    struct worker workers[THREADS];
    (void)arg;
    if (p->rank == 0) {
        OK(rma_lock_all(w, 0));
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){w, i};
            FABRIC_CHECK(pthread_create(&ids[i], NULL, worker_main, &workers[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            FABRIC_CHECK(pthread_join(ids[i], NULL) == 0);
        OK(rma_unlock_all(w));
        FABRIC_CHECK(w->nsent == 0);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_threads(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 2, .threads = true, .cpus = 8}, threads, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjacent), cmocka_unit_test(test_room),
        cmocka_unit_test(test_order),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_epochs),   cmocka_unit_test(test_flushes),
        cmocka_unit_test(test_threads),
    };
    RUN_TESTS("gathered", tests);
}
