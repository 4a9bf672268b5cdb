/*
 * test_handover_when.c - when an operation is handed over to a kernel-assisted target (rma/handover.h), and when
 * not: the order of accumulates where the target stops to poll; targets that come by between operations of their
 * own; what decides against it.
 */
#include "handover_helper.h"

#include "rma/fast.h"

/* ---- the target stops to poll ---- */

/* Both meet: the target stops or begins to poll in between. */
static void target_polls(struct fabric_proc *p, bool polls)
{
    fabric_barrier(p);
    if (p->rank == 1 && polls)
        rma_polling_begin(&p->rma);
    else if (p->rank == 1)
        rma_polling_end(&p->rma);
    fabric_barrier(p);
}

static void replace(struct win *w, int64_t value, struct rma_req *req)
{
    static int64_t values[CELLS];
    values[value] = value;
    struct rma_op op = i64_op(&values[value], NULL, 1, 0, 1, ACC_REPLACE);
    op.req = req;
    OK(rma_accumulate(w, &op));
}

/* The agent does what was handed over, and later accumulates do not overtake it. */
static void stops(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    struct rma_req req;
    (void)arg;
    if (p->rank == 0)
        OK(rma_lock(w, false, 1, 0));
    target_polls(p, true);
    if (p->rank == 0)
        replace(w, 1, NULL);
    target_polls(p, false);
    if (p->rank == 0) {
        const int64_t five = 5;
        replace(w, 2, NULL);
        rma_req_init(&req);
        replace(w, 3, &req); /* sends what is open */
        put(w, 1, 1, &five, 8); /* has no order */
        FABRIC_CHECK(area[1] == 5 && handed(p) == 3);
        replace(w, 3, NULL);
        put(w, 1, 1, &five, 8); /* in the same packet */
        FABRIC_CHECK(handed(p) == 5);
        OK(rma_flush(w, 1));
        FABRIC_CHECK(rma_req_done(&req) && area[0] == 3);
        replace(w, 4, NULL); /* all is done: directly */
        FABRIC_CHECK(handed(p) == 5 && area[0] == 4);
        OK(rma_unlock(w, 1));
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

/* Nobody at the target sees a packet without being woken. */
static void await_sleep(const struct fabric_proc *p)
{
    while (!atomic_load(&p->peers[1].peer.agent_event->sleepers))
        sched_yield();
    for (int i = 0; i < 100; i++) /* from having said so to sleep */
        sched_yield();
}

/* A target that was not there when the packet left is spared for a while. */
static void spared(struct fabric_proc *p, void *arg)
{
    uint64_t expected = 0;
    struct win *w = create(p);
    (void)arg;
    if (p->rank == 0)
        OK(rma_lock_all(w, 0));
    for (int times = 0; times < 4; times++) {
        target_polls(p, true);
        for (int i = 0; p->rank == 0 && i < (times ? 1 << (times - 1) : 0); i++)
            replace(w, 7, NULL);
        FABRIC_CHECK(p->rank || handed(p) == expected);
        if (p->rank == 0)
            replace(w, times, NULL);
        FABRIC_CHECK(p->rank || handed(p) == ++expected);
        target_polls(p, false);
        if (p->rank == 0) {
            await_sleep(p);
            OK(rma_flush(w, 1));
            FABRIC_CHECK(area[0] == times);
        }
    }
    if (p->rank == 0)
        OK(rma_unlock_all(w));
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_stops(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, stops, NULL);
    run((struct fabric_opts){.nproc = 2}, spared, NULL);
}

/* ---- the target does not poll, but comes by ---- */

static void await_polled(struct fabric_proc *p)
{
    const struct rma_peer *peer = &p->peers[1].peer;
    while (atomic_load(peer->polled) == peer->polled_seen)
        sched_yield();
}

enum by { BY_FLUSH, BY_SYNC, BY_FAST_SYNC, BYS };

static int come_by(struct win *w, enum by by)
{
    if (by == BY_FAST_SYNC)
        return fast_sync(w) ? MRMA_SUCCESS : MRMA_ERR_INTERN;
    return by == BY_SYNC ? rma_sync(w) : rma_flush(w, 1);
}

/* It serves what came meanwhile when it is in a passive target call of its own, and its agent is not
 * needed. arg: in which call (enum by). */
static void comes_by(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    fabric_barrier(p);
    OK(rma_lock_all(w, 0));
    if (p->rank == 0) {
        const int64_t one = 1;
        int64_t old;
        for (int i = 0; i < CELLS; i++) {
            await_polled(p);
            fetch_add(w, 1, 0, &one, &old, 1);
            FABRIC_CHECK(handed(p) == (uint64_t)i + 1);
            OK(rma_flush(w, 1));
            FABRIC_CHECK(old == i);
            w->local[1].pkt->direct_left = 0; /* in time or not */
        }
        atomic_store(&over, true);
    } else {
        while (!atomic_load(&over))
            OK(come_by(w, *(const enum by *)arg));
    }
    OK(rma_unlock_all(w));
    fabric_barrier(p);
    FABRIC_CHECK(area[0] == CELLS);
    fabric_win_free(w);
}

/* It has come by, but does not again: its agent does what was handed over, once, and the next goes by
 * system calls, although it seems to come by again. */
static void came_by(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    OK(rma_lock_all(w, 0));
    for (int times = 0; times < 2; times++) {
        fabric_barrier(p);
        if (p->rank == 1)
            OK(rma_flush(w, 1));
        fabric_barrier(p);
        if (p->rank == 0) {
            await_sleep(p);
            replace(w, times + 1, NULL);
            FABRIC_CHECK(handed(p) == 1);
            OK(rma_flush(w, 1));
            FABRIC_CHECK(area[0] == times + 1);
            replace(w, times + 10, NULL); /* it has not come by since */
            FABRIC_CHECK(handed(p) == 1 && area[0] == times + 10);
        }
    }
    OK(rma_unlock_all(w));
    fabric_barrier(p);
    fabric_win_free(w);
}

/* Answers wait in the ring for who asked: its agent is not woken for them. */
enum { SOME = 1000 };

static void answers(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    if (p->rank == 1) {
        attend(p);
    } else {
        const struct event *agent = p->env.agent_event;
        const int64_t one = 1;
        int64_t old;
        uint64_t n = 0;
        OK(p->env.agent_start(p));
        atomic_store(&p->seg->agent_wanted, 1);
        while (!atomic_load(&agent->sleepers))
            sched_yield();
        await_attention();
        OK(rma_lock_all(w, 0));
        const uint32_t before = atomic_load(&agent->seq);
        for (; n < SOME; n++) /* a packet leaves when it is full; more would queue, which wakes the own agent */
            fetch_add(w, 1, 0, &one, &old, 1);
        while (!rma_pending(&p->rma))
            sched_yield();
        FABRIC_CHECK(handed(p) == n && atomic_load(&agent->seq) == before);
        OK(rma_flush(w, 1));
        FABRIC_CHECK((uint64_t)old == n - 1);
        OK(rma_unlock_all(w));
        atomic_store(&over, true);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

/* Both at once: each serves the other while it waits. */
static void each_other(struct fabric_proc *p, void *arg)
{
    struct win *w;
    const int other = 1 - p->rank;
    const int64_t one = 1;
    int64_t old, before = -1;
    (void)arg;
    OK(p->env.agent_start(p));
    w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    fabric_barrier(p);
    OK(rma_lock_all(w, 0));
    for (int i = 0; i < ROUNDS; i++) {
        fetch_add(w, other, 0, &one, &old, 1);
        add(w, other, 1, &one, 1);
        const int64_t round = i;
        put(w, other, 2, &round, 8);
        OK(rma_flush(w, other));
        FABRIC_CHECK(old == ++before);
        fetch_add(w, p->rank, 1, &one, &old, 1);
    }
    OK(rma_unlock_all(w));
    fabric_barrier(p);
    FABRIC_CHECK(area[p->rank * CELLS] == ROUNDS && area[p->rank * CELLS + 1] == 2 * ROUNDS &&
                 area[p->rank * CELLS + 2] == ROUNDS - 1);
    fabric_win_free(w);
}

static void test_comes_by(void **state)
{
    (void)state;
    for (enum by by = BY_FLUSH; by < BYS; by++)
        run((struct fabric_opts){.nproc = 2}, comes_by, &by);
    run((struct fabric_opts){.nproc = 2}, answers, NULL);
    run((struct fabric_opts){.nproc = 2}, came_by, NULL);
    run((struct fabric_opts){.nproc = 2}, each_other, NULL);
    run((struct fabric_opts){.nproc = 2, .refuse_percent = 40, .delay_percent = 30}, each_other, NULL);
}

/* ---- not handed over ---- */

enum reason { NO_AGENT, ASLEEP, REQUEST, CROWDED, THREADS };

static void directly(struct fabric_proc *p, void *arg)
{
    const enum reason *why = arg;
    struct win *w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    struct rma_req req;
    if (p->rank == 1 && *why != NO_AGENT)
        OK(p->env.agent_start(p));
    if (p->rank == 1 && *why == ASLEEP)
        (void)event_enter(p->env.event);
    target_polls(p, true);
    if (p->rank == 0) {
        const int64_t nine = 9;
        struct rma_op op = i64_op(&nine, NULL, 1, 0, 1, ACC_REPLACE);
        rma_req_init(&req);
        op.req = *why == REQUEST ? &req : NULL;
        OK(rma_lock(w, false, 1, 0));
        OK(rma_accumulate(w, &op));
        FABRIC_CHECK(area[CELLS] == 9 && handed(p) == 0);
        OK(rma_unlock(w, 1));
    }
    target_polls(p, false);
    if (p->rank == 1 && *why == ASLEEP)
        event_leave(p->env.event);
    fabric_win_free(w);
}

/* Nobody polls: few pieces are done by system calls, many by the agent. */
static void few_and_many(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    if (p->rank == 0) {
        struct dtype *some = every_other(CELLS / 4);
        int64_t data[CELLS];
        for (int i = 0; i < CELLS; i++)
            data[i] = i;
        struct rma_op op = i64_op(data, NULL, 1, 0, CELLS / 2, ACC_SUM);
        op.tcount = 2;
        op.ttype = some;
        OK(rma_lock(w, false, 1, 0));
        OK(rma_accumulate(w, &op));
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 0);
        op = i64_op(data, NULL, 1, 0, CELLS, ACC_SUM);
        op.tcount = 4;
        op.ttype = some;
        OK(rma_accumulate(w, &op));
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 1);
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(area[2 * i] == (i < CELLS / 2 ? 2 : 1) * i && area[2 * i + 1] == 0);
        OK(rma_unlock(w, 1));
        dtype_unref(some);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_directly(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, few_and_many, NULL);
    for (enum reason why = NO_AGENT; why <= THREADS; why++)
        run((struct fabric_opts){.nproc = 2, .cpus = why == CROWDED ? 1 : 8, .threads = why == THREADS}, directly,
            &why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops), cmocka_unit_test(test_comes_by), cmocka_unit_test(test_directly),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("handover when", tests, NULL, NULL);
}
