/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_region_keys.c - operations without packets on regions of dynamic windows (target/attach.c,
 * origin/region_keys.c), over a channel whose puts and gets take many polls, and which ends the
 * test when one of them is carried out by a key whose registration has ended, or outside of it.
 *
 * Messages are counted by type: what the first operation on a region costs more than the others,
 * and what MPI_Win_detach costs.
 */
#include "rma/origin/origin_impl.h"
#include "test/support/pkt_craft.h"
#include "test/support/pkt_run.h"

#include <stdlib.h>

#include "base/list.h"
#include "rma/origin/region_keys.h"

enum { NPROC = 3, PART = 256, UNDER_WAY = 8, POLLS = 60, KEYS = 64, ROUNDS = 6 };

struct ch3_mem {
    bool live;
    uint64_t key;
    char *base;
    size_t len;
};

/* All registrations of all processes; a key is its index and a number that grows. */
static struct ch3_mem mems[KEYS];
static uint64_t last_key;
static pthread_mutex_t mems_lock = PTHREAD_MUTEX_INITIALIZER;

struct fake_op {
    struct ch3_rdma *op;
    unsigned left; /* polls */
};

static struct fake {
    struct ch3_channel_ops ops;
    const struct ch3_channel_ops *below;
    struct fake_op under_way[UNDER_WAY];
    _Atomic unsigned n;
    unsigned puts, gets, registers; /* registers: so many more; then it fails */
} fakes[NPROC];

static struct fake *fake_of(struct ch3_channel *ch)
{
    return &fakes[LIST_ENTRY(ch, struct fabric_proc, channel)->rank];
}

static int fake_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                         struct ch3_mem **out)
{
    struct fake *f = fake_of(ch);
    if (!f->registers)
        return MRMA_ERR_NO_MEM;
    f->registers--;
    pthread_mutex_lock(&mems_lock);
    unsigned i = 0;
    while (mems[i].live)
        FABRIC_CHECK(++i < KEYS);
    mems[i] = (struct ch3_mem){true, ++last_key, base, len};
    *key = (struct ch3_mem_key){last_key, 0}; /* addressed from the beginning of the region */
    *out = &mems[i];
    pthread_mutex_unlock(&mems_lock);
    return MRMA_SUCCESS;
}

static void fake_release(struct ch3_channel *ch, struct ch3_mem *mem)
{
    (void)ch;
    pthread_mutex_lock(&mems_lock);
    FABRIC_CHECK(mem->live);
    mem->live = false;
    pthread_mutex_unlock(&mems_lock);
}

static void move(const struct ch3_rdma *op)
{
    pthread_mutex_lock(&mems_lock);
    unsigned i = 0;
    while (i < KEYS && !(mems[i].live && mems[i].key == op->key))
        i++;
    FABRIC_CHECK(i < KEYS); /* else the registration has ended */
    FABRIC_CHECK(op->remote <= mems[i].len && op->len <= mems[i].len - op->remote);
    char *remote = mems[i].base + op->remote;
    memcpy(op->put ? remote : op->local, op->put ? op->local : remote, op->len);
    pthread_mutex_unlock(&mems_lock);
}

static int fake_rdma(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op)
{
    struct fake *f = fake_of(ch);
    (void)vc;
    if (f->n == UNDER_WAY)
        return MRMA_AGAIN;
    *(op->put ? &f->puts : &f->gets) += 1;
    f->under_way[f->n] = (struct fake_op){op, POLLS};
    atomic_fetch_add(&f->n, 1);
    return MRMA_SUCCESS;
}

static unsigned fake_poll(struct ch3_channel *ch)
{
    struct fake *f = fake_of(ch);
    unsigned moved = f->below->poll(ch);
    for (unsigned i = 0; i < f->n;) {
        struct ch3_rdma *op = f->under_way[i].op;
        if (--f->under_way[i].left) {
            i++;
            continue;
        }
        move(op);
        atomic_fetch_sub(&f->n, 1);
        f->under_way[i] = f->under_way[f->n];
        op->done(op, MRMA_SUCCESS);
        moved++;
    }
    return moved;
}

static bool fake_pending(struct ch3_channel *ch)
{
    struct fake *f = fake_of(ch);
    return f->n || f->below->pending(ch);
}

static int fake_net_open(void *ctx, struct boot *boot, const struct rma_procs *procs, bool complete,
                         struct rma_net_mem *mine, struct rma_net_keys *keys)
{
    struct fabric_proc *p = ctx;
    struct rma_net_key key = {.vaddr = (uint64_t)(uintptr_t)mine->base};
    (void)procs;
    FABRIC_CHECK(complete);
    FABRIC_CHECK(fake_register(&p->channel, mine->base, mine->len, &key.mem, &mine->mem) == 0);
    mine->channel = &p->channel;
    keys->set = true;
    return boot->allgather(boot, &key, keys->keys, sizeof key);
}

