/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_messages.c - how many messages each epoch costs, by the library's own
 * counters: one message a target, answers only where somebody waits for them.
 */
#include "test/support/count_packets.h"

/* What each process sends in an epoch, by packet type. */
typedef uint64_t sent[PROCS][PKT_TYPE_LAST];

struct scenario {
    void (*epoch)(struct fabric_proc *p, struct win *w);
    enum conf_fence fence;
    sent expected;
};

static void check_rounds(struct fabric_proc *p, void *arg)
{
    const struct scenario *s = arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 65536, 1);
    OK(rma_fence(w, 0)); /* so that a fence epoch may begin with operations; others may as well */
    for (int round = 0; round < 3; round++) {
        rest(p);
        const struct ch3_stats before = counters(p);
        rest(p);
        s->epoch(p, w);
        rest(p);
        const struct ch3_stats after = counters(p);
        for (int type = 0; type < PKT_TYPE_LAST; type++)
            check_count(p->rank, type, (int)(after.by_type[type] - before.by_type[type]),
                        (int)s->expected[p->rank][type]);
    }
    rest(p); /* MPI_Win_free has messages of its own */
    fabric_win_free(w);
}

static void run(struct scenario s)
{
    run_counted(check_rounds, s.fence, &s);
}

static const unsigned char data[1024];

static void puts_to(struct win *w, int target, int n)
{
    for (int i = 0; i < n; i++)
        put(w, target, i * 16, data, 8);
}

/* ---- PSCW: the puts and the end of the epoch in one packet; posts are told on demand ---- */

static void pscw(struct fabric_proc *p, struct win *w, int asserts)
{
    static const int origin = 0, targets[] = {2, 1};
    if (p->rank == 0) {
        fabric_barrier(p);
        OK(rma_start(w, targets, 2, asserts));
        puts_to(w, 1, 7);
        OK(rma_complete(w));
        return;
    }
    if (p->rank < 3)
        OK(rma_post(w, &origin, 1, asserts));
    fabric_barrier(p); /* with MPI_MODE_NOCHECK the posts must have been made */
    if (p->rank < 3)
        OK(rma_wait(w));
}

static void pscw_checked(struct fabric_proc *p, struct win *w)
{
    pscw(p, w, 0);
}

static void pscw_nocheck(struct fabric_proc *p, struct win *w)
{
    pscw(p, w, RMA_NOCHECK);
}

/* Two strips of 16 KiB to a neighbour, as in a halo exchange: one packet with the end of the epoch.
 */
static void pscw_strips(struct fabric_proc *p, struct win *w)
{
    static unsigned char strip[16384];
    const int peer = p->rank ^ 1;
    OK(rma_post(w, &peer, 1, 0));
    OK(rma_start(w, &peer, 1, 0));
    put(w, peer, 0, strip, sizeof strip);
    put(w, peer, sizeof strip, strip, sizeof strip);
    OK(rma_complete(w));
    OK(rma_wait(w));
}

static void test_pscw(void **state)
{
    (void)state;
    run((struct scenario){pscw_strips,
                          CONF_FENCE_AUTO,
                          {{[PKT_OPS] = 1}, {[PKT_OPS] = 1}, {[PKT_OPS] = 1}, {[PKT_OPS] = 1}}});
    run((struct scenario){pscw_checked, CONF_FENCE_AUTO, {{[PKT_OPS] = 2}}});
    run((struct scenario){pscw_nocheck, CONF_FENCE_AUTO, {{[PKT_OPS] = 2}}});
}

/* ---- locks ---- */

static void lock_puts(struct fabric_proc *p, struct win *w)
{
    if (p->rank)
        return;
    OK(rma_lock(w, true, 1, 0));
    puts_to(w, 1, 100);
    OK(rma_unlock(w, 1));
}

/* The replies leave behind the put, and so acknowledge the unlock. */
static void lock_get(struct fabric_proc *p, struct win *w)
{
    unsigned char in[64];
    int64_t one = 1, old;
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, 0));
    get(w, 1, 0, in, 64);
    fetch_add(w, 1, 0, &one, &old, 1);
    put(w, 1, 8, data, 8);
    OK(rma_unlock(w, 1));
}

/* Short replies leave together, and the last one acknowledges the unlock. */
static void lock_many(struct fabric_proc *p, struct win *w)
{
    unsigned char in[64];
    int64_t one = 1, old;
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, 0));
    for (int i = 0; i < 30; i++) {
        get(w, 1, 0, in, 64);
        fetch_add(w, 1, 0, &one, &old, 1);
    }
    OK(rma_unlock(w, 1));
}

/* A longer one goes by itself, behind those before it. */
static void lock_mixed(struct fabric_proc *p, struct win *w)
{
    unsigned char in[3][2056];
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, 0));
    get(w, 1, 0, in[0], 64);
    get(w, 1, 64, in[0] + 64, 64);
    get(w, 1, 0, in[1], 2056);
    get(w, 1, 0, in[2], 64);
    get(w, 1, 64, in[2] + 64, 64);
    OK(rma_unlock(w, 1));
}

