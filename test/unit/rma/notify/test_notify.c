/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_notify.c - notifications behind puts, gets and accumulates (doc/notified.md), on every path
 * of a node: many origins to one target, every value checked; operations of every length; what is
 * counted and taken; that data and notification are one packet; what is refused.
 */
#include "rma/notify/notify_words.h"
#include "test/support/pkt_run.h"

enum { NUMBERS = 4, BYTES = 400000, ROUNDS = 100 };

struct world {
    unsigned char *mem; /* BYTES, mapped or not */
    struct win *win;
};

static bool mapped;

static struct world begin(struct fabric_proc *p)
{
    struct world v = {.mem = mapped ? fabric_mem_alloc(p, BYTES) : malloc(BYTES)};
    struct win_spec spec = {.flavor = WIN_CREATE,
                            .base = v.mem,
                            .size = BYTES,
                            .disp_unit = 1,
                            .hints = win_hints_default(),
                            .boot = fabric_boot(p)};
    spec.hints.notifications = NUMBERS;
    memset(v.mem, 0, BYTES);
    FABRIC_CHECK(win_create(&p->rma, &spec, &v.win) == MRMA_SUCCESS);
    FABRIC_CHECK(rma_notify_numbers(v.win) == NUMBERS);
    rest(p);
    return v;
}

static void end(struct fabric_proc *p, struct world *v)
{
    fabric_win_free(v->win);
    if (mapped)
        fabric_mem_free(p, v->mem);
    else
        free(v->mem);
}

static void put_notify(struct win *w, int target, int64_t disp, const void *from, size_t n,
                       int number)
{
    struct rma_op op = byte_op(from, NULL, target, disp, n);
    op.notify = (uint32_t)number + 1;
    FABRIC_CHECK(rma_put(w, &op) == MRMA_SUCCESS);
}

static uint64_t count(struct win *w, int source, int number)
{
    uint64_t value = UINT64_MAX;
    FABRIC_CHECK(rma_notify_read(w, source, number, &value) == MRMA_SUCCESS);
    return value;
}

static void await(struct win *w, int source, int number, uint64_t n)
{
    int taken = -1;
    FABRIC_CHECK(rma_notify_wait(w, &(struct rma_notified){source, number, 1, n}, &taken) ==
                 MRMA_SUCCESS);
    FABRIC_CHECK(taken == number);
}

/* Of which of the numbers from 0 on so many are there, and now taken. */
static int take(struct win *w, int numbers, uint64_t n)
{
    const struct rma_notified what = {RMA_NOTIFY_ANY, 0, numbers, n};
    int taken = -2;
    FABRIC_CHECK(rma_notify_take(w, &what, &taken) == MRMA_SUCCESS);
    return taken;
}

static void no_such_numbers(struct win *w, int first, int n)
{
    const struct rma_notified what = {RMA_NOTIFY_ANY, first, n, 1};
    int taken = 5;
    FABRIC_CHECK(rma_notify_expect(w, &what) == MRMA_ERR_ARG);
    FABRIC_CHECK(rma_notify_take(w, &what, &taken) == MRMA_ERR_ARG);
    FABRIC_CHECK(rma_notify_test(w, &what, &taken) == MRMA_ERR_ARG);
    FABRIC_CHECK(rma_notify_wait(w, &what, &taken) == MRMA_ERR_ARG && taken == 5);
}

/* Nobody may overwrite a value before process 0 has seen it: it says so by a notification alone. */
static void many_to_one(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc;
    struct world v = begin(p);
    (void)arg;
    FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
    for (int64_t i = 1; i <= ROUNDS; i++) {
        const int64_t value = i * n + p->rank;
        if (p->rank) {
            put_notify(v.win, 0, 8 * p->rank, &value, 8, 0);
            await(v.win, 0, 1, 1);
            continue;
        }
        await(v.win, RMA_NOTIFY_ANY, 0, (uint64_t)n - 1);
        for (int from = 1; from < n; from++) {
            const int64_t expected = i * n + from;
            FABRIC_CHECK(memcmp(v.mem + 8 * from, &expected, 8) == 0);
        }
        for (int to = 1; to < n; to++)
            put_notify(v.win, to, 0, NULL, 0, 1);
    }
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    rest(p);
    FABRIC_CHECK(count(v.win, RMA_NOTIFY_ANY, 0) == 0);
    for (int from = 1; from < n && !p->rank; from++) { /* counted apart */
        uint64_t taken = 0;
        FABRIC_CHECK(count(v.win, from, 0) == ROUNDS);
        FABRIC_CHECK(rma_notify_reset(v.win, from, 0, &taken) == MRMA_SUCCESS && taken == ROUNDS);
        FABRIC_CHECK(count(v.win, from, 0) == 0);
    }
    FABRIC_CHECK(count(v.win, RMA_NOTIFY_ANY, 3) == 0);
    end(p, &v);
}

