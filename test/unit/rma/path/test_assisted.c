/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_assisted.c - operations on a kernel-assisted target that go by packet while the target polls
 * (rma/path/assisted.c): each kind lands, in how many messages; long ones, of which the kernel
 * does the contiguous copies, and those in pieces; the order of accumulates when the target stops
 * to poll; what the kernel does in any case; and a target that dies.
 */
#include "test/support/assisted_target.h"

/* n elements, every other one. */
static struct dtype *every_other(uint32_t n)
{
    const struct dtype_run run = {.len = 8, .stride = 16, .n = n};
    const struct dtype form = {.size = 8 * n,
                               .extent = 16 * n,
                               .basic = ACC_I64,
                               .elems = n,
                               .runs = &run,
                               .nruns = 1,
                               .eruns = &run,
                               .neruns = 1};
    struct dtype *type;
    OK(dtype_create(&form, &type));
    return type;
}

static void check_sent(struct fabric_proc *p, const struct ch3_stats *before, enum pkt_type type,
                       uint64_t n)
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
    const uint64_t before = sent(p);
    for (int i = 0; i < 4; i++)
        put(w, 1, i, &in[i], 8);
    add(w, 1, 2, in, 2);
    FABRIC_CHECK(area[0] == 0); /* still here */
    OK(rma_flush(w, 1, false));
    FABRIC_CHECK(area[0] == 1 && area[1] == 2 && area[2] == 4 && area[3] == 6);
    check_sent(p, &mine, PKT_OPS, 1);
    check_sent(target, &its, PKT_ACK, 1);
    mine = counters(p), its = counters(target);
    fetch_add(w, 1, 3, &ten, &old, 1);
    OK(rma_flush(w, 1, false));
    FABRIC_CHECK(old == 6 && area[3] == 16);
    check_sent(p, &mine, PKT_OPS, 1);
    check_sent(target, &its, PKT_REPLY, 1);
    check_sent(target, &its, PKT_ACK, 0); /* the reply says it */
    mine = counters(p), its = counters(target);
    cas(w, 1, 0, &in[0], &ten, &old);
    get(w, 1, 1, out, 8);
    get(w, 1, 2, out + 1, 8);
    OK(rma_flush_all(w, true));
    check_sent(p, &mine, PKT_OPS, 1);
    FABRIC_CHECK(old == 1 && area[0] == 10 && out[0] == 2 && out[1] == 4);
    FABRIC_CHECK(sent(p) - before == 9);
    put(w, 1, 9, &ten, 8);
    OK(rma_flush_all(w, false));
    FABRIC_CHECK(area[9] == 10 && !w->nsent);
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
            FABRIC_CHECK(area[10] == 10 && !w->nsent && w->flush_quick == FLUSH_QUICK_NONE);
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

/* Also where several threads of a process may call. */
static void test_each_kind(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, each_kind, NULL);
    run((struct fabric_opts){.nproc = 2, .threads = true}, each_kind, NULL);
}

/* ---- long and in pieces ---- */

static void pieces(struct fabric_proc *p, struct win *w, int64_t *data)
{
    struct dtype *apart = every_other(CELLS);
    struct rma_op op = i64_op(data, NULL, 1, 0, CELLS * 4, ACC_SUM);
    op.tcount = 4;
    op.ttype = apart;
    OK(rma_accumulate(w, &op));
    OK(rma_flush(w, 1, false));
    for (int i = 0; i < LARGE; i++)
        FABRIC_CHECK(area[i] == 2 * i + (i % 2 || i >= 8 * CELLS ? 0 : i / 2));
    op = byte_op(data, NULL, 1, 1, sizeof(int64_t) * CELLS * 4);
    op.tcount = 4;
    op.ttype = apart;
    OK(rma_put(w, &op));
    OK(rma_flush(w, 1, false));
    for (int i = 0; i < 4 * CELLS; i++)
        FABRIC_CHECK(area[2 * i + 1] == i);
    op = byte_op(NULL, data + CELLS * 4, 1, 1, sizeof(int64_t) * CELLS * 4);
    op.tcount = 4;
    op.ttype = apart;
    OK(rma_get(w, &op));
    OK(rma_flush(w, 1, false));
    FABRIC_CHECK(sent(p) == 5 && memcmp(data, data + CELLS * 4, 32 * CELLS) == 0);
    dtype_unref(apart);
}

static void contiguous(struct fabric_proc *p, struct win *w, int64_t *data)
{
    for (int i = 0; i < HUGE; i++)
        data[i] = 3 * i;
    put(w, 1, 0, data, sizeof area);
    FABRIC_CHECK(sent(p) == 5 && memcmp(data, area, sizeof area) == 0); /* by the kernel */
    memset(data, 0, sizeof area);
    get(w, 1, 0, data, sizeof area);
    FABRIC_CHECK(sent(p) == 5 && memcmp(data, area, sizeof area) == 0 &&
                 data[HUGE - 1] == 3 * (HUGE - 1));
    memset(data, 0, sizeof area);
    struct rma_op op = i64_op(NULL, data, 1, 0, LARGE, ACC_NO_OP);
    OK(rma_get_accumulate(w, &op));
    OK(rma_flush(w, 1, false));
    FABRIC_CHECK(sent(p) == 6 && memcmp(data, area, 8 * LARGE) == 0);
    put(w, 1, 0, data, 4104);
    FABRIC_CHECK(sent(p) == 6 && memcmp(data, area, 4104) == 0);
    put(w, 1, 0, data, 4096);
    FABRIC_CHECK(sent(p) == 7);
}

