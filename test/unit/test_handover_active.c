/*
 * test_handover_active.c - what a kernel-assisted target does itself in fence and PSCW epochs
 * (rma/handover.h): each kind lands before the epoch ends, without an acknowledgement; what is not handed over; the
 * order of accumulates; a third process that looks behind the fence; and a target that dies.
 */
#include "pkt_run.h"

#include "rma/handover.h"

enum way { FENCE, PSCW, WAYS };
enum { CELLS = 1 << 16, MANY = 1 << 14, ROUNDS = 8, FEW = 32, TIMES = 40 };

static int64_t area[CELLS];
static _Atomic uint32_t nobody;
static _Atomic bool begun; /* the target has begun the epoch, and so does not poll for that any more */

static bool is_target(const struct fabric_proc *p)
{
    return p->rank == p->fabric->opts.nproc - 1;
}

static struct win *create(struct fabric_proc *p)
{
    if (is_target(p))
        OK(p->env.agent_start(p));
    p->conf.large_copies = CONF_COPIES_RING; /* whatever the time it takes */
    return fabric_win(p, WIN_CREATE, is_target(p) ? area : area + CELLS - 1, is_target(p) ? sizeof area : 8, 8);
}

static void begin(struct win *w, const struct fabric_proc *p, enum way way)
{
    const int other = 1 - p->rank;
    if (way == FENCE)
        OK(rma_fence(w, 0));
    else
        OK(is_target(p) ? rma_post(w, &other, 1, 0) : rma_start(w, &other, 1, 0));
    if (is_target(p))
        atomic_store(&begun, true);
}

static int end(struct win *w, const struct fabric_proc *p, enum way way)
{
    return way == FENCE ? rma_fence(w, RMA_NOSUCCEED) : is_target(p) ? rma_wait(w) : rma_complete(w);
}

static void await_polls(struct fabric_proc *p)
{
    while (!atomic_load(&begun) || !rma_peer_polls(&p->peers[p->fabric->opts.nproc - 1].peer))
        sched_yield();
    atomic_store(&begun, false);
}

static void all_kinds(struct fabric_proc *p, struct win *w, int64_t round)
{
    static int64_t out[MANY], in[MANY];
    const int64_t two = 2, nine = 9;
    int64_t first, old, fetched;
    const uint64_t before = p->rma.stats.handed;
    for (int i = 0; i < MANY; i++)
        out[i] = round + i;
    get(w, 1, 0, &first, 8);
    get(w, 1, 2 * MANY, in, sizeof in);
    put(w, 1, MANY, out, sizeof out);
    put(w, 1, 1, &round, 8); /* into the ring as always in these epochs; behind what is queued it goes our way */
    add(w, 1, 2, &two, 1);
    fetch_add(w, 1, 2, &two, &fetched, 1);
    cas(w, 1, 3, &round, &nine, &old);
    FABRIC_CHECK(p->rma.stats.handed - before - 6 <= 1);
    OK(end(w, p, p->user ? PSCW : FENCE));
    FABRIC_CHECK(first == 77 && fetched == 4 * round + 2 && old == round && !w->nhanded);
    for (int i = 0; i < MANY; i++)
        FABRIC_CHECK(in[i] == i);
}

static void check_all(int64_t round)
{
    FABRIC_CHECK(area[1] == round && area[2] == 4 * round + 4 && area[3] == 9);
    for (int i = 0; i < MANY; i++)
        FABRIC_CHECK(area[MANY + i] == round + i);
}

static void each_kind(struct fabric_proc *p, void *arg)
{
    const enum way way = *(const enum way *)arg;
    struct win *w = create(p);
    p->user = way == PSCW ? p : NULL;
    if (is_target(p)) {
        area[0] = 77;
        area[2] = 0;
        for (int i = 0; i < MANY; i++)
            area[2 * MANY + i] = i;
    }
    fabric_barrier(p);
    for (int64_t round = 0; round < ROUNDS; round++) {
        const struct ch3_stats its = counters(&p->fabric->procs[1]);
        if (is_target(p))
            area[3] = round;
        fabric_barrier(p);
        begin(w, p, way);
        if (p->rank == 0) {
            await_polls(p);
            all_kinds(p, w, round);
            const struct ch3_stats now = counters(&p->fabric->procs[1]);
            FABRIC_CHECK(now.by_type[PKT_ACK] == its.by_type[PKT_ACK]);
        } else {
            OK(end(w, p, way));
            check_all(round);
        }
        fabric_barrier(p);
    }
    fabric_win_free(w);
}