/* The reply to the last operation acknowledges the unlock. */
static void lock_fetch(struct fabric_proc *p, struct win *w)
{
    unsigned char in[64];
    int64_t one = 1, old;
    if (p->rank)
        return;
    OK(rma_lock(w, true, 1, 0));
    put(w, 1, 8, data, 8);
    fetch_add(w, 1, 0, &one, &old, 1);
    OK(rma_unlock(w, 1));
    OK(rma_lock(w, false, 1, 0));
    put(w, 1, 8, data, 8);
    get(w, 1, 0, in, 64);
    OK(rma_unlock(w, 1));
}

static void lock_nothing(struct fabric_proc *p, struct win *w)
{
    OK(rma_lock(w, true, (p->rank + 1) % PROCS, 0));
    OK(rma_flush(w, (p->rank + 1) % PROCS, false));
    OK(rma_unlock(w, (p->rank + 1) % PROCS));
    OK(rma_lock(w, false, (p->rank + 1) % PROCS, RMA_NOCHECK));
    OK(rma_unlock(w, (p->rank + 1) % PROCS));
    OK(rma_lock_all(w, 0));
    OK(rma_flush_all(w, false));
    OK(rma_flush_all(w, true));
    OK(rma_unlock_all(w));
}

static void lock_nocheck(struct fabric_proc *p, struct win *w)
{
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, RMA_NOCHECK));
    puts_to(w, 1, 100);
    OK(rma_unlock(w, 1));
}

/* A put that fills a packet takes the lock with it; the next one's end is no packet of its own. */
static void lock_large(struct fabric_proc *p, struct win *w)
{
    static unsigned char large[40000];
    if (p->rank)
        return;
    OK(rma_lock(w, true, 1, 0));
    put(w, 1, 0, large, 17000);
    put(w, 1, 20000, large, 34000);
    OK(rma_unlock(w, 1));
}

/* A second lock while one is held: the first is asked for before, so that locks are
 * acquired in the order of the calls (no deadlock where programs keep one). */
static void lock_nested(struct fabric_proc *p, struct win *w)
{
    if (p->rank)
        return;
    OK(rma_lock(w, true, 1, 0));
    OK(rma_lock(w, true, 2, 0));
    puts_to(w, 1, 5);
    puts_to(w, 2, 5);
    OK(rma_unlock(w, 2));
    OK(rma_unlock(w, 1));
}

static void test_lock(void **state)
{
    (void)state;
    run((struct scenario){lock_puts, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_ACK] = 1}}});
    run((struct scenario){lock_get, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_REPLY] = 1}}});
    run((struct scenario){lock_many, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_REPLY] = 1}}});
    run((struct scenario){lock_mixed, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_REPLY] = 3}}});
    run((struct scenario){lock_fetch, CONF_FENCE_AUTO, {{[PKT_OPS] = 2}, {[PKT_REPLY] = 2}}});
    run((struct scenario){lock_nothing, CONF_FENCE_AUTO, {{0}}});
    run((struct scenario){lock_nocheck, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_ACK] = 1}}});
    run((struct scenario){lock_large, CONF_FENCE_AUTO, {{[PKT_OPS] = 3}, {[PKT_ACK] = 1}}});
    run((struct scenario){lock_nested,
                          CONF_FENCE_AUTO,
                          {{[PKT_OPS] = 3}, {[PKT_OPEN] = 1, [PKT_ACK] = 1}, {[PKT_ACK] = 1}}});
}

/* ---- flushes ---- */

static void flush_all(struct fabric_proc *p, struct win *w)
{
    if (p->rank)
        return;
    OK(rma_lock_all(w, 0));
    for (int target = 1; target < PROCS; target++)
        puts_to(w, target, 20);
    OK(rma_flush_all(w, true)); /* they leave, and nothing is awaited */
    OK(rma_flush_all(w, false));
    OK(rma_flush_all(w, false)); /* nothing since */
    OK(rma_unlock_all(w));
}

static void flush_each(struct fabric_proc *p, struct win *w)
{
    if (p->rank)
        return;
    OK(rma_lock(w, true, 1, 0));
    for (int i = 0; i < 5; i++) {
        puts_to(w, 1, 20);
        OK(rma_flush(w, 1, false));
    }
    OK(rma_unlock(w, 1));
}

/* Local completion of a get needs its answer, but no acknowledgement. */
static void flush_local_get(struct fabric_proc *p, struct win *w)
{
    unsigned char in[64];
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, RMA_NOCHECK));
    get(w, 1, 0, in, 64);
    OK(rma_flush(w, 1, true));
    OK(rma_unlock(w, 1));
}

/* A reply says that the operation is done, that the lock is held, and that what was issued
 * before is done; what was issued behind needs a word of its own. */
