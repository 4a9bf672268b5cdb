/*
 * test_packets.c - all operations and epochs by packets, between processes of the
 * in-process fabric.
 *
 * Every test runs four times: served by agents and by polling only, over a clean
 * channel and over one that often has no room and delivers late. At the end no
 * packet may have been refused. Where a synchronizing call has returned, its
 * process may stop calling the library: its peers must get on without it.
 */
#include "pkt_helper.h"

enum { RING_BUSTER = 320 * 1024 };

struct variant {
    enum conf_progress progress;
    unsigned refuse, delay;
};

static const struct variant variants[] = {
    {CONF_PROGRESS_POLL, 0, 0},
    {CONF_PROGRESS_AGENT, 0, 0},
    {CONF_PROGRESS_POLL, 40, 30},
    {CONF_PROGRESS_AGENT, 40, 30},
};

static void run_one(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    fabric_watchdog(120);
    atomic_store(&pkt_arrived, 0);
    struct fabric *f = fabric_new(&opts);
    fabric_run(f, body, arg);
    for (int i = 0; i < opts.nproc; i++)
        assert_int_equal(refused(&f->procs[i]), 0);
    fabric_free(f);
    fabric_watchdog(0);
}

static void run_all(int nproc, int per_node, void (*body)(struct fabric_proc *p, void *arg), void *arg)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_one((struct fabric_opts){.nproc = nproc, .per_node = per_node, .progress = variants[i].progress,
                                     .path = per_node ? CONF_PATH_AUTO : CONF_PATH_SHM_PACKETS,
                                     .seed = i + 1,
                                     .refuse_percent = variants[i].refuse,
                                     .delay_percent = variants[i].delay},
                body, arg);
}

static void fill(unsigned char *p, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(tag * 37 + i * 7 + (i >> 8));
}

static void check_filled(const unsigned char *p, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++)
        FABRIC_CHECK(p[i] == (unsigned char)(tag * 37 + i * 7 + (i >> 8)));
}

/* ---- fence ---- */

/* Part i of every window is rank i's to write. size bytes are put to all. */
static void fence_all_to_all(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size * (size_t)n, 1);
    unsigned char *mine = *win_base_attr(w), *out = malloc(size), *in = malloc(size);
    OK(rma_fence(w, RMA_NOPRECEDE));
    for (unsigned phase = 0; phase < 6; phase++) {
        fill(out, size, phase * 16 + (unsigned)p->rank);
        for (int i = 0; i < n; i++)
            put(w, i, (int64_t)size * p->rank, out, size);
        OK(rma_fence(w, 0));
        for (int i = 0; i < n; i++)
            check_filled(mine + size * (size_t)i, size, phase * 16 + (unsigned)i);
        const int from = (p->rank + 1) % n;
        get(w, from, (int64_t)size * p->rank, in, size);
        OK(rma_fence(w, phase == 5 ? RMA_NOSUCCEED : 0));
        check_filled(in, size, phase * 16 + (unsigned)p->rank);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_fence_small(void **state)
{
    size_t size = 24;
    (void)state;
    run_all(3, 0, fence_all_to_all, &size);
    run_all(4, 2, fence_all_to_all, &size);
}

static void test_fence_large(void **state)
{
    size_t size = RING_BUSTER;
    (void)state;
    run_all(3, 0, fence_all_to_all, &size);
    run_all(4, 2, fence_all_to_all, &size);
}

/* Who has left a fence may do without the library, whatever it has sent. */
static void fence_and_go(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size * (size_t)n, 1);
    unsigned char *out = malloc(size);
    fill(out, size, (unsigned)p->rank);
    for (int round = 0; round < 20; round++) {
        OK(rma_fence(w, 0));
        for (int i = 0; i < n; i++)
            put(w, i, (int64_t)size * p->rank, out, size);
        OK(rma_fence(w, 0));
        fabric_barrier(p);
    }
    fabric_win_free(w);
    fabric_barrier(p);
    free(out);
}

static void test_fence_and_go(void **state)
{
    size_t small = 16, large = RING_BUSTER / 2;
    (void)state;
    run_all(3, 0, fence_and_go, &small);
    run_all(2, 0, fence_and_go, &large);
}