/* Lengths around what a record, a packet and the short rest of a stream can hold. */
static const size_t lengths[] = {1,     8,     2047,  2049,  16000, 16700, 33000,
                                 33300, 41000, 66400, 70000, 99999, 250000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Process 0 puts, and process 1 looks at all of it as soon as it hears of it. */
static void puts_of_every_length(struct fabric_proc *p, void *arg)
{
    static unsigned char from[BYTES];
    struct world v = begin(p);
    (void)arg;
    FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
    for (unsigned i = 0; i < LENGTHS; i++) {
        if (p->rank == 0) {
            fill(from, lengths[i], i + 1);
            put_notify(v.win, 1, (int64_t)i, from, lengths[i], 2);
            FABRIC_CHECK(rma_flush(v.win, 1, true) == MRMA_SUCCESS);
            await(v.win, 1, 2, 1);
        } else if (p->rank == 1) {
            await(v.win, 0, 2, 1);
            check_filled(v.mem + i, lengths[i], i + 1);
            put_notify(v.win, 0, 0, NULL, 0, 2);
        }
    }
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    end(p, &v);
}

/* Process 1 changes what process 0 gets as soon as it hears that it has been read. */
static void gets_of_every_length(struct fabric_proc *p, void *arg)
{
    static unsigned char to[BYTES];
    struct world v = begin(p);
    (void)arg;
    FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
    for (unsigned i = 0; i < LENGTHS; i++) {
        if (p->rank == 0) {
            struct rma_op op = byte_op(NULL, to, 1, 3, lengths[i]);
            op.notify = 1 + 3;
            await(v.win, 1, 2, 1);
            FABRIC_CHECK(rma_get(v.win, &op) == MRMA_SUCCESS);
            FABRIC_CHECK(rma_flush(v.win, 1, false) == MRMA_SUCCESS);
            check_filled(to, lengths[i], i + 1);
        } else if (p->rank == 1) {
            fill(v.mem + 3, lengths[i], i + 1);
            put_notify(v.win, 0, 0, NULL, 0, 2);
            await(v.win, 0, 3, 1);
        }
    }
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    end(p, &v);
}

static void accumulates(struct fabric_proc *p, void *arg)
{
    enum { ELEMENTS = 9000 };
    static int64_t ones[ELEMENTS];
    const int n = p->fabric->opts.nproc;
    struct world v = begin(p);
    (void)arg;
    for (int i = 0; i < ELEMENTS && !p->rank; i++)
        ones[i] = i;
    rest(p);
    FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
    for (size_t k = 1; k <= ELEMENTS; k *= 3) {
        struct rma_op op = i64_op(ones, NULL, 0, 0, k, ACC_SUM);
        op.notify = 1;
        FABRIC_CHECK(rma_accumulate(v.win, &op) == MRMA_SUCCESS);
    }
    if (p->rank == 0) {
        int64_t sum;
        await(v.win, RMA_NOTIFY_ANY, 0, 9 * (uint64_t)n); /* 3^8 is below ELEMENTS */
        memcpy(&sum, v.mem + 8, sizeof sum);
        FABRIC_CHECK(sum == 8 * n); /* the first has one element */
        memcpy(&sum, v.mem + 8 * 6560, sizeof sum);
        FABRIC_CHECK(sum == 6560 * n);
    }
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    end(p, &v);
}

/* In active target epochs, before the target has begun its part, too. */
static void epochs(struct fabric_proc *p, void *arg)
{
    struct world v = begin(p);
    const int other = 1 - p->rank;
    const unsigned nproc = (unsigned)p->fabric->opts.nproc;
    (void)arg;
    for (unsigned i = 0; i < 30 && p->rank < 2; i++) {
        unsigned char data[64];
        fill(data, sizeof data, i);
        if (p->rank == 0) {
            FABRIC_CHECK(rma_start(v.win, &other, 1, 0) == MRMA_SUCCESS);
            put_notify(v.win, 1, 64, data, sizeof data, 0);
            FABRIC_CHECK(rma_complete(v.win) == MRMA_SUCCESS);
        } else {
            FABRIC_CHECK(rma_post(v.win, &other, 1, 0) == MRMA_SUCCESS);
            await(v.win, 0, 0, 1);
            check_filled(v.mem + 64, sizeof data, i);
            FABRIC_CHECK(rma_wait(v.win) == MRMA_SUCCESS);
        }
    }
    for (unsigned i = 0; i < 30; i++) {
        unsigned char data[64];
        fill(data, sizeof data, i);
        FABRIC_CHECK(rma_fence(v.win, 0) == MRMA_SUCCESS);
        if (p->rank == 0)
            put_notify(v.win, 1, 64, data, sizeof data, 1);
        if (p->rank != 1)
            put_notify(v.win, 1, 0, NULL, 0, 2);
        FABRIC_CHECK(rma_fence(v.win, i == 29 ? RMA_NOSUCCEED : 0) == MRMA_SUCCESS);
        if (p->rank == 1) {
            FABRIC_CHECK(count(v.win, 0, 1) == i + 1);
            FABRIC_CHECK(count(v.win, RMA_NOTIFY_ANY, 2) == (i + 1) * (nproc - 1));
            check_filled(v.mem + 64, sizeof data, i);
        }
    }
    end(p, &v);
}

enum { FIRST = 300000 }; /* more than may be sent before the epoch is known to be open */

/* A large put is the first operation of an epoch, and each process waits for the other's before it
 * synchronizes. */
static void first_of_epochs(struct fabric_proc *p, void *arg)
{
    static unsigned char from[2][FIRST];
    struct world v = begin(p);
    const int other = 1 - p->rank;
    (void)arg;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned kind = i % 4;
        fill(from[p->rank], FIRST, 2 * i + (unsigned)p->rank);
        if (kind == 0)
            FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
        if (kind == 1)
            FABRIC_CHECK(rma_lock(v.win, true, other, 0) == MRMA_SUCCESS);
        if (kind == 2)
            FABRIC_CHECK(rma_post(v.win, &other, 1, 0) == MRMA_SUCCESS &&
                         rma_start(v.win, &other, 1, 0) == MRMA_SUCCESS);
        if (kind == 3)
            FABRIC_CHECK(rma_fence(v.win, RMA_NOPRECEDE) == MRMA_SUCCESS);
        put_notify(v.win, other, 8, from[p->rank], FIRST, 0);
        await(v.win, other, 0, 1);
        check_filled(v.mem + 8, FIRST, 2 * i + (unsigned)other);
        if (kind == 0)
            FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
        if (kind == 1)
            FABRIC_CHECK(rma_unlock(v.win, other) == MRMA_SUCCESS);
        if (kind == 2)
            FABRIC_CHECK(rma_complete(v.win) == MRMA_SUCCESS && rma_wait(v.win) == MRMA_SUCCESS);
        if (kind == 3)
            FABRIC_CHECK(rma_fence(v.win, RMA_NOSUCCEED) == MRMA_SUCCESS);
        rest(p);
    }
    end(p, &v);
}

