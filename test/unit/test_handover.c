/*
 * test_handover.c - operations that an attentive kernel-assisted target does itself
 * (rma/handover.h): each kind lands, in how many messages; what decides whether one is handed
 * over; the order of accumulates where the target stops to poll; targets that come by between operations of
 * their own; locks, elements and answers
 * shared with a process that goes by system calls; and a target that dies.
 *
 * The last process is the target. It attends: polls with an agent behind it, as a process in a
 * wait does.
 */
#include "pkt_run.h"

#include "rma/handover.h"
#include "rma/issue.h"
#include "rma/progress.h"

enum { CELLS = 256, LARGE = 1 << 17, HUGE = 2 * LARGE, ROUNDS = 3000 };

static int64_t area[HUGE];
static _Atomic bool attended, over;

static void run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    memset(area, 0, sizeof area);
    atomic_store(&attended, false);
    atomic_store(&over, false);
    opts.cpus = opts.cpus ? opts.cpus : 8;
    run_one(opts, body, arg);
}

static bool is_target(const struct fabric_proc *p)
{
    return p->rank == p->fabric->opts.nproc - 1;
}

static struct win *create(struct fabric_proc *p)
{
    if (is_target(p))
        OK(p->env.agent_start(p));
    return fabric_win(p, WIN_CREATE, is_target(p) ? area : area + HUGE - 1, is_target(p) ? sizeof area : 8, 8);
}

/* The target polls until the origins say that it is over. */
static void attend(struct fabric_proc *p)
{
    rma_polling_begin(&p->rma);
    atomic_store(&attended, true);
    while (!atomic_load(&over))
        fabric_progress(p);
    rma_polling_end(&p->rma);
}

static void await_attention(void)
{
    while (!atomic_load(&attended))
        sched_yield();
}

static uint64_t handed(const struct fabric_proc *p)
{
    return p->rma.stats.handed;
}

static void check_sent(struct fabric_proc *p, const struct ch3_stats *before, enum pkt_type type, uint64_t n)
{
    const struct ch3_stats now = counters(p);
    FABRIC_CHECK(now.by_type[type] - before->by_type[type] == n);
}

/* ---- each kind lands ---- */

static void all_kinds(struct fabric_proc *p, struct win *w)
{
    struct fabric_proc *target = &p->fabric->procs[1];
    const int64_t in[4] = {1, 2, 3, 4}, ten = 10;
    int64_t out[4], old;
    struct ch3_stats mine = counters(p), its = counters(target);
    const uint64_t before = handed(p);
    for (int i = 0; i < 4; i++)
        put(w, 1, i, &in[i], 8);
    add(w, 1, 2, in, 2);
    FABRIC_CHECK(area[0] == 0); /* still here */
    OK(rma_flush(w, 1));
    FABRIC_CHECK(area[0] == 1 && area[1] == 2 && area[2] == 4 && area[3] == 6);
    check_sent(p, &mine, PKT_OPS, 1);
    check_sent(target, &its, PKT_ACK, 1);
    mine = counters(p), its = counters(target);
    fetch_add(w, 1, 3, &ten, &old, 1);
    OK(rma_flush(w, 1));
    FABRIC_CHECK(old == 6 && area[3] == 16);
    check_sent(p, &mine, PKT_OPS, 1);
    check_sent(target, &its, PKT_REPLY, 1);
    check_sent(target, &its, PKT_ACK, 0); /* the reply says it */
    cas(w, 1, 0, &in[0], &ten, &old);
    get(w, 1, 1, out, 16);
    OK(rma_flush_local_all(w));
    FABRIC_CHECK(old == 1 && area[0] == 10 && out[0] == 2 && out[1] == 4);
    FABRIC_CHECK(handed(p) - before == 8);
    put(w, 1, 9, &ten, 8);
    OK(rma_flush_all(w));
    FABRIC_CHECK(area[9] == 10 && !w->nhanded);
    put(w, 1, 10, &ten, 8); /* for the end of the epoch */
}