/* Small operations of more than one packet, accumulates in order among them. */
static void fence_many(struct fabric_proc *p, void *arg)
{
    enum { CELLS = 500, ROUNDS = 12 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, CELLS * 8, 1);
    const int64_t *mine = *win_base_attr(w);
    const int64_t one = 1;
    OK(rma_fence(w, 0));
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            for (int c = 0; c < CELLS; c++)
                add(w, i, c * 8, &one, 1);
        OK(rma_fence(w, 0));
        for (int c = 0; c < CELLS; c++)
            FABRIC_CHECK(mine[c] == (int64_t)round * n);
        OK(rma_fence(w, 0));
    }
    fabric_win_free(w);
}

static void test_fence_many(void **state)
{
    (void)state;
    run_all(3, 0, fence_many, NULL);
}

/* A packet that comes before its fence phase is parked: rank 1 still stores. */
static void fence_ahead(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 1; round <= 10; round++) {
        const uint64_t before = parked(p);
        const unsigned char value = (unsigned char)round;
        fabric_barrier(p);
        if (p->rank == 0) {
            OK(rma_fence(w, RMA_NOPRECEDE));
            put(w, 1, 0, &value, 1);
            put(w, 1, 8, &value, 1);
        } else {
            while (p->rank == 1 && parked(p) == before) {
                FABRIC_CHECK(mine[0] == (unsigned char)(round - 1));
                fabric_progress(p);
                sched_yield();
            }
            mine[0] = 99;
            OK(rma_fence(w, RMA_NOPRECEDE));
        }
        OK(rma_fence(w, 0));
        FABRIC_CHECK(p->rank != 1 || (mine[0] == value && mine[8] == value));
    }
    fabric_win_free(w);
}

static void test_fence_ahead(void **state)
{
    (void)state;
    run_all(2, 0, fence_ahead, NULL);
    run_all(3, 0, fence_ahead, NULL);
}

/* Fence, then passive target, again and again, with a get that fills the ring:
 * the one process may be in its lock while the other is still in the fence. */
static void fence_then_lock(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER + 64, 1);
    unsigned char *in = malloc(RING_BUSTER);
    const int64_t one = 1;
    const int other = 1 - p->rank;
    for (int round = 0; round < 8; round++) {
        OK(rma_fence(w, 0));
        get(w, other, 64, in, RING_BUSTER);
        OK(rma_fence(w, RMA_NOSUCCEED));
        OK(rma_lock(w, round & 1, other, 0));
        add(w, other, 0, &one, 1);
        OK(rma_unlock(w, other));
        rest(p);
    }
    FABRIC_CHECK(**(int64_t **)win_base_attr(w) == 8);
    fabric_win_free(w);
    free(in);
}

static void test_fence_then_lock(void **state)
{
    (void)state;
    run_all(2, 0, fence_then_lock, NULL);
}

/* ---- PSCW ---- */

static int others(const struct fabric_proc *p, int *group)
{
    int n = 0;
    for (int i = p->fabric->opts.nproc - 1; i >= 0; i--)
        if (i != p->rank)
            group[n++] = i;
    return n;
}

