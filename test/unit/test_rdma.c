/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rdma.c - puts and gets by the channel itself (rma/origin/rdma.c), over a
 * channel that takes its time.
 *
 * The channel is the fabric's with puts and gets of its own: one is done only many
 * polls later, and often there is no room to start one. A put's data is in place
 * when it is done, or (RDMA_ORDERED) no earlier than the next packet to that peer; a get reads the
 * target's memory when it is done. So what ends an epoch too early is seen by the target
 * as missing data, or by the origin as what the target has stored since. A card's puts may be
 * injected, and where nothing but a get behind a put tells that its data is in place, it is not in
 * place before that, or before a packet.
 */
#include "pkt_run.h"

#include "base/list.h"

enum {
    RDMA_MIN = 1000,
    UNDER_WAY = 4,
    INJECT = 64,
    UNPLACED = 64,
    PUT_POLLS = 300,
    GET_POLLS = 10,
    NPROC = 4,
    PART = 6000,
    ROUNDS = 5
};

struct fake_op {
    struct ch3_rdma *op;
    struct ch3_vc *vc;
    unsigned left; /* polls */
    bool moved;
    unsigned char copy[INJECT]; /* of what was injected */
};

/* A put that is done, and whose data is not in place. */
struct unplaced {
    struct ch3_vc *vc;
    uint64_t remote;
    size_t len;
    unsigned char bytes[INJECT];
};

static struct fake {
    struct ch3_channel_ops ops;
    const struct ch3_channel_ops *below;
    struct fake_op under_way[UNDER_WAY];
    _Atomic unsigned n;
    unsigned puts, gets, registered;
    struct unplaced unplaced[UNPLACED];
    unsigned nunplaced;
    unsigned refuses; /* 1 + how many it takes before it refuses one; 0: takes all */
    int refusal;      /* with this error */
} fakes[FABRIC_MAX];

static struct fake *fake_of(struct ch3_channel *ch)
{
    return &fakes[LIST_ENTRY(ch, struct fabric_proc, channel)->rank];
}

static void move(struct fake_op *fo)
{
    const struct ch3_rdma *op = fo->op;
    void *remote = (void *)(uintptr_t)op->remote;
    if (fo->moved)
        return;
    fo->moved = true;
    if (op->put)
        memcpy(remote, fo->vc->channel->rdma.inject >= op->len ? fo->copy : op->local, op->len);
    else
        memcpy(op->local, remote, op->len);
}

/* What was put to a peer and done is in place. */
static void place(struct fake *f, const struct ch3_vc *vc)
{
    for (unsigned i = 0; i < f->nunplaced;) {
        const struct unplaced *u = &f->unplaced[i];
        if (u->vc != vc) {
            i++;
            continue;
        }
        memcpy((void *)(uintptr_t)u->remote, u->bytes, u->len);
        memmove(&f->unplaced[i], &f->unplaced[i + 1], (--f->nunplaced - i) * sizeof *u);
    }
}

static void place_later(struct fake *f, const struct fake_op *fo)
{
    FABRIC_CHECK(f->nunplaced < UNPLACED && fo->op->len <= INJECT);
    struct unplaced *u = &f->unplaced[f->nunplaced++];
    *u = (struct unplaced){.vc = fo->vc, .remote = fo->op->remote, .len = fo->op->len};
    memcpy(u->bytes, fo->copy, u->len);
}

/* The puts to a peer are in front of a packet to it. */
static void fake_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fake *f = fake_of(ch);
    place(f, vc);
    for (unsigned i = 0; ch->caps & CH3_CAP_RDMA_ORDERED && i < f->n; i++)
        if (f->under_way[i].vc == vc && f->under_way[i].op->put)
            move(&f->under_way[i]);
    f->below->commit(ch, vc, len);
}

static int fake_rdma(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op)
{
    struct fake *f = fake_of(ch);
    FABRIC_CHECK(op->key == 4711 && op->len && op->len <= ch->rdma.max);
    if (f->n == UNDER_WAY)
        return MRMA_AGAIN;
    if (f->refuses && !--f->refuses)
        return f->refusal;
    *(op->put ? &f->puts : &f->gets) += 1;
    f->under_way[f->n] =
        (struct fake_op){.op = op, .vc = vc, .left = op->put ? PUT_POLLS : GET_POLLS};
    if (op->put && op->len <= ch->rdma.inject)
        memcpy(f->under_way[f->n].copy, op->local, op->len);
    atomic_fetch_add(&f->n, 1);
    return MRMA_SUCCESS;
}