static void each_kind(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    for (int way = 0; way < 4; way++) {
        if (p->rank == 0) {
            await_attention();
            memset(area, 0, sizeof area);
            OK(way < 3 ? rma_lock(w, way == 0, 1, way == 2 ? RMA_NOCHECK : 0) : rma_lock_all(w, 0));
            all_kinds(p, w);
            OK(way < 3 ? rma_unlock(w, 1) : rma_unlock_all(w));
            FABRIC_CHECK(area[10] == 10 && !w->nhanded && w->flush_quick == FLUSH_QUICK_NONE);
            atomic_store(&over, true);
        } else {
            attend(p);
        }
        fabric_barrier(p);
        atomic_store(&attended, false);
        atomic_store(&over, false);
        fabric_barrier(p);
    }
    fabric_win_free(w);
}

static void test_each_kind(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, each_kind, NULL);
}

/* ---- long and in pieces ---- */

/* n elements, every other one. */
static struct dtype *every_other(uint32_t n)
{
    const struct dtype_run run = {.len = 8, .stride = 16, .n = n};
    const struct dtype form = {.size = 8 * n, .extent = 16 * n, .basic = ACC_I64, .elems = n,
                               .runs = &run, .nruns = 1, .eruns = &run, .neruns = 1};
    struct dtype *type;
    OK(dtype_create(&form, &type));
    return type;
}

static void large_body(struct fabric_proc *p, void *arg)
{
    struct dtype *apart;
    struct win *w = create(p);
    (void)arg;
    if (p->rank == 0) {
        int64_t *data = malloc(sizeof area);
        apart = every_other(CELLS);
        FABRIC_CHECK(data);
        for (int i = 0; i < LARGE; i++)
            data[i] = i;
        for (int i = LARGE; i < HUGE; i++)
            data[i] = 9;
        await_attention();
        OK(rma_lock(w, false, 1, 0));
        add(w, 1, 0, data, LARGE);
        add(w, 1, 0, data, LARGE);
        struct rma_op op = i64_op(data, NULL, 1, 0, CELLS * 4, ACC_SUM);
        op.tcount = 4;
        op.ttype = apart;
        OK(rma_accumulate(w, &op));
        OK(rma_flush(w, 1));
        for (int i = 0; i < LARGE; i++)
            FABRIC_CHECK(area[i] == 2 * i + (i % 2 || i >= 8 * CELLS ? 0 : i / 2));
        op = byte_op(data, NULL, 1, 1, sizeof(int64_t) * CELLS * 4);
        op.tcount = 4;
        op.ttype = apart;
        OK(rma_put(w, &op));
        OK(rma_flush(w, 1));
        for (int i = 0; i < 4 * CELLS; i++)
            FABRIC_CHECK(area[2 * i + 1] == i);
        op = byte_op(NULL, data + CELLS * 4, 1, 1, sizeof(int64_t) * CELLS * 4);
        op.tcount = 4;
        op.ttype = apart;
        OK(rma_get(w, &op));
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 5 && memcmp(data, data + CELLS * 4, 32 * CELLS) == 0);
        put(w, 1, 0, data, 8192); /* not alone, but behind another one */
        FABRIC_CHECK(handed(p) == 5);
        put(w, 1, 0, data, 8);
        put(w, 1, 0, data, 8192);
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 7);
        put(w, 1, 0, data, 8 * LARGE); /* one copy is better */
        FABRIC_CHECK(handed(p) == 7 && memcmp(data, area, 8 * LARGE) == 0);
        handover_price(&p->rma, 900000, 1000); /* unless it is the kernel's, and dear */
        put(w, 1, 0, data + 1, 8 * (LARGE - 1));
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 8 && memcmp(data + 1, area, 8 * (LARGE - 1)) == 0);
        handover_price(&p->rma, 1500, 1000);
        p->peers[1].peer.pace[PACE_HUGE].kernel = UINT32_MAX; /* it is slow, as is known */
        p->rma.stats.handed--;
        put(w, 1, 0, data, sizeof area); /* two at the same time are better still */
        OK(rma_flush(w, 1));
        memset(data + LARGE, 0, 8 * LARGE);
        FABRIC_CHECK(handed(p) == 8 && memcmp(data, area, 8 * LARGE) == 0);
        p->peers[1].peer.pace[PACE_HUGE] = (struct pace){.kernel = UINT32_MAX};
        get(w, 1, 0, data, sizeof area);
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 9 && memcmp(data, area, sizeof area) == 0 && data[HUGE - 1] == 9);
        OK(rma_unlock(w, 1));
        dtype_unref(apart);
        free(data);
        atomic_store(&over, true);
    } else {
        attend(p);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_large(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, large_body, NULL);
    run((struct fabric_opts){.nproc = 2, .refuse_percent = 40, .delay_percent = 30}, large_body, NULL);
}

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