/* Everybody is origin and target of all others, with put, get and accumulate. */
static void pscw_all(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    int group[FABRIC_MAX], ngroup = others(p, group);
    const int64_t room = (int64_t)(size + 7) / 8 * 8;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, (uint64_t)(room * n + 16), 1);
    unsigned char *mine = *win_base_attr(w), *out = malloc(size), *in = malloc(size * (size_t)n);
    int64_t one = 1, *sum = (int64_t *)(void *)(mine + room * n);
    for (unsigned round = 0; round < 12; round++) {
        const int asserts = round % 4 == 3 ? RMA_NOCHECK : 0;
        fill(out, size, round * 8 + (unsigned)p->rank);
        fill(mine + room * p->rank, size, round * 8 + (unsigned)p->rank);
        OK(rma_post(w, group, ngroup, asserts));
        if (asserts) /* the match must have been posted */
            fabric_barrier(p);
        OK(rma_start(w, group, ngroup, asserts));
        for (int i = 0; i < ngroup; i++) {
            put(w, group[i], room * p->rank, out, size);
            add(w, group[i], room * n, &one, 1);
            get(w, group[i], room * group[i], in + size * (size_t)i, size);
        }
        OK(rma_complete(w));
        for (int i = 0; i < ngroup; i++)
            check_filled(in + size * (size_t)i, size, round * 8 + (unsigned)group[i]);
        if (round & 1) {
            bool flag = false;
            while (!flag)
                OK(rma_test(w, &flag));
        } else {
            OK(rma_wait(w));
        }
        for (int i = 0; i < n; i++)
            check_filled(mine + room * i, size, round * 8 + (unsigned)i);
        FABRIC_CHECK(*sum == (int64_t)(round + 1) * ngroup);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_pscw(void **state)
{
    size_t small = 20, large = RING_BUSTER;
    (void)state;
    run_all(2, 0, pscw_all, &small);
    run_all(4, 2, pscw_all, &small);
    run_all(3, 0, pscw_all, &large);
}

/* Rank 0 completes its epoch before rank 1 has posted: parked, then in order. A
 * second epoch may not get ahead of the first. */
static void pscw_ahead(struct fabric_proc *p, void *arg)
{
    const int peer = 1 - p->rank;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    volatile unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < 10; round++) {
        const unsigned char first = (unsigned char)(2 * round + 1), second = (unsigned char)(2 * round + 2);
        const uint64_t before = parked(p);
        fabric_barrier(p);
        if (p->rank == 0) {
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, &first, 1);
            OK(rma_complete(w));
            fabric_barrier(p);
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, &second, 1);
            OK(rma_complete(w));
        } else {
            fabric_barrier(p); /* rank 0 has completed, without any word of this process */
            while (parked(p) == before) {
                fabric_progress(p);
                sched_yield();
            }
            FABRIC_CHECK(mine[0] == (unsigned char)(2 * round));
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            FABRIC_CHECK(mine[0] == first);
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            FABRIC_CHECK(mine[0] == second);
        }
    }
    fabric_win_free(w);
}

static void test_pscw_ahead(void **state)
{
    (void)state;
    run_all(2, 0, pscw_ahead, NULL);
}

/* Who has completed may do without the library; the target's wait must end. */
static void complete_and_go(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int peer = 1 - p->rank;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size, 1);
    unsigned char *out = malloc(size);
    for (unsigned round = 0; round < 10; round++) {
        if (p->rank == 0) {
            fill(out, size, round);
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, out, size);
            OK(rma_complete(w));
        } else {
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            check_filled(*win_base_attr(w), size, round);
        }
        fabric_barrier(p);
    }
    fabric_win_free(w);
    free(out);
}

static void test_complete_and_go(void **state)
{
    size_t small = 16, large = RING_BUSTER;
    (void)state;
    run_all(2, 0, complete_and_go, &small);
    run_all(2, 0, complete_and_go, &large);
}

/* ---- passive target ---- */

/* Read, add one, write back, under an exclusive lock: the sum is exact. */
static void lock_counter(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 60 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t value = 0;
        const int target = round % n;
        OK(rma_lock(w, true, target, 0));
        get(w, target, 0, &value, 8);
        OK(rma_flush(w, target));
        value++;
        put(w, target, 0, &value, 8);
        OK(rma_unlock(w, target));
    }
    rest(p);
    int64_t sum = 0, value = 0;
    for (int i = 0; i < n; i++) {
        OK(rma_lock(w, false, i, 0));
        get(w, i, 0, &value, 8);
        OK(rma_unlock(w, i));
        sum += value;
    }
    FABRIC_CHECK(sum == (int64_t)n * ROUNDS);
    rest(p);
    fabric_win_free(w);
}

static void test_lock_counter(void **state)
{
    (void)state;
    run_all(3, 0, lock_counter, NULL);
    run_all(4, 2, lock_counter, NULL);
    run_all(4, 3, lock_counter, NULL);
}

/* Two cells change together under the exclusive lock, by lock and by lock_all
 * they are read together. Packets and direct origins mixed by per_node. */