static void flush_fetch(struct fabric_proc *p, struct win *w)
{
    unsigned char in[64];
    int64_t one = 1, two = 2, old;
    if (p->rank)
        return;
    OK(rma_lock_all(w, 0));
    fetch_add(w, 1, 0, &one, &old, 1);
    OK(rma_flush(w, 1, false));
    cas(w, 1, 0, &one, &two, &old);
    OK(rma_flush(w, 1, false));
    get(w, 1, 0, in, 64);
    OK(rma_flush_all(w, false));
    OK(rma_flush(w, 1, false)); /* nothing since: 3 requests, 3 replies */
    puts_to(w, 1, 5);
    get(w, 1, 0, in, 64);
    OK(rma_flush(w, 1, true));
    OK(rma_flush(w, 1, false)); /* the reply proves the puts: 1 and 1 */
    get(w, 1, 0, in, 64);
    puts_to(w, 1, 5);
    OK(rma_flush(w, 1, true));
    OK(rma_flush(w, 1, false)); /* not these: 2, a reply and an acknowledgement */
    OK(rma_unlock_all(w));
}

/* A flush that is asked for in the packet of a last operation with a reply is answered by it. */
static void flush_put_fetch(struct fabric_proc *p, struct win *w)
{
    int64_t one = 1, old;
    if (p->rank)
        return;
    OK(rma_lock(w, false, 1, RMA_NOCHECK));
    puts_to(w, 1, 5);
    fetch_add(w, 1, 0, &one, &old, 1);
    OK(rma_flush(w, 1, false));
    fetch_add(w, 1, 0, &one, &old, 1);
    OK(rma_unlock(w, 1)); /* without a lock to release: the reply is enough */
}

static void test_flush(void **state)
{
    (void)state;
    run((struct scenario){flush_all,
                          CONF_FENCE_AUTO,
                          {{[PKT_OPS] = 9}, {[PKT_ACK] = 2}, {[PKT_ACK] = 2}, {[PKT_ACK] = 2}}});
    run((struct scenario){flush_each, CONF_FENCE_AUTO, {{[PKT_OPS] = 6}, {[PKT_ACK] = 6}}});
    run((struct scenario){flush_local_get, CONF_FENCE_AUTO, {{[PKT_OPS] = 1}, {[PKT_REPLY] = 1}}});
    run((struct scenario){
        flush_fetch, CONF_FENCE_AUTO, {{[PKT_OPS] = 7}, {[PKT_ACK] = 2, [PKT_REPLY] = 5}}});
    run((struct scenario){flush_put_fetch, CONF_FENCE_AUTO, {{[PKT_OPS] = 2}, {[PKT_REPLY] = 2}}});
}

/* ---- fence: one marker to every other process, with the operations on it; or the
 * operations to those that get some, and ceil(log2 P) messages of counts ---- */

static void fence_empty(struct fabric_proc *p, struct win *w)
{
    (void)p;
    OK(rma_fence(w, 0));
}

static void fence_puts(struct fabric_proc *p, struct win *w)
{
    OK(rma_fence(w, RMA_NOPRECEDE));
    for (int target = 0; target < PROCS; target++)
        if (target != p->rank)
            puts_to(w, target, 30);
    OK(rma_fence(w, RMA_NOSUCCEED));
}

static void test_fence(void **state)
{
    const sent markers = {{[PKT_OPS] = 3}, {[PKT_OPS] = 3}, {[PKT_OPS] = 3}, {[PKT_OPS] = 3}};
    struct scenario empty = {.epoch = fence_empty}, puts = {.epoch = fence_puts};
    (void)state;
    memcpy(empty.expected, markers, sizeof markers);
    memcpy(puts.expected, markers, sizeof markers);
    run(empty);
    run(puts);
}

static void fence_one(struct fabric_proc *p, struct win *w)
{
    puts_to(w, (p->rank + 3) % PROCS, 30);
    OK(rma_fence(w, 0));
    OK(rma_fence(w, RMA_NOPRECEDE)); /* closes nothing: no message */
}

/* Packets that are ahead of the phase need not ask whether it has begun. */
static void fence_strips(struct fabric_proc *p, struct win *w)
{
    static unsigned char strip[16384];
    OK(rma_fence(w, RMA_NOPRECEDE));
    for (int i = 0; i < 3; i++)
        put(w, p->rank ^ 1, i * (int)sizeof strip, strip, sizeof strip);
    OK(rma_fence(w, RMA_NOSUCCEED));
}

static void test_fence_strips(void **state)
{
    struct scenario s = {.epoch = fence_strips};
    (void)state;
    for (int i = 0; i < PROCS; i++)
        s.expected[i][PKT_OPS] = 4; /* the operations in two, the markers of the others in two */
    run(s);
}

static void test_fence_counts(void **state)
{
    struct scenario s = {.fence = CONF_FENCE_COUNTS};
    (void)state;
    for (int i = 0; i < PROCS; i++)
        s.expected[i][PKT_COUNTS] = 2;
    s.epoch = fence_empty;
    run(s);
    for (int i = 0; i < PROCS; i++)
        s.expected[i][PKT_OPS] = 3;
    s.epoch = fence_puts;
    run(s);
    for (int i = 0; i < PROCS; i++)
        s.expected[i][PKT_OPS] = 1;
    s.epoch = fence_one;
    run(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pscw),         cmocka_unit_test(test_lock),
        cmocka_unit_test(test_flush),        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_fence_strips), cmocka_unit_test(test_fence_counts)};
    pkt_types_init();
    return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