static void large_body(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    if (p->rank == 0) {
        int64_t *data = malloc(sizeof area);
        FABRIC_CHECK(data);
        for (int i = 0; i < HUGE; i++)
            data[i] = i < LARGE ? i : 9;
        await_attention();
        OK(rma_lock(w, false, 1, 0));
        add(w, 1, 0, data, LARGE);
        add(w, 1, 0, data, LARGE);
        pieces(p, w, data);
        contiguous(p, w, data);
        OK(rma_unlock(w, 1));
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
    run((struct fabric_opts){.nproc = 2, .refuse_percent = 40, .delay_percent = 30}, large_body,
        NULL);
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

/* The agent does what was sent, and later accumulates do not overtake it. */
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
        replace(w, 3, &req);    /* sends what is open */
        put(w, 1, 1, &five, 8); /* has no order */
        FABRIC_CHECK(area[1] == 0 && sent(p) == 3);
        replace(w, 3, NULL); /* what was kept back goes before it */
        FABRIC_CHECK(area[1] == 5 && sent(p) == 4);
        OK(rma_flush(w, 1, false));
        FABRIC_CHECK(rma_req_done(&req) && area[0] == 3);
        replace(w, 4, NULL); /* all is done: the kernel's way */
        FABRIC_CHECK(sent(p) == 4 && area[0] == 4);
        OK(rma_unlock(w, 1));
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_stops(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, stops, NULL);
}

/* ---- by the kernel ---- */

enum reason { NO_AGENT, REQUEST, OVERSUBSCRIBED, FENCE, PSCW, REASONS };

static void begin(struct win *w, int rank, enum reason why)
{
    const int other = 1 - rank;
    if (why == FENCE)
        OK(rma_fence(w, 0));
    else if (why == PSCW)
        OK(rank ? rma_post(w, &other, 1, 0) : rma_start(w, &other, 1, 0));
    else if (!rank)
        OK(rma_lock(w, false, 1, 0));
}

static void end(struct win *w, int rank, enum reason why)
{
    if (why == FENCE)
        OK(rma_fence(w, RMA_NOSUCCEED));
    else if (why == PSCW)
        OK(rank ? rma_wait(w) : rma_complete(w));
    else if (!rank)
        OK(rma_unlock(w, 1));
}

static void by_kernel(struct fabric_proc *p, void *arg)
{
    const enum reason why = *(const enum reason *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    struct rma_req req;
    begin(w, p->rank, why);
    target_polls(p, true);
    if (p->rank == 0) {
        const int64_t nine = 9;
        struct rma_op op = i64_op(&nine, NULL, 1, 0, 1, ACC_REPLACE);
        rma_req_init(&req);
        op.req = why == REQUEST ? &req : NULL;
        OK(rma_accumulate(w, &op));
        FABRIC_CHECK(area[CELLS] == 9 && sent(p) == 0);
    }
    target_polls(p, false);
    end(w, p->rank, why);
    fabric_win_free(w);
}

static void test_by_kernel(void **state)
{
    (void)state;
    for (enum reason why = 0; why < REASONS; why++)
        run((struct fabric_opts){.nproc = 2,
                                 .cpus = why == OVERSUBSCRIBED ? 1 : 8,
                                 .progress =
                                     why == NO_AGENT ? CONF_PROGRESS_POLL : CONF_PROGRESS_AUTO},
            by_kernel, &why);
}

/* Nobody polls: few pieces are done by the kernel, many by the agent. */
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
        OK(rma_flush(w, 1, false));
        FABRIC_CHECK(sent(p) == 0);
        op = i64_op(data, NULL, 1, 0, CELLS, ACC_SUM);
        op.tcount = 4;
        op.ttype = some;
        OK(rma_accumulate(w, &op));
        OK(rma_flush(w, 1, false));
        FABRIC_CHECK(sent(p) == 1);
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(area[2 * i] == (i < CELLS / 2 ? 2 : 1) * i && area[2 * i + 1] == 0);
        OK(rma_unlock(w, 1));
        dtype_unref(some);
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_few_and_many(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, few_and_many, NULL);
}

/* ---- the target dies ---- */

static void dies(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    (void)arg;
    if (p->rank == 1) { /* no thread of it serves anything */
        atomic_store(&p->seg->polling.has_agent, 1);
        atomic_store(&p->seg->polling.polling, 1);
    }
    fabric_barrier(p);
    if (p->rank == 0) {
        const int64_t one = 1;
        OK(rma_lock(w, false, 1, 0));
        add(w, 1, 0, &one, 1);
        FABRIC_CHECK(sent(p) == 1);
        fabric_kill(&p->fabric->procs[1]);
        FABRIC_CHECK(rma_flush(w, 1, false) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_unlock(w, 1) == MRMA_ERR_PROC_FAILED && !w->nsent);
        (void)win_free_begin(w);
    }
    fabric_barrier(p);
    win_free_end(w);
}

static void test_dies(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2, .quiet = true, .progress = CONF_PROGRESS_POLL}, dies,
        NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_stops),        cmocka_unit_test(test_by_kernel),
        cmocka_unit_test(test_few_and_many), cmocka_unit_test(test_dies),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("assisted", tests, NULL, NULL);
}