static void lock_readers(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 40 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
    for (int64_t round = 0; round < ROUNDS; round++) {
        const int target = (int)(round + p->rank) % n;
        int64_t cells[2], old[2];
        switch ((round + p->rank) % 3) {
        case 0:
            OK(rma_lock(w, true, target, 0));
            get(w, target, 0, old, 16);
            OK(rma_flush(w, target));
            FABRIC_CHECK(old[0] == old[1]);
            cells[0] = cells[1] = round * n + p->rank;
            put(w, target, 0, &cells[0], 8);
            OK(rma_flush_local(w, target));
            put(w, target, 8, &cells[1], 8);
            OK(rma_unlock(w, target));
            break;
        case 1:
            OK(rma_lock(w, false, target, 0));
            get(w, target, 0, old, 16);
            OK(rma_unlock(w, target));
            FABRIC_CHECK(old[0] == old[1]);
            break;
        default:
            OK(rma_lock_all(w, 0));
            get(w, target, 0, old, 16);
            OK(rma_flush_all(w));
            FABRIC_CHECK(old[0] == old[1]);
            OK(rma_unlock_all(w));
        }
    }
    rest(p);
    fabric_win_free(w);
}

static void test_lock_readers(void **state)
{
    (void)state;
    run_all(3, 0, lock_readers, NULL);
    run_all(4, 2, lock_readers, NULL);
    run_all(5, 3, lock_readers, NULL);
}

/* A get longer than the ring is read under the lock to its end. */
static void lock_long_get(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    unsigned char *buf = malloc(RING_BUSTER);
    for (int round = 0; round < 12 && p->rank; round++) {
        OK(rma_lock(w, true, 0, 0));
        if (p->rank == 1) {
            get(w, 0, 0, buf, RING_BUSTER);
        } else {
            memset(buf, round, RING_BUSTER);
            put(w, 0, 0, buf, RING_BUSTER);
        }
        OK(rma_unlock(w, 0));
        for (size_t i = 1; i < RING_BUSTER; i++)
            FABRIC_CHECK(buf[i] == buf[0]);
    }
    rest(p);
    fabric_win_free(w);
    free(buf);
}

static void test_lock_long_get(void **state)
{
    (void)state;
    run_all(3, 0, lock_long_get, NULL);
}