static void fake_init(struct fabric_proc *p, unsigned registers)
{
    struct fake *f = &fakes[p->rank];
    *f = (struct fake){.ops = *p->channel.ops, .below = p->channel.ops, .registers = registers};
    f->ops.rdma = fake_rdma;
    f->ops.mem_register = fake_register;
    f->ops.mem_release = fake_release;
    f->ops.poll = fake_poll;
    f->ops.pending = fake_pending;
    p->channel.ops = &f->ops;
    p->channel.caps |= CH3_CAP_RDMA;
    p->channel.rdma = (struct ch3_rdma_limits){.by = CH3_RDMA_CARD, .max = 100000, .depth = 64};
    p->env.net_open = fake_net_open;
    p->env.net_room = 1;
}

/* ---- runs ---- */

static unsigned char memory[NPROC][2 * PART];

static int next(const struct fabric_proc *p)
{
    return (p->rank + 1) % NPROC;
}
static int before(const struct fabric_proc *p)
{
    return (p->rank + NPROC - 1) % NPROC;
}

static int64_t at(int rank, int offset)
{
    return (int64_t)(uintptr_t)(memory[rank] + offset);
}

static uint64_t sent(struct fabric_proc *p, enum pkt_type type)
{
    return counters(p).by_type[type];
}

/* registers: of each process, so many, one of which the window takes. */
static struct fabric *run_regions(void (*body)(struct fabric_proc *p, void *arg),
                                  enum conf_progress progress, unsigned registers, bool quiet)
{
    fabric_watchdog(120);
    struct fabric *f = fabric_new(&(struct fabric_opts){
        .nproc = NPROC, .path = CONF_PATH_NET_PACKETS, .quiet = quiet, .progress = progress});
    for (int r = 0; r < NPROC; r++)
        fake_init(&f->procs[r], registers);
    memset(memory, 0, sizeof memory);
    atomic_store(&pkt_arrived, 0);
    fabric_run(f, body, NULL);
    for (int i = 0; i < KEYS; i++)
        assert_false(mems[i].live);
    return f;
}

static void end_run(struct fabric *f)
{
    fabric_free(f);
    fabric_watchdog(0);
}

/* In each round a region that overlaps with those before it, in another place, is used by the left
 * neighbour: put, put, get, each with a flush. */
static void in_turns(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_DYNAMIC, NULL, 0, 1);
    unsigned char in[PART], out[PART];
    (void)arg;
    OK(rma_lock_all(w, 0));
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *mine = memory[p->rank] + 8 * round;
        const int64_t its = at(next(p), 8 * round);
        OK(win_attach(w, mine, PART));
        rest(p);
        for (unsigned i = 0; i < 2; i++) {
            fill(out, PART, 10 * (unsigned)round + i + (unsigned)p->rank);
            put(w, next(p), its, out, PART);
            OK(rma_flush(w, next(p), false));
        }
        get(w, next(p), its, in, PART);
        OK(rma_flush(w, next(p), false));
        check_filled(in, PART, 10 * (unsigned)round + 1 + (unsigned)p->rank);
        rest(p);
        check_filled(mine, PART, 10 * (unsigned)round + 1 + (unsigned)before(p));
        OK(win_detach(w, mine));
        memset(memory[p->rank], 0, 2 * PART);
    }
    OK(rma_unlock_all(w));
    fabric_win_free(w);
}

/* The first put on a region goes by packet, and the question beside it; what follows are puts and
 * gets alone. A detach asks who has the key, and gets an answer. */
static void test_counts(void **state)
{
    (void)state;
    struct fabric *f = run_regions(in_turns, CONF_PROGRESS_AGENT, KEYS, false);
    for (int r = 0; r < NPROC; r++) {
        struct fabric_proc *p = &f->procs[r];
        assert_int_equal(fakes[r].puts, ROUNDS);
        assert_int_equal(fakes[r].gets, ROUNDS);
        assert_int_equal(sent(p, PKT_REGION_ASK), ROUNDS);
        assert_int_equal(sent(p, PKT_REGION), ROUNDS);
        assert_int_equal(sent(p, PKT_REGION_GONE), ROUNDS);
        assert_int_equal(sent(p, PKT_REGION_LEFT), ROUNDS);
        assert_int_equal(p->rma.stats.regions_registered, ROUNDS);
        assert_int_equal(p->rma.stats.regions_asked, ROUNDS);
        assert_int_equal(sent(p, PKT_OPS), ROUNDS + 1); /* and the unlock */
        assert_int_equal(refused(p), 0);
    }
    end_run(f);
}