/* More notifications under a lock that another one holds than the target keeps for an origin. */
static void under_a_lock(struct fabric_proc *p, void *arg)
{
    struct world v = begin(p);
    (void)arg;
    if (p->rank == 0) {
        FABRIC_CHECK(rma_lock(v.win, true, 1, 0) == MRMA_SUCCESS);
        for (int i = 0; i < 20; i++)
            put_notify(v.win, 1, 0, "12345678", 8, 0);
        await(v.win, 1, 1, 1); /* before the unlock */
        FABRIC_CHECK(rma_unlock(v.win, 1) == MRMA_SUCCESS);
    } else if (p->rank == 1) {
        await(v.win, 0, 0, 20);
        FABRIC_CHECK(rma_lock(v.win, false, 0, 0) == MRMA_SUCCESS);
        put_notify(v.win, 0, 0, NULL, 0, 1);
        FABRIC_CHECK(rma_unlock(v.win, 0) == MRMA_SUCCESS);
    }
    end(p, &v);
}

static void refuses(struct fabric_proc *p, void *arg)
{
    struct world v = begin(p);
    uint64_t value = 5;
    (void)arg;
    struct rma_op op = byte_op("x", NULL, 0, 0, 1);
    op.notify = 1;
    FABRIC_CHECK(rma_put(v.win, &op) == MRMA_ERR_RMA_SYNC);
    FABRIC_CHECK(rma_lock_all(v.win, 0) == MRMA_SUCCESS);
    op.disp = BYTES;
    FABRIC_CHECK(rma_put(v.win, &op) == MRMA_ERR_RMA_RANGE);
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    rest(p);
    FABRIC_CHECK(count(v.win, RMA_NOTIFY_ANY, 0) == 0);
    FABRIC_CHECK(rma_notify_read(v.win, 0, NUMBERS, &value) == MRMA_ERR_ARG);
    FABRIC_CHECK(rma_notify_read(v.win, 0, -1, &value) == MRMA_ERR_ARG);
    no_such_numbers(v.win, NUMBERS, 1);
    no_such_numbers(v.win, INT32_MIN, 1);
    no_such_numbers(v.win, 0, NUMBERS + 1);
    no_such_numbers(v.win, INT32_MAX, INT32_MAX);
    no_such_numbers(v.win, 0, 0);
    no_such_numbers(v.win, 0, -1);
    FABRIC_CHECK(rma_notify_reset(v.win, 0, INT32_MAX, &value) == MRMA_ERR_ARG);
    FABRIC_CHECK(value == 5);
    FABRIC_CHECK(take(v.win, NUMBERS, 1) == -1);
    FABRIC_CHECK(take(v.win, NUMBERS, 0) == 0);
    end(p, &v);
}