/* Nothing but the agent moves at the target: every operation, small and large. */
static void idle_target(struct fabric_proc *p, void *arg)
{
    enum { CELLS = RING_BUSTER / 8 };
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    int64_t *out = malloc(RING_BUSTER), *in = malloc(RING_BUSTER);
    if (p->rank) {
        for (int i = 0; i < CELLS; i++)
            out[i] = i + p->rank;
        OK(rma_lock_all(w, 0));
        add(w, 0, 0, out, CELLS);
        OK(rma_flush(w, 0));
        fetch_add(w, 0, 0, out, in, CELLS);
        OK(rma_flush_local(w, 0));
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(in[i] >= out[i] && in[i] <= 4 * (i + 2));
        memset(in, 0, RING_BUSTER);
        get(w, 0, 0, in, RING_BUSTER);
        OK(rma_unlock_all(w));
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(in[i] >= 2 * out[i]);
    }
    rest(p);
    const int64_t *mine = *win_base_attr(w);
    for (int i = 0; p->rank == 0 && i < CELLS; i++) {
        int64_t sum = 0;
        for (int k = 1; k < p->fabric->opts.nproc; k++)
            sum += 2 * (i + k);
        FABRIC_CHECK(mine[i] == sum);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_idle_target(void **state)
{
    (void)state;
    run_all(2, 0, idle_target, NULL);
    run_all(3, 0, idle_target, NULL);
}

/* A thread of a process computes; what it was asked before it left the library
 * must be answered by its agent, also what did not fit into the ring then. */
static void answer_and_go(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    unsigned char *in = malloc(RING_BUSTER);
    for (int round = 0; round < 10; round++) {
        if (p->rank == 1) {
            OK(rma_lock(w, false, 0, 0));
            get(w, 0, 0, in, RING_BUSTER);
            OK(rma_flush(w, 0));
            OK(rma_unlock(w, 0));
        } else {
            for (int i = 0; i < 50 * round; i++)
                fabric_progress(p);
        }
        rest(p);
    }
    fabric_win_free(w);
    free(in);
}

static void test_answer_and_go(void **state)
{
    (void)state;
    run_all(2, 0, answer_and_go, NULL);
}

/* Long and short operations of one origin on the same cells stay in order. */
static void ordered(struct fabric_proc *p, void *arg)
{
    enum { CELLS = 4096 };
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, CELLS * 8, 1);
    int64_t *out = malloc(CELLS * 8), *old = malloc(CELLS * 8), one = 1, seen[8];
    for (int64_t round = 1; p->rank == 1 && round <= 10; round++) {
        for (int i = 0; i < CELLS; i++)
            out[i] = round * 1000;
        const struct rma_op set = i64_op(out, old, 0, 0, CELLS, ACC_REPLACE);
        const struct rma_op look = i64_op(NULL, seen, 0, 64, 8, ACC_NO_OP);
        OK(rma_lock(w, round & 1, 0, 0));
        add(w, 0, 64, &one, 1);
        OK(rma_accumulate(w, &set));
        add(w, 0, 64, &one, 1);
        fetch_add(w, 0, 64, &one, seen + 1, 1);
        OK(rma_get_accumulate(w, &set));
        add(w, 0, 64, &one, 1);
        OK(rma_get_accumulate(w, &look));
        OK(rma_unlock(w, 0));
        FABRIC_CHECK(old[8] == round * 1000 + 2 && old[9] == round * 1000);
        FABRIC_CHECK(seen[0] == round * 1000 + 1 && seen[1] == round * 1000);
    }
    rest(p);
    fabric_win_free(w);
    free(out);
    free(old);
}

static void test_ordered(void **state)
{
    (void)state;
    run_all(2, 0, ordered, NULL);
}

static void finish(struct fabric_proc *p, struct rma_req *req)
{
    while (!rma_req_done(req)) {
        fabric_progress(p);
        sched_yield();
    }
    FABRIC_CHECK(atomic_load(&req->err) == MRMA_SUCCESS);
}

/* Requests complete by progress alone, small and large, before any flush. */
static void requests(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc, target = (p->rank + 1) % n;
    const size_t sizes[] = {8, 4000, 20000, RING_BUSTER};
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * RING_BUSTER, 1);
    int64_t *out = malloc(RING_BUSTER), *in = malloc(RING_BUSTER);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct rma_req req[3];
        const size_t cells = sizes[k] / 8;
        struct rma_op put_op = i64_op(out, NULL, target, 0, cells, ACC_OP_NONE);
        struct rma_op add_op = i64_op(out, NULL, target, 0, cells, ACC_SUM);
        struct rma_op get_op = i64_op(NULL, in, target, 0, cells, ACC_OP_NONE);
        for (size_t i = 0; i < cells; i++)
            out[i] = (int64_t)(i * (k + 1)) + p->rank;
        OK(rma_lock(w, true, target, 0));
        for (int i = 0; i < 3; i++)
            rma_req_init(&req[i]);
        put_op.req = &req[0], add_op.req = &req[1], get_op.req = &req[2];
        OK(rma_put(w, &put_op));
        finish(p, &req[0]);
        OK(rma_flush(w, target));
        OK(rma_accumulate(w, &add_op));
        finish(p, &req[1]);
        OK(rma_flush(w, target));
        OK(rma_get(w, &get_op));
        finish(p, &req[2]);
        for (size_t i = 0; i < cells; i++)
            FABRIC_CHECK(in[i] == 2 * out[i]);
        get_op.op = ACC_PROD; /* now the fetching accumulate */
        get_op.oaddr = out;
        rma_req_init(&req[2]);
        OK(rma_get_accumulate(w, &get_op));
        finish(p, &req[2]);
        OK(rma_unlock(w, target));
        for (size_t i = 0; i < cells; i++)
            FABRIC_CHECK(in[i] == 2 * out[i]);
        rest(p);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_requests(void **state)
{
    (void)state;
    run_all(2, 0, requests, NULL);
    run_all(3, 0, requests, NULL);
}

/* Counters by fetch_and_op and compare_and_swap from all, direct and by packet. */
static void atomics(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 80 };
    const int n = p->fabric->opts.nproc;
    const int64_t one = 1;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 32, 1);
    int64_t *mine = *win_base_attr(w), last = -1;
    OK(rma_lock_all(w, 0));
    for (int round = 0; round < ROUNDS; round++) {
        int64_t old = 0, seen = 0, next;
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_flush(w, 0));
        FABRIC_CHECK(old > last && old < (int64_t)n * ROUNDS);
        last = old;
        do {
            next = seen + 1;
            old = seen;
            cas(w, n - 1, 8, &old, &next, &seen);
            OK(rma_flush(w, n - 1));
        } while (seen != old);
    }
    OK(rma_unlock_all(w));
    rest(p);
    FABRIC_CHECK(p->rank != 0 || mine[0] == (int64_t)n * ROUNDS);
    FABRIC_CHECK(p->rank != n - 1 || mine[1] == (int64_t)n * ROUNDS);
    fabric_win_free(w);
}