static unsigned fake_poll(struct ch3_channel *ch)
{
    struct fake *f = fake_of(ch);
    unsigned moved = f->below->poll(ch);
    for (unsigned i = 0; i < f->n;) {
        struct ch3_rdma *op = f->under_way[i].op;
        const bool lost = ch3_vc_is_lost(f->under_way[i].vc);
        if (--f->under_way[i].left) {
            i++;
            continue;
        }
        if (op->behind) /* the puts before it that are not done are in front of it */
            for (unsigned k = 0; k < f->n; k++)
                if (f->under_way[k].vc == f->under_way[i].vc && f->under_way[k].op->put)
                    move(&f->under_way[k]);
        if (op->behind)
            place(f, f->under_way[i].vc);
        if (op->put && ch->caps & CH3_CAP_RDMA_READ_BEHIND && !f->under_way[i].moved)
            place_later(f, &f->under_way[i]);
        else if (!lost)
            move(&f->under_way[i]);
        atomic_fetch_sub(&f->n, 1);
        f->under_way[i] = f->under_way[f->n];
        op->done(op, lost ? MRMA_ERR_PROC_FAILED : MRMA_SUCCESS);
        moved++;
    }
    return moved;
}

static bool fake_pending(struct ch3_channel *ch)
{
    struct fake *f = fake_of(ch);
    return f->n || f->below->pending(ch);
}

static void fake_release(struct ch3_channel *ch, struct ch3_mem *mem)
{
    (void)mem;
    fake_of(ch)->registered--;
}

static int fake_net_open(void *ctx, struct boot *boot, const struct rma_procs *procs, bool complete,
                         struct rma_net_mem *mine, struct rma_net_keys *keys)
{
    struct fabric_proc *p = ctx;
    const uint64_t vaddr = mine->len ? (uint64_t)(uintptr_t)mine->base : 0;
    struct rma_net_key key = {{4711, vaddr}, vaddr, mine->words, 0};
    (void)procs;
    FABRIC_CHECK(complete);
    if (mine->len) {
        mine->channel = &p->channel;
        fakes[p->rank].registered++;
    }
    keys->set = true;
    return boot->allgather(boot, &key, keys->keys, sizeof key);
}

static void fake_init(struct fabric_proc *p, bool ordered)
{
    struct fake *f = &fakes[p->rank];
    *f = (struct fake){.ops = *p->channel.ops, .below = p->channel.ops};
    f->ops.rdma = fake_rdma;
    f->ops.mem_release = fake_release;
    f->ops.commit = fake_commit;
    f->ops.poll = fake_poll;
    f->ops.pending = fake_pending;
    p->channel.ops = &f->ops;
    p->channel.caps |= CH3_CAP_RDMA | (ordered ? CH3_CAP_RDMA_ORDERED : 0);
    p->channel.rdma = (struct ch3_rdma_limits){.by = CH3_RDMA_STREAM, .max = 3500, .depth = 64};
    p->conf.rdma_min = p->conf.rdma_min_passive = RDMA_MIN;
    p->env.net_open = fake_net_open;
    p->env.net_room = 1;
}

/* puts, gets: what each process must have done without packets. */
static void run(void (*body)(struct fabric_proc *p, void *arg), void *arg, enum conf_fence fence,
                unsigned puts, unsigned gets)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool ordered = i & 1, agent = i & 2;
        fabric_watchdog(120);
        struct fabric *f = fabric_new(
            &(struct fabric_opts){.nproc = NPROC,
                                  .path = CONF_PATH_NET_PACKETS,
                                  .fence = fence,
                                  .progress = agent ? CONF_PROGRESS_AGENT : CONF_PROGRESS_POLL});
        for (int r = 0; r < NPROC; r++)
            fake_init(&f->procs[r], ordered);
        atomic_store(&pkt_arrived, 0);
        fabric_run(f, body, arg);
        for (int r = 0; r < NPROC; r++) {
            assert_int_equal(fakes[r].puts, puts);
            assert_int_equal(fakes[r].gets, gets);
            assert_int_equal(fakes[r].registered, 0);
            assert_int_equal(refused(&f->procs[r]), 0);
        }
        fabric_free(f);
        fabric_watchdog(0);
    }
}