/* Data and notification are one packet, and nothing comes back. */
static void one_message(struct fabric_proc *p, void *arg)
{
    struct world v = begin(p);
    (void)arg;
    FABRIC_CHECK(rma_lock_all(v.win, RMA_NOCHECK) == MRMA_SUCCESS);
    const struct ch3_stats before = counters(p);
    if (p->rank == 0)
        put_notify(v.win, 1, 0, "12345678", 8, 0);
    else
        await(v.win, 0, 0, 1);
    const struct ch3_stats after = counters(p);
    FABRIC_CHECK(after.packets_sent - before.packets_sent == (p->rank == 0));
    FABRIC_CHECK(after.packets_received - before.packets_received == (p->rank == 1));
    rest(p);
    FABRIC_CHECK(rma_unlock_all(v.win) == MRMA_SUCCESS);
    end(p, &v);
}

static void word_comes(struct rma *r, uint32_t who, uint32_t number)
{
    rma_enter(r);
    notify_word_came(r, who << NOTIFY_NUMBER_BITS | number);
    rma_leave(r);
}

/* Words of puts that the network does by itself: what counts, what is refused, and what comes when
 * the window has gone. Windows that are there at the same time have numbers of their own. */
static void words(struct fabric_proc *p, void *arg)
{
    struct rma *r = &p->rma;
    struct world v[2] = {begin(p), begin(p)};
    const uint32_t other = 1 - (uint32_t)p->rank, own = (uint32_t)p->rank;
    uint32_t first[2];
    (void)arg;
    for (int i = 0; i < 2; i++) {
        first[i] = v[i].win->notify.words ? v[i].win->notify.words : notify_words_begin(v[i].win);
        FABRIC_CHECK(first[i] != 0);
    }
    FABRIC_CHECK(first[1] - first[0] == 2);
    const uint64_t refused = r->stats.refused, late = r->stats.late;
    for (unsigned i = 0; i < 6; i++)
        word_comes(r, first[i % 2] + other, 2 + i / 4);
    for (int i = 0; i < 2; i++) {
        FABRIC_CHECK(count(v[i].win, (int)other, 2) == 2 && count(v[i].win, (int)other, 3) == 1);
        FABRIC_CHECK(count(v[i].win, RMA_NOTIFY_ANY, 2) == 2 && count(v[i].win, (int)own, 2) == 0);
    }
    FABRIC_CHECK(r->stats.refused == refused);
    word_comes(r, first[0] + other, NUMBERS); /* no such number */
    word_comes(r, first[0] + own, 0);         /* does not use the network */
    word_comes(r, 0, 0);                      /* never given */
    word_comes(r, first[1] + 2, 0);
    FABRIC_CHECK(r->stats.refused == refused + 4 && r->stats.late == late);
    end(p, &v[0]);
    word_comes(r, first[0] + other, 2);
    FABRIC_CHECK(r->stats.refused == refused + 4 && r->stats.late == late + 1);
    word_comes(r, first[1] + other, 2);
    FABRIC_CHECK(count(v[1].win, (int)other, 2) == 3 && count(v[1].win, (int)other, 0) == 0);
    r->stats.refused -= 4; /* which were meant to be */
    end(p, &v[1]);
}