static void test_each_kind(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        for (int hindered = 0; hindered < 2; hindered++)
            run_one((struct fabric_opts){.nproc = 2, .cpus = 8, .seed = 3, .refuse_percent = hindered ? 40 : 0,
                                         .delay_percent = hindered ? 30 : 0},
                    each_kind, &way);
}

/* The target does not poll: it may be computing. A fence it will come to anyway. */
static void computes(struct fabric_proc *p, void *arg)
{
    const enum way way = *(const enum way *)arg;
    static int64_t in[MANY], some[TIMES];
    struct win *w = create(p);
    for (int i = 0; is_target(p) && i < MANY; i++)
        area[i] = i;
    fabric_barrier(p);
    begin(w, p, way);
    while (!atomic_load(&begun)) /* the fence in which it polls is over */
        sched_yield();
    fabric_barrier(p);
    atomic_store(&begun, false);
    if (p->rank == 0) {
        get(w, 1, 0, in, sizeof in);
        FABRIC_CHECK(p->rma.stats.handed == 0 && in[MANY - 1] == MANY - 1);
        for (int i = 0; i < TIMES; i++)
            get(w, 1, i, &some[i], 8);
        FABRIC_CHECK(p->rma.stats.handed == (way == FENCE ? FEW : 0));
        fabric_barrier(p);
        OK(end(w, p, way));
        for (int i = 0; i < TIMES; i++)
            FABRIC_CHECK(some[i] == i);
    } else {
        fabric_barrier(p);
        OK(end(w, p, way));
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_computes(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, computes, &way);
}

/* MPI_Win_complete may not depend on MPI_Win_wait: the target may stop to poll before the packet comes. */
static void alone(struct fabric_proc *p, void *arg)
{
    const enum way way = *(const enum way *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area + 8 * p->rank, 64, 8);
    int64_t in = 0;
    if (is_target(p))
        area[8] = 5;
    fabric_barrier(p);
    begin(w, p, way);
    if (p->rank == 0) {
        await_polls(p);
        get(w, 1, 0, &in, 8);
        FABRIC_CHECK(p->rma.stats.handed == (way == FENCE));
    }
    OK(end(w, p, way));
    FABRIC_CHECK(p->rank || in == 5);
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_alone(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, alone, &way);
}

/* Accumulates that follow one that was handed over go the same way, polling or not; copies need not. */
static void ordered(struct fabric_proc *p, void *arg)
{
    const enum way way = *(const enum way *)arg;
    static int64_t values[MANY];
    struct win *w = create(p);
    fabric_barrier(p);
    begin(w, p, way);
    if (p->rank == 0) {
        const _Atomic uint32_t *polling = p->peers[1].peer.polling;
        await_polls(p);
        for (int i = 0; i < MANY; i++)
            values[i] = i + 1;
        for (int i = 0; i < 2; i++) { /* twice: the ring is full and things are queued */
            struct rma_op op = i64_op(values, NULL, 1, 0, MANY, ACC_REPLACE);
            OK(rma_accumulate(w, &op));
        }
        p->peers[1].peer.polling = &nobody;
        struct rma_op op = i64_op(values + 6, NULL, 1, MANY - 1, 1, ACC_REPLACE);
        OK(rma_accumulate(w, &op));
        FABRIC_CHECK(p->rma.stats.handed == 3);
        put(w, 1, MANY, values, sizeof values);
        FABRIC_CHECK(p->rma.stats.handed == 3 && area[2 * MANY - 1] == MANY);
        p->peers[1].peer.polling = polling;
    }
    OK(end(w, p, way));
    fabric_barrier(p);
    FABRIC_CHECK(area[0] == 1 && area[MANY - 2] == MANY - 1 && area[MANY - 1] == 7);
    fabric_win_free(w);
}

static void test_ordered(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8, .seed = 5, .refuse_percent = 40, .delay_percent = 30},
                ordered, &way);
}