static int next(const struct fabric_proc *p)
{
    return (p->rank + 1) % NPROC;
}
static int before(const struct fabric_proc *p)
{
    return (p->rank + NPROC - 1) % NPROC;
}

static void by_fence(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        fill(mine + PART, n, 50 + round + (unsigned)p->rank);
        OK(rma_fence(w, 0));
        get(w, next(p), PART, in, n);
        put(w, before(p), 8, out, n); /* counts go there by way of others */
        OK(rma_fence(w, RMA_NOSUCCEED));
        check_filled(mine + 8, n, round + (unsigned)next(p));
        memset(mine + PART, 0, n);
        check_filled(in, n, 50 + round + (unsigned)next(p));
    }
    fabric_win_free(w);
}

static void by_pscw(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    const int to = next(p), from = before(p);
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        fill(mine + PART, n, 50 + round + (unsigned)p->rank);
        OK(rma_post(w, &from, 1, 0));
        OK(rma_start(w, &to, 1, 0));
        get(w, to, PART, in, n);
        put(w, to, 8, out, n);
        OK(rma_complete(w));
        OK(rma_wait(w));
        check_filled(mine + 8, n, round + (unsigned)from);
        memset(mine + PART, 0, n);
        check_filled(in, n, 50 + round + (unsigned)to);
    }
    fabric_win_free(w);
}

/* All others take turns on rank 1's memory and count: none may be lost. */
static void by_lock(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    const int target = p->rank == 1 ? 2 : 1;
    memset(*win_base_attr(w), 0, PART);
    rest(p);
    for (int round = 0; round < ROUNDS; round++) {
        OK(rma_lock(w, true, target, 0));
        get(w, target, 8, in, n);
        OK(round % 2 ? rma_flush(w, target, false) : rma_flush(w, target, true));
        for (size_t i = 1; i < n; i++)
            FABRIC_CHECK(in[i] == in[0]);
        memset(out, in[0] + 1, n);
        put(w, target, 8, out, n);
        OK(rma_unlock(w, target));
        memset(out, 255, n);
    }
    rest(p);
    const int turns = p->rank == 1 ? (NPROC - 1) * ROUNDS : p->rank == 2 ? ROUNDS : 0;
    FABRIC_CHECK(((unsigned char *)*win_base_attr(w))[8] == turns);
    fabric_win_free(w);
}

/* A flush and a request mean that the data is in place, a lock_all's end too. */
static void by_lock_all(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        OK(rma_lock_all(w, round == 3 ? RMA_NOCHECK : 0));
        struct rma_req req;
        rma_req_init(&req);
        struct rma_op op = byte_op(out, NULL, next(p), 8, n);
        op.req = round == 1 ? &req : NULL;
        OK(rma_put(w, &op));
        while (!rma_req_done(&req))
            rma_progress(&p->rma);
        if (round != 2)
            OK(rma_flush_all(w, false));
        if (round == 2)
            OK(rma_unlock_all(w));
        rest(p);
        check_filled(mine + 8, n, round + (unsigned)before(p));
        if (round == 2)
            OK(rma_lock_all(w, 0));
        get(w, next(p), 8, in, n);
        OK(rma_unlock_all(w));
        check_filled(in, n, round + (unsigned)p->rank);
        rest(p);
    }
    fabric_win_free(w);
}

/* The second part of an operation with a request cannot be started while the first is under way:
 * the request is not forgotten before that has ended, and tells the error. Where the channel only
 * cannot reach memory of this process all goes by packets, and well. */
static void part_refused(struct fabric_proc *p, void *arg)
{
    const int refusal = *(int *)arg;
    const bool by_packets = refusal == MRMA_ERR_NO_MEM;
    unsigned char out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    fill(out, PART, 5);
    rest(p);
    if (p->rank == 0) {
        struct rma_req req;
        struct rma_op op = byte_op(out, NULL, 1, 0, PART);
        rma_req_init(&req);
        op.req = &req;
        fakes[0].refuses = 2;
        fakes[0].refusal = refusal;
        OK(rma_lock_all(w, RMA_NOCHECK));
        const int err = rma_put(w, &op);
        FABRIC_CHECK(w->origin_side.rdma_ops == 1 && err == MRMA_SUCCESS);
        FABRIC_CHECK(by_packets || !rma_req_done(&req));
        while (!rma_req_done(&req))
            rma_progress_requests(&p->rma);
        FABRIC_CHECK(atomic_load(&req.err) == (by_packets ? MRMA_SUCCESS : refusal));
        OK(rma_unlock_all(w));
        FABRIC_CHECK(w->origin_side.rdma_ops == 0);
    }
    rest(p);
    if (by_packets && p->rank == 1)
        check_filled(*win_base_attr(w), PART, 5);
    fabric_win_free(w);
}