static void test_atomics(void **state)
{
    (void)state;
    run_all(3, 0, atomics, NULL);
    run_all(4, 2, atomics, NULL);
}

/* Many windows at once and one after the other; freed right behind the last use. */
static void windows(struct fabric_proc *p, void *arg)
{
    enum { N = 6, ROUNDS = 15 };
    const int n = p->fabric->opts.nproc, target = (p->rank + 1) % n;
    const int64_t one = 1;
    struct win *w[N];
    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            w[i] = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
        for (int i = 0; i < N; i++) {
            OK(rma_lock(w[i], i & 1, target, i == 3 ? RMA_NOCHECK : 0));
            add(w[i], target, 0, &one, 1);
        }
        for (int i = N - 1; i >= 0; i--)
            OK(rma_unlock(w[i], target));
        for (int i = 0; i < N; i++) {
            const int k = (i * 5 + round) % N;
            FABRIC_CHECK(win_free_begin(w[k]) == MRMA_SUCCESS);
            FABRIC_CHECK(**(int64_t **)win_base_attr(w[k]) == 1);
            win_free_end(w[k]);
        }
    }
}

static void test_windows(void **state)
{
    (void)state;
    run_all(3, 0, windows, NULL);
}

/* Load and store under the lock: MPI_Win_allocate_shared, synchronized by packets. */
static void shared_window(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 100 };
    const int n = p->fabric->opts.nproc;
    uint64_t size;
    uint32_t unit;
    void *at;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE_SHARED, NULL, 64, 1);
    OK(win_shared_query(w, 0, &size, &unit, &at));
    int64_t *cell = at;
    for (int round = 0; round < ROUNDS; round++) {
        OK(rma_lock(w, true, 0, 0));
        *cell += 1;
        OK(rma_unlock(w, 0));
    }
    rest(p);
    FABRIC_CHECK(*cell == (int64_t)n * ROUNDS);
    fabric_win_free(w);
}

static void test_shared_window(void **state)
{
    (void)state;
    run_all(3, 0, shared_window, NULL);
}

/* An argument picks tests by name, with wildcards. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_small),     cmocka_unit_test(test_fence_large),
        cmocka_unit_test(test_fence_and_go),    cmocka_unit_test(test_fence_many),
        cmocka_unit_test(test_fence_ahead),     cmocka_unit_test(test_fence_then_lock),
        cmocka_unit_test(test_pscw),            cmocka_unit_test(test_pscw_ahead),
        cmocka_unit_test(test_complete_and_go), cmocka_unit_test(test_lock_counter),
        cmocka_unit_test(test_lock_readers),    cmocka_unit_test(test_lock_long_get),
        cmocka_unit_test(test_idle_target),     cmocka_unit_test(test_answer_and_go),
        cmocka_unit_test(test_ordered),         cmocka_unit_test(test_requests),
        cmocka_unit_test(test_atomics),         cmocka_unit_test(test_windows),
        cmocka_unit_test(test_shared_window),
    };
    pkt_types_init();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
