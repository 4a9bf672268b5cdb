/*
 * test_handover.c - operations that an attentive kernel-assisted target does itself
 * (rma/handover.h): each kind lands, in how many messages; long ones and those in pieces; locks, elements and
 * answers shared with a process that goes by system calls; and a target that dies.
 */
#include "handover_helper.h"

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
    check_sent(p, &mine, PKT_OPS, 1); /* ahead of the flush */
    OK(rma_flush(w, 1));
    FABRIC_CHECK(old == 6 && area[3] == 16);
    check_sent(p, &mine, PKT_OPS, 1);
    check_sent(target, &its, PKT_REPLY, 1);
    check_sent(target, &its, PKT_ACK, 0); /* the reply says it */
    mine = counters(p), its = counters(target);
    cas(w, 1, 0, &in[0], &ten, &old);
    check_sent(p, &mine, PKT_OPS, 1);
    get(w, 1, 1, out, 8);
    get(w, 1, 2, out + 1, 8);
    OK(rma_flush_local_all(w));
    check_sent(p, &mine, PKT_OPS, 2); /* those behind it together */
    FABRIC_CHECK(old == 1 && area[0] == 10 && out[0] == 2 && out[1] == 4);
    FABRIC_CHECK(handed(p) - before == 9);
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

/* A put, a get and a get_accumulate that fill the ring so; the last two where the target fills it. */
static void past_the_caches(struct win *w, struct fabric_proc *p, int64_t *data)
{
    const _Atomic uint8_t *theirs = &p->fabric->procs[1].peers[0].peer.vc.fill;
    const struct pace streamed = {.kernel = UINT32_MAX, .fill = CH3_FILL_STREAMED};
    for (int i = 0; i < LARGE; i++)
        data[i] = 3 * i;
    p->peers[1].peer.pace[PACE_CACHED] = streamed;
    put(w, 1, 0, data, 8 * LARGE);
    OK(rma_flush(w, 1));
    FABRIC_CHECK(memcmp(data, area, 8 * LARGE) == 0 && atomic_load(theirs) != CH3_FILL_STREAMED);
    FABRIC_CHECK(p->rma.stats.streamed == 1);
    p->peers[1].peer.pace[PACE_CACHED] = streamed;
    memset(data, 0, 8 * LARGE);
    get(w, 1, 0, data, 8 * LARGE);
    OK(rma_flush(w, 1));
    FABRIC_CHECK(memcmp(data, area, 8 * LARGE) == 0 && atomic_load(theirs) == CH3_FILL_STREAMED);
    p->peers[1].peer.pace[PACE_FETCH] = (struct pace){.kernel = UINT32_MAX, .fill = CH3_FILL_NARROW};
    memset(data, 0, 8 * LARGE);
    struct rma_op op = i64_op(NULL, data, 1, 0, LARGE, ACC_NO_OP);
    OK(rma_get_accumulate(w, &op));
    OK(rma_flush(w, 1));
    FABRIC_CHECK(memcmp(data, area, 8 * LARGE) == 0 && atomic_load(theirs) == CH3_FILL_NARROW);
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
        p->peers[1].peer.pace[PACE_ACC].kernel = UINT32_MAX; /* it is slow, as is known */
        add(w, 1, 0, data, LARGE);
        p->peers[1].peer.pace[PACE_ACC] = (struct pace){.kernel = UINT32_MAX, .proven = true};
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
        put(w, 1, 0, data, 8 * LARGE); /* what the kernel takes is not known yet */
        FABRIC_CHECK(handed(p) == 5 && memcmp(data, area, 8 * LARGE) == 0 &&
                     p->peers[1].peer.pace[PACE_CACHED].kernel);
        p->peers[1].peer.pace[PACE_CACHED] = (struct pace){.kernel = UINT32_MAX, .fill = CH3_FILL_NARROW}; /* it is slow */
        put(w, 1, 0, data + 1, 8 * (LARGE - 1));
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 6 && memcmp(data + 1, area, 8 * (LARGE - 1)) == 0 && p->peers[1].shm.tx.narrow);
        p->peers[1].peer.pace[PACE_HUGE] = (struct pace){.kernel = UINT32_MAX};
        put(w, 1, 0, data, sizeof area);
        OK(rma_flush(w, 1));
        memset(data + LARGE, 0, 8 * LARGE);
        FABRIC_CHECK(handed(p) == 7 && memcmp(data, area, 8 * LARGE) == 0 && !p->peers[1].shm.tx.narrow);
        p->peers[1].peer.pace[PACE_HUGE] = (struct pace){.kernel = UINT32_MAX};
        get(w, 1, 0, data, sizeof area);
        OK(rma_flush(w, 1));
        FABRIC_CHECK(handed(p) == 8 && memcmp(data, area, sizeof area) == 0 && data[HUGE - 1] == 9);
        past_the_caches(w, p, data);
        FABRIC_CHECK(handed(p) == 11);
        p->conf.large_copies = CONF_COPIES_KERNEL;
        put(w, 1, 0, data, 8192);
        FABRIC_CHECK(handed(p) == 11 && memcmp(data, area, 8192) == 0);
        p->conf.large_copies = CONF_COPIES_AUTO;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind), cmocka_unit_test(test_large), cmocka_unit_test(test_together),
        cmocka_unit_test(test_dies),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