static void refuse_part(int refusal)
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = NPROC,
                                                        .path = CONF_PATH_NET_PACKETS,
                                                        .quiet = true,
                                                        .progress = CONF_PROGRESS_POLL});
    for (int r = 0; r < NPROC; r++)
        fake_init(&f->procs[r], false);
    atomic_store(&pkt_arrived, 0);
    fabric_run(f, part_refused, &refusal);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_part_refused(void **state)
{
    (void)state;
    refuse_part(MRMA_ERR_OTHER);
}

static void test_memory_refused(void **state)
{
    (void)state;
    refuse_part(MRMA_ERR_NO_MEM);
}

enum { LOST = 1, KEPT = 2 };

/* Puts and gets to two peers are under way when the connection to one of them is lost: what
 * concerns that one ends with an error at once, though the channel says done only later,
 * maybe after the window's end; what concerns the other ends well. */
static void peer_lost(struct fabric_proc *p, void *arg)
{
    const bool window_first = *(bool *)arg;
    unsigned char in[RDMA_MIN], out[RDMA_MIN];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    memset(*win_base_attr(w), 1, 2 * PART);
    rest(p);
    if (p->rank == 0) {
        struct rma_req put_req, get_req;
        struct rma_op op = byte_op(out, NULL, LOST, 8, RDMA_MIN);
        fill(out, RDMA_MIN, 3);
        memset(in, 2, RDMA_MIN);
        rma_req_init(&put_req);
        rma_req_init(&get_req);
        OK(rma_lock_all(w, RMA_NOCHECK));
        put(w, KEPT, 8, out, RDMA_MIN);
        op.req = &put_req;
        OK(rma_put(w, &op));
        op = byte_op(NULL, in, LOST, 8, RDMA_MIN);
        op.req = &get_req;
        OK(rma_get(w, &op));
        rma_enter(&p->rma);
        FABRIC_CHECK(w->origin_side.rdma_ops == 3);
        ch3_vc_lost(&p->peers[LOST].peer.vc);
        FABRIC_CHECK(w->origin_side.rdma_ops == 1 && fakes[0].n == 3);
        rma_leave(&p->rma);
        FABRIC_CHECK(rma_req_done(&put_req) && atomic_load(&put_req.err) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_req_done(&get_req) && atomic_load(&get_req.err) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_flush(w, LOST, false) == MRMA_ERR_PROC_FAILED);
        if (!window_first)
            OK(rma_flush(w, KEPT, false));
        op = byte_op(out, NULL, LOST, 8, RDMA_MIN);
        FABRIC_CHECK(rma_put(w, &op) == MRMA_ERR_PROC_FAILED);
    }
    if (!window_first) {
        fabric_barrier(p);
        for (int i = 0; p->rank == KEPT && i < RDMA_MIN; i++)
            FABRIC_CHECK(((unsigned char *)*win_base_attr(w))[8 + i] ==
                         (unsigned char)(3 * 37 + i * 7 + (i >> 8)));
    }
    fabric_barrier(p);
    if (p->rank == 0 || !window_first)
        win_free_end(w);
    while (p->rank == 0 && fakes[0].n)
        fabric_progress(p);
    for (int i = 0; p->rank == 0 && i < RDMA_MIN; i++)
        FABRIC_CHECK(in[i] == 2);
    fabric_barrier(p);
    if (p->rank && window_first)
        win_free_end(w);
}

static void test_peer_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) { /* an agent would poll, and be done with some before that */
        bool window_first = i & 1;
        fabric_watchdog(60);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = NPROC,
                                                            .path = CONF_PATH_NET_PACKETS,
                                                            .quiet = true,
                                                            .progress = CONF_PROGRESS_POLL});
        for (int r = 0; r < NPROC; r++)
            fake_init(&f->procs[r], i & 2);
        atomic_store(&pkt_arrived, 0);
        fabric_run(f, peer_lost, &window_first);
        assert_int_equal(fakes[0].puts, 2);
        assert_int_equal(fakes[0].gets, 1);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