/* Who has no agent could not be told while it is elsewhere, and does not ask. */
static void test_no_agent(void **state)
{
    (void)state;
    struct fabric *f = run_regions(in_turns, CONF_PROGRESS_POLL, KEYS, false);
    for (int r = 0; r < NPROC; r++) {
        assert_int_equal(fakes[r].puts + fakes[r].gets, 0);
        assert_int_equal(sent(&f->procs[r], PKT_REGION_ASK), 0);
        assert_int_equal(refused(&f->procs[r]), 0);
    }
    end_run(f);
}

/* Regions that cannot be registered are reached by packets, and asked for once. */
static void test_unregistered(void **state)
{
    (void)state;
    struct fabric *f = run_regions(in_turns, CONF_PROGRESS_AGENT, 3, false);
    for (int r = 0; r < NPROC; r++) {
        struct fabric_proc *p = &f->procs[r];
        assert_int_equal(fakes[r].puts, 2);
        assert_int_equal(fakes[r].gets, 2);
        assert_int_equal(p->rma.stats.regions_registered, 2);
        assert_int_equal(p->rma.stats.regions_unregistered, ROUNDS - 2);
        assert_int_equal(p->rma.stats.regions_asked, ROUNDS);
        assert_int_equal(refused(p), 0);
    }
    end_run(f);
}

/* A put is under way when its target detaches the region, which is an error of the program. It has
 * ended when the detach returns, and nothing is written behind that, though the origin does not
 * call the library. What is put later is refused. */
static void detach_too_early(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_DYNAMIC, NULL, 0, 1);
    unsigned char out[PART];
    (void)arg;
    if (p->rank == 0)
        OK(win_attach(w, memory[0], PART));
    fabric_barrier(p);
    for (int round = 0; round < 20; round++) {
        if (p->rank) { /* half of the region each */
            fill(out, PART / 2, (unsigned)p->rank);
            OK(rma_lock_all(w, 0));
            for (int i = 0; i < 4; i++) {
                put(w, 0, at(0, (p->rank - 1) * PART / 2), out, PART / 2);
                if (i < 2)
                    OK(rma_flush(w, 0, false));
            }
        }
        fabric_barrier(p);
        if (p->rank == 0) {
            memset(memory[0], 0, PART);
            OK(win_detach(w, memory[0]));
            memset(memory[0], 0, PART);
        }
        fabric_barrier(p);
        for (int i = 0; p->rank && i < 2; i++) {
            struct rma_op op = byte_op(out, NULL, 0, at(0, 0), PART / 2);
            OK(rma_put(w, &op));
            FABRIC_CHECK(rma_flush(w, 0, false) == MRMA_ERR_RMA_RANGE);
        }
        if (p->rank)
            OK(rma_unlock_all(w));
        fabric_barrier(p);
        for (int i = 0; p->rank == 0 && i < PART; i++)
            FABRIC_CHECK(memory[0][i] == 0);
        if (p->rank == 0)
            OK(win_attach(w, memory[0], PART));
        fabric_barrier(p);
    }
    fabric_win_free(w);
}

static void test_detach_too_early(void **state)
{
    (void)state;
    struct fabric *f = run_regions(detach_too_early, CONF_PROGRESS_AGENT, KEYS, true);
    assert_true(fakes[1].puts >= 20 * 3 && fakes[2].puts >= 20 * 3);
    end_run(f);
}

/* One of two who know a region dies. The detach ends with an error, the registration with it, and
 * later ones need not wait for the dead. */
static void holder_dies(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_DYNAMIC, NULL, 0, 1);
    unsigned char in[PART];
    (void)arg;
    if (p->rank == 0) {
        OK(win_attach(w, memory[0], PART));
        OK(win_attach(w, memory[0] + PART, PART));
    }
    fabric_barrier(p);
    for (int i = 0; p->rank && i < 2; i++) {
        OK(rma_lock(w, false, 0, 0));
        get(w, 0, at(0, i * PART), in, PART);
        OK(rma_flush(w, 0, false));
        get(w, 0, at(0, i * PART), in, PART);
        OK(rma_unlock(w, 0));
    }
    fabric_barrier(p);
    if (p->rank == 1)
        fabric_kill(p);
    fabric_barrier(p);
    for (int i = 0; p->rank == 0 && i < 2; i++)
        FABRIC_CHECK(win_detach(w, memory[0] + i * PART) ==
                     (i ? MRMA_SUCCESS : MRMA_ERR_PROC_FAILED));
    for (int i = 0; p->rank == 0 && i < KEYS; i++)
        FABRIC_CHECK(!(mems[i].live && mems[i].len == PART));
    fabric_barrier(p);
    win_free_end(w);
}