typedef void body_fn(struct fabric_proc *p, void *arg);

/* By packets, over two nodes, on mapped memory and by the kernel. */
static void everywhere(int nproc, body_fn *body)
{
    run_all(nproc, 0, body, NULL);
    run_all(nproc, 2, body, NULL);
    for (int i = 0; i < 2; i++) {
        mapped = i == 0;
        run_one((struct fabric_opts){.nproc = nproc, .progress = CONF_PROGRESS_POLL}, body, NULL);
        run_one((struct fabric_opts){.nproc = nproc, .progress = CONF_PROGRESS_AGENT}, body, NULL);
    }
}

static void test_many_to_one(void **state)
{
    (void)state;
    everywhere(4, many_to_one);
}

static void test_puts(void **state)
{
    (void)state;
    everywhere(3, puts_of_every_length);
}

static void test_gets(void **state)
{
    (void)state;
    everywhere(3, gets_of_every_length);
}

static void test_accumulates(void **state)
{
    (void)state;
    everywhere(3, accumulates);
}

static void test_epochs(void **state)
{
    static const enum conf_fence fences[] = {CONF_FENCE_MARKERS, CONF_FENCE_COUNTS};
    (void)state;
    everywhere(2, epochs);
    for (size_t i = 0; i < sizeof fences / sizeof *fences; i++)
        run_one((struct fabric_opts){.nproc = 5,
                                     .path = CONF_PATH_SHM_PACKETS,
                                     .fence = fences[i],
                                     .progress = CONF_PROGRESS_POLL},
                epochs, NULL);
}

static void test_first(void **state)
{
    (void)state;
    everywhere(2, first_of_epochs);
}

static void test_lock(void **state)
{
    (void)state;
    everywhere(2, under_a_lock);
}

static void test_refuses(void **state)
{
    static const enum conf_path paths[] = {CONF_PATH_AUTO, CONF_PATH_SHM_PACKETS};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        run_one(
            (struct fabric_opts){
                .nproc = 2, .path = paths[i], .progress = CONF_PROGRESS_POLL, .quiet = true},
            refuses, NULL);
}

static void test_one_message(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 2,
                                 .path = CONF_PATH_SHM_PACKETS,
                                 .progress = CONF_PROGRESS_POLL},
            one_message, NULL);
}

static void test_words(void **state)
{
    (void)state;
    run_one((struct fabric_opts){.nproc = 2,
                                 .per_node = 1,
                                 .path = CONF_PATH_AUTO,
                                 .progress = CONF_PROGRESS_POLL,
                                 .quiet = true},
            words, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_to_one), cmocka_unit_test(test_puts),
        cmocka_unit_test(test_gets),        cmocka_unit_test(test_accumulates),
        cmocka_unit_test(test_epochs),      cmocka_unit_test(test_first),
        cmocka_unit_test(test_lock),        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_one_message), cmocka_unit_test(test_words),
    };
    RUN_TESTS("notify", tests);
}