/* A trial of large copies, or accumulates, is over only when the target has done its part, though nothing is acknowledged. */
static void timed(struct fabric_proc *p, void *arg)
{
    enum { QUARTER = 1 << 18 }; /* bytes: four are a trial */
    const enum way way = *(const enum way *)arg;
    static int64_t values[QUARTER / 8];
    struct win *w = create(p);
    p->conf.large_copies = CONF_COPIES_AUTO;
    for (int round = 0; round < 2; round++) {
        fabric_barrier(p);
        begin(w, p, way);
        if (p->rank == 0) {
            struct pace *pace = &p->peers[1].peer.pace[round ? PACE_ACC : PACE_CACHED];
            /* it is slow, and so are the other ways to fill the ring */
            *pace = (struct pace){.kernel = UINT32_MAX,
                                  .ring = {[CH3_FILL_NARROW] = UINT64_MAX, [CH3_FILL_STREAMED] = UINT64_MAX}};
            await_polls(p);
            const uint64_t answers = counters(&p->fabric->procs[1]).by_type[PKT_REPLY];
            for (int i = 1; i <= 4; i++) {
                FABRIC_CHECK(!pace->proven);
                for (int k = 0; k < QUARTER / 8; k++)
                    values[k] = i + k;
                struct rma_op op = i64_op(values, NULL, 1, 0, QUARTER / 8, ACC_REPLACE);
                if (round)
                    OK(rma_accumulate(w, &op));
                else
                    put(w, 1, 0, values, QUARTER);
                FABRIC_CHECK(p->rma.stats.handed == (uint64_t)(4 * round + i));
                if (i < 4) /* a batch until it is waited for */
                    FABRIC_CHECK(pace_waits(pace) && w->nhanded);
            }
            FABRIC_CHECK(counters(&p->fabric->procs[1]).by_type[PKT_REPLY] > answers);
            FABRIC_CHECK(pace->proven && !w->nhanded && memcmp(area, values, QUARTER) == 0);
            area[0] = 0;
        }
        OK(end(w, p, way));
    }
    fabric_barrier(p);
    fabric_win_free(w);
}

static void test_timed(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        for (int hindered = 0; hindered < 2; hindered++)
            run_one((struct fabric_opts){.nproc = 2, .cpus = 8, .seed = 11, .refuse_percent = hindered ? 40 : 0,
                                         .delay_percent = hindered ? 30 : 0},
                    timed, &way);
}

/* Who has left the fence sees what others have handed over in it, by whatever way it looks. */
static void third(struct fabric_proc *p, void *arg)
{
    static int64_t out[MANY], in[2][MANY];
    struct win *w = create(p);
    (void)arg;
    for (int64_t round = 1; round <= ROUNDS; round++) {
        begin(w, p, FENCE);
        if (p->rank == 0) {
            for (int i = 0; i < MANY; i++)
                out[i] = round * i;
            await_polls(p);
            put(w, 2, 0, out, sizeof out);
            FABRIC_CHECK(p->rma.stats.handed == (uint64_t)round);
        }
        OK(rma_fence(w, 0));
        if (p->rank < 2) {
            const _Atomic uint32_t *polling = p->peers[2].peer.polling;
            p->peers[2].peer.polling = &nobody;
            get(w, 2, 0, in[p->rank], sizeof in[0]);
            p->peers[2].peer.polling = polling;
            for (int i = 0; i < MANY; i++)
                FABRIC_CHECK(in[p->rank][i] == round * i);
        }
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_third(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 3, .cpus = 8, .seed = 7, .delay_percent = 50}, third, NULL);
}

/* No thread of it serves anything, and then it is gone. */
static void dies(struct fabric_proc *p, void *arg)
{
    const enum way way = *(const enum way *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area + 8 * p->rank, 64, 8);
    begin(w, p, way);
    if (p->rank == 1) {
        atomic_store(&p->seg->has_agent, 1);
        atomic_store(&p->seg->polling, 1);
    }
    fabric_barrier(p);
    if (p->rank == 0) {
        int64_t in;
        get(w, 1, 0, &in, 8);
        FABRIC_CHECK(p->rma.stats.handed == 1);
        fabric_kill(&p->fabric->procs[1]);
        FABRIC_CHECK(end(w, p, way) == MRMA_ERR_PROC_FAILED && !w->nhanded);
        (void)win_free_begin(w);
    }
    fabric_barrier(p);
    win_free_end(w);
}

static void test_dies(void **state)
{
    (void)state;
    for (enum way way = FENCE; way < WAYS; way++)
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8, .quiet = true}, dies, &way);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_kind), cmocka_unit_test(test_computes),
                                       cmocka_unit_test(test_alone), cmocka_unit_test(test_ordered), cmocka_unit_test(test_third),
                                       cmocka_unit_test(test_timed), cmocka_unit_test(test_dies)};
    RUN_TESTS("handover_active", tests);
}