/* Below the least length, at it, and so long that it takes two. */
static void all_sizes(void (*body)(struct fabric_proc *p, void *arg), enum conf_fence fence)
{
    static const struct {
        size_t n;
        unsigned parts;
    } sizes[] = {{RDMA_MIN - 1, 0}, {RDMA_MIN, 1}, {5000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i].n;
        run(body, &n, fence, ROUNDS * sizes[i].parts, ROUNDS * sizes[i].parts);
    }
}

/* ---- a card ---- */

/* Small ones without packets, between those with: each flush means that all is in place, and what
 * was injected may be overwritten at once. */
static void by_card(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    unsigned char *mine = *win_base_attr(w);
    unsigned char in[INJECT], out[INJECT];
    (void)arg;
    memset(mine, 0, PART);
    rest(p);
    OK(rma_lock_all(w, 0));
    get(w, next(p), 0, in, 1); /* asks for the lock */
    OK(rma_flush(w, next(p), false));
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, INJECT, round + (unsigned)p->rank);
        put(w, next(p), 8, out, INJECT);
        OK(rma_flush(w, next(p), true));
        memset(out, 255, INJECT);
        OK(rma_flush(w, next(p), false));
        rest(p);
        check_filled(mine + 8, INJECT, round + (unsigned)before(p));
        get(w, next(p), 8, in, INJECT);
        OK(rma_flush_all(w, false));
        check_filled(in, INJECT, round + (unsigned)p->rank);
        rest(p);
    }
    fill(out, INJECT, 99);
    put(w, next(p), 8, out, INJECT);
    OK(rma_unlock_all(w));
    rest(p);
    check_filled(mine + 8, INJECT, 99);
    fabric_win_free(w);
}

static void run_card(bool ordered, bool agent, bool behind)
{
    fabric_watchdog(120);
    struct fabric *f = fabric_new(
        &(struct fabric_opts){.nproc = NPROC,
                              .path = CONF_PATH_NET_PACKETS,
                              .progress = agent ? CONF_PROGRESS_AGENT : CONF_PROGRESS_POLL});
    for (int r = 0; r < NPROC; r++) {
        struct fabric_proc *p = &f->procs[r];
        fake_init(p, ordered);
        p->conf.rdma_min = p->conf.rdma_min_passive = CONF_RDMA_TABLE;
        p->channel.rdma.by = CH3_RDMA_CARD;
        p->channel.rdma.inject = INJECT;
        p->channel.caps |= behind ? CH3_CAP_RDMA_READ_BEHIND : 0;
    }
    atomic_store(&pkt_arrived, 0);
    fabric_run(f, by_card, NULL);
    for (int r = 0; r < NPROC; r++) {
        assert_int_equal(fakes[r].puts, ROUNDS + 1);
        assert_int_equal(fakes[r].gets, ROUNDS * (behind ? 2 : 1));
        assert_int_equal(fakes[r].registered, 0);
        assert_int_equal(refused(&f->procs[r]), 0);
    }
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_card(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        run_card(i & 1, i & 2, false);
}

static void test_card_that_is_read_behind(void **state)
{
    (void)state;
    run_card(true, false, true);
    run_card(true, true, true);
}

#define SIZES_TEST(name, body, fence) \
    static void name(void **state)    \
    {                                 \
        (void)state;                  \
        all_sizes(body, fence);       \
    }
SIZES_TEST(test_fence_markers, by_fence, CONF_FENCE_MARKERS)
SIZES_TEST(test_fence_counts, by_fence, CONF_FENCE_COUNTS)
SIZES_TEST(test_pscw, by_pscw, CONF_FENCE_AUTO)
SIZES_TEST(test_lock, by_lock, CONF_FENCE_AUTO)
SIZES_TEST(test_lock_all, by_lock_all, CONF_FENCE_AUTO)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_markers),  cmocka_unit_test(test_fence_counts),
        cmocka_unit_test(test_pscw),           cmocka_unit_test(test_lock),
        cmocka_unit_test(test_lock_all),       cmocka_unit_test(test_part_refused),
        cmocka_unit_test(test_memory_refused), cmocka_unit_test(test_peer_lost),
        cmocka_unit_test(test_card),           cmocka_unit_test(test_card_that_is_read_behind),
    };
    RUN_TESTS("rdma", tests);
}