/* It serves what came meanwhile when it is in a passive target call of its own, and its agent is not
 * needed. */
static void comes_by(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
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
            OK(rma_flush(w, 1));
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
    run((struct fabric_opts){.nproc = 2}, comes_by, NULL);
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

/* ---- together with a process that goes by system calls ---- */

/* Process 0 hands over, process 1 never does. The origins' memory is mapped: the target answers them
 * all the same. */
static struct win *create_mixed(struct fabric_proc *p, void **memory)
{
    if (is_target(p))
        OK(p->env.agent_start(p));
    *memory = is_target(p) ? NULL : fabric_mem_alloc(p, 4096);
    p->peers[2].peer.polling = p->rank == 1 ? NULL : p->peers[2].peer.polling;
    return fabric_win(p, WIN_CREATE, *memory ? *memory : area, *memory ? 4096 : sizeof area, 8);
}

/* One element, and under an exclusive lock another by get and put. */
static void hammer(struct win *w, int rounds)
{
    const int64_t one = 1;
    int64_t old;
    for (int i = 0; i < rounds; i++) {
        OK(rma_lock(w, false, 2, 0));
        fetch_add(w, 2, 0, &one, &old, 1);
        add(w, 2, 1, &one, 1);
        OK(rma_flush(w, 2));
        add(w, 2, 1, &one, 1);
        OK(rma_unlock(w, 2));
        OK(rma_lock(w, true, 2, 0));
        get(w, 2, 2, &old, 8);
        OK(rma_flush(w, 2));
        old++;
        put(w, 2, 2, &old, 8);
        OK(rma_unlock(w, 2));
    }
}

static void together(struct fabric_proc *p, void *arg)
{
    static _Atomic int left;
    void *memory;
    struct win *w = create_mixed(p, &memory);
    (void)arg;
    atomic_store(&left, 2);
    fabric_barrier(p);
    if (is_target(p)) {
        attend(p);
    } else {
        await_attention();
        hammer(w, ROUNDS);
        FABRIC_CHECK(p->rank ? handed(p) == 0 : handed(p) == 5 * ROUNDS);
        if (atomic_fetch_sub(&left, 1) == 1)
            atomic_store(&over, true);
    }
    fabric_barrier(p);
    FABRIC_CHECK(area[0] == 2 * ROUNDS && area[1] == 4 * ROUNDS && area[2] == 2 * ROUNDS);
    fabric_win_free(w);
    if (memory)
        fabric_mem_free(p, memory);
}

static void test_together(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 3}, together, NULL);
}

/* ---- the target dies ---- */

static void dies(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    (void)arg;
    if (p->rank == 1) { /* no thread of it serves anything */
        atomic_store(&p->seg->has_agent, 1);
        atomic_store(&p->seg->polling, 1);
    }
    fabric_barrier(p);
    if (p->rank == 0) {
        const int64_t one = 1;
        OK(rma_lock(w, false, 1, 0));
        add(w, 1, 0, &one, 1);
        FABRIC_CHECK(handed(p) == 1);
        fabric_kill(&p->fabric->procs[1]);
        FABRIC_CHECK(rma_flush(w, 1) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_unlock(w, 1) == MRMA_ERR_PROC_FAILED);
        (void)win_free_begin(w);
    }
    fabric_barrier(p);
    win_free_end(w);
}

static void test_dies(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2, .quiet = true}, dies, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_kind), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_stops),     cmocka_unit_test(test_directly),
                                       cmocka_unit_test(test_comes_by),
                                       cmocka_unit_test(test_together),  cmocka_unit_test(test_dies)};
    pkt_types_init();
    return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