static void test_holder_dies(void **state)
{
    (void)state;
    struct fabric *f = run_regions(holder_dies, CONF_PROGRESS_AGENT, KEYS, true);
    assert_int_equal(sent(&f->procs[0], PKT_REGION), 4);
    assert_int_equal(sent(&f->procs[2], PKT_REGION_LEFT), 2);
    end_run(f);
}

/* ---- packets that are not due ---- */

enum { LENGTH = 64 };

static unsigned char area[NPROC][LENGTH];

static int craft_begins(void **state)
{
    (void)state;
    craft_setup(NPROC, 0, (struct craft_window){area[0], LENGTH, LENGTH, 1});
    return 0;
}

static void end_window(struct fabric_proc *p, void *arg)
{
    (void)arg;
    fabric_win_free(win[p->rank]);
}

static int craft_ends(void **state)
{
    (void)state;
    craft_teardown(end_window);
    return 0;
}

/* From process 0 to process 1. body: of so many bytes. Returns whether it was refused there. */
static bool is_refused(struct pkt_hdr hdr, const void *body, size_t len)
{
    struct craft c;
    const uint64_t before = refused(&fabric->procs[1]);
    craft_begin(&c, (enum pkt_type)hdr.type, win[1], 0);
    craft_hdr(&c)->seq = hdr.seq;
    craft_hdr(&c)->count = hdr.count;
    craft_hdr(&c)->offset = hdr.offset;
    craft_append(&c, body, len);
    craft_send(fabric, 0, 1, &c);
    return refused(&fabric->procs[1]) != before;
}

/* Process 1 is as if it had asked process 0 for a region. */
static struct origin_pair *asks(void)
{
    struct origin_pair *pair = origin_pair_get(win[1], win_peek(win[1], 0));
    assert_non_null(pair);
    pair->asking = true;
    return pair;
}

/* Answers and words that nobody has asked for are refused, and so are answers that are wrong in
 * themselves; what is asked is answered whoever asks. */
static void test_not_due(void **state)
{
    static const struct pkt_hdr region = {.type = PKT_REGION, .seq = 7, .count = 1},
                                none = {.type = PKT_REGION},
                                left = {.type = PKT_REGION_LEFT, .seq = 7},
                                gone = {.type = PKT_REGION_GONE, .seq = 7, .offset = 4096},
                                ask = {.type = PKT_REGION_ASK, .offset = 4096};
    static const struct pkt_region sound = {4096, 100, 1, 2}, empty = {4096, 0, 1, 2},
                                   endless = {4096, UINT64_MAX, 1, 2}, over = {4000, 97, 1, 2};
    (void)state;
    assert_true(is_refused(region, &sound, sizeof sound)); /* no pair yet */
    struct origin_pair *pair = asks();
    pair->asking = false;
    assert_true(is_refused(region, &sound, sizeof sound));
    assert_true(is_refused(left, NULL, 0));
    struct fabric_proc *p = &fabric->procs[1];
    assert_false(is_refused(ask, NULL, 0)); /* nothing is attached there */
    assert_int_equal(sent(p, PKT_REGION), 1);
    assert_false(is_refused(gone, NULL, 0)); /* it is not known here */
    assert_int_equal(sent(p, PKT_REGION_LEFT), 1);

    asks();
    assert_true(is_refused(region, &sound, sizeof sound - 8));
    asks();
    assert_true(is_refused(region, &empty, sizeof empty));
    asks();
    assert_true(is_refused(region, &endless, sizeof endless));
    asks();
    assert_false(is_refused(none, NULL, 0));
    assert_false(pair->asking);
    assert_null(origin_key_at(pair, 4096, 1));
    asks();
    assert_false(is_refused(region, &sound, sizeof sound));
    assert_false(pair->asking);
    asks();
    assert_true(is_refused(region, &over, sizeof over));

    const struct origin_key *key = origin_key_at(pair, 4096, 100);
    assert_non_null(key);
    assert_ptr_equal(origin_key_at(pair, 4195, 1), key);
    assert_null(origin_key_at(pair, 4096, 101));
    assert_null(origin_key_at(pair, 4196, 1));
    assert_null(origin_key_at(pair, 4095, 2));
    assert_false(is_refused(gone, NULL, 0));
    assert_null(origin_key_at(pair, 4096, 1));
    assert_int_equal(sent(p, PKT_REGION_LEFT), 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_no_agent),
        cmocka_unit_test(test_unregistered),
        cmocka_unit_test(test_detach_too_early),
        cmocka_unit_test(test_holder_dies),
        cmocka_unit_test_setup_teardown(test_not_due, craft_begins, craft_ends),
    };
    RUN_TESTS("region_keys", tests);
}
