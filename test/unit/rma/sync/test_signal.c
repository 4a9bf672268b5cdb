/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_signal.c - slots and the dissemination barrier, across real processes.
 *
 * What a process stored before a signal must be seen by who has waited for it:
 * every check reads plain memory that only the signal orders. Counters start just
 * below their wrap.
 */
#include <sys/mman.h>
#include <time.h>

#include "base/err.h"
#include "test/support/base_helper.h"
#include "rma/sync/barrier.h"
#include "rma/sync/sync.h"
#include "rma/path/stage.h"
#include "rma/progress/wait.h"
#include "test/support/rma_helper.h"
#include "test/sim/fabric.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 300 };
#else
enum { ROUNDS = 3000 };
#endif
static const uint32_t nearly = UINT32_MAX - ROUNDS / 2;

/* What the processes of a test share beside the windows. */
struct board {
    struct hand_shared shared;
    uint64_t *cells;     /* plain */
    int slow;            /* a rank that dawdles, so that the others sleep; -1: nobody */
    bool oversubscribed; /* the barrier of a node with more processes than processors */
};

static void dawdle(void)
{
    nanosleep(&(struct timespec){0, 300000}, NULL);
}

static void run_kind(bool oversubscribed, int n, int slow,
                     void (*body)(struct hand *h, struct board *b))
{
    pid_t pids[HAND_MAX];
    struct board b = {
        .shared = hand_share(n, false), .slow = slow, .oversubscribed = oversubscribed};
    b.cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(b.cells, MAP_FAILED);
    for (int i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            fabric_watchdog(60);
            struct hand *h = hand_new(&b.shared, i);
            h->win.counts_arrivals = oversubscribed;
            body(h, &b);
            hand_free(h);
            _exit(0);
        }
    }
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed |= wait_child(pids[i]);
    munmap(b.cells, 4096);
    hand_unshare(&b.shared);
    assert_int_equal(failed, 0);
}

static void run_processes(int n, int slow, void (*body)(struct hand *h, struct board *b))
{
    run_kind(false, n, slow, body);
    run_kind(true, n, slow, body);
}

/* ---- barrier ---- */

static void barrier_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank;
    const int rounds = b->slow >= 0 ? ROUNDS / 10 : ROUNDS;
    for (int i = 1; i <= rounds; i++) {
        if (me == b->slow)
            dawdle();
        b->cells[me * 8] = (uint64_t)i;
        FABRIC_CHECK(barrier_node(&h->win) == MRMA_SUCCESS);
        for (int k = 0; k < n; k++)
            FABRIC_CHECK(b->cells[k * 8] == (uint64_t)i);
        FABRIC_CHECK(barrier_node(&h->win) == MRMA_SUCCESS);
    }
}

static void test_barrier(void **state)
{
    (void)state;
    for (int n = 1; n <= HAND_MAX; n++)
        run_processes(n, -1, barrier_body);
}

static void test_barrier_sleepers(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++)
        run_processes(n, n - 1, barrier_body);
}

static void set_barrier_count(struct hand *h)
{
    h->win.sync.barriers[BARRIER_NODE] = nearly;
    if (h->win.rank == 0) {
        atomic_store(&h->win.lead->sync.arrived, nearly * (uint32_t)h->win.nproc);
        atomic_store(&h->win.lead->sync.open, nearly);
    }
    for (int i = 0; i < h->win.nproc; i++)
        atomic_store(&h->win.ctl->slots[i].signals.sync.barriers[BARRIER_NODE].entered, nearly);
}

/* All have set their own slots before any signals. */
static void wait_for_all(struct board *b, int n)
{
    _Atomic uint64_t *arrived = (_Atomic uint64_t *)(void *)&b->cells[500];
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < (uint64_t)n)
        dawdle();
}

static void barrier_wrap_body(struct hand *h, struct board *b)
{
    set_barrier_count(h);
    wait_for_all(b, h->win.nproc);
    barrier_body(h, b);
    FABRIC_CHECK(h->win.sync.barriers[BARRIER_NODE] < nearly); /* it did wrap */
}

static void test_barrier_wrap(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++)
        run_processes(n, -1, barrier_wrap_body);
}

/* ---- posts and completes: a ring of producers and consumers ---- */

struct due {
    _Atomic uint32_t *word;
    uint32_t seq;
};

static bool reached(void *arg)
{
    struct due *d = arg;
    return seq_reached(atomic_load_explicit(d->word, memory_order_acquire), d->seq);
}

static void await(struct hand *h, _Atomic uint32_t *word, uint32_t seq)
{
    struct due d = {word, seq};
    FABRIC_CHECK(rma_wait_until(
                     &h->win, &(struct rma_wait){.done = reached, .arg = &d, .what = "a signal"}) ==
                 MRMA_SUCCESS);
}

static bool completed(void *arg)
{
    return sync_by_memory.completed(arg);
}

static void await_complete(struct hand *h, struct rma_target *t)
{
    FABRIC_CHECK(rma_wait_until(&h->win, &(struct rma_wait){.done = completed,
                                                            .arg = t,
                                                            .what = "a complete"}) == MRMA_SUCCESS);
}

static void stages_nearly_wrapped(const struct stage_row *row)
{
    for (uint32_t i = 0; i < STAGE_DEPTH; i++) {
        struct win_stage *st =
            (void *)((char *)row->first + (size_t)((nearly - i) % STAGE_DEPTH) * row->bytes);
        atomic_store(&st->seq, nearly - i);
    }
}

/* Counters of both directions start below their wrap. */
static void nearly_wrapped(struct hand *h, struct rma_target *to_left, struct rma_target *to_right)
{
    (void)h;
    to_left->posted = to_left->exposures = nearly;
    to_right->starts = to_right->posts_due = to_right->stage.posts_seen = nearly;
    atomic_store(&to_right->in->posts, nearly);
    stages_nearly_wrapped(&to_left->stage.in);
}

/* Each process lets its left neighbour write its cell (post), who says when it is
 * done (complete). */
static void post_complete_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank, right = (me + 1) % n, left = (me + n - 1) % n;
    struct rma_target *to_left = &h->targets[left], *to_right = &h->targets[right];
    nearly_wrapped(h, to_left, to_right);
    wait_for_all(b, n);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        b->cells[me * 8] = 0;
        if (me == b->slow && i % 16 == 0)
            dawdle();
        to_left->exposures++;
        FABRIC_CHECK(sync_by_memory.post(&h->win, to_left) == MRMA_SUCCESS);
        await(h, &to_right->in->posts, nearly + i);
        FABRIC_CHECK(b->cells[right * 8] == 0);
        b->cells[right * 8] = i;
        to_right->starts++;
        FABRIC_CHECK(sync_by_memory.complete(&h->win, to_right) == MRMA_SUCCESS);
        await_complete(h, to_left);
        FABRIC_CHECK(b->cells[me * 8] == i);
    }
}

static void test_post_complete(void **state)
{
    (void)state;
    run_processes(2, -1, post_complete_body);
    run_processes(4, -1, post_complete_body);
    run_processes(4, 2, post_complete_body);
}

/* ---- staged puts: an origin ahead of its target ---- */

enum { STAGED_CELLS = 4 };

static void stage_origin(struct hand *h, struct rma_target *t, uint32_t i)
{
    const struct dtype byte = dtype_basic(ACC_NONE);
    h->win.start_count++;
    t->started_in = h->win.start_count;
    t->starts++;
    t->posts_due++;
    for (uint32_t k = 0; k < 1 + i % STAGED_CELLS; k++) {
        const uint64_t value = (uint64_t)i << 8 | k;
        const struct rma_op op = {.oaddr = &value,
                                  .ocount = 8,
                                  .otype = &byte,
                                  .target = 1,
                                  .disp = 8 * (int64_t)k,
                                  .tcount = 8,
                                  .ttype = &byte};
        while (!stage_put(&h->win, t, &op)) /* too far ahead: the post must come */
            await(h, &t->in->posts, t->posts_due - STAGE_DEPTH + 1);
    }
    while (!stage_seek_room(t))
        await(h, &t->in->posts, t->posts_due - STAGE_DEPTH + 1);
    FABRIC_CHECK(sync_by_memory.complete(&h->win, t) == MRMA_SUCCESS);
}

static void stage_target(struct hand *h, struct rma_target *t, uint32_t i, uint64_t *memory)
{
    memset(memory, 0, STAGED_CELLS * sizeof *memory);
    t->exposures++;
    FABRIC_CHECK(sync_by_memory.post(&h->win, t) == MRMA_SUCCESS);
    await_complete(h, t);
    stage_apply(&h->win, t);
    for (uint32_t k = 0; k < STAGED_CELLS; k++)
        FABRIC_CHECK(memory[k] == (k < 1 + i % STAGED_CELLS ? (uint64_t)i << 8 | k : 0));
}

/* Nobody but the stage carries the values: memory is the target's own. */
static void stage_body(struct hand *h, struct board *b)
{
    uint64_t memory[STAGED_CELLS];
    struct rma_target *peer = &h->targets[1 - h->win.rank];
    h->win.dynamic = false;
    h->win.base = memory;
    h->win.size = sizeof memory;
    peer->size = sizeof memory;
    atomic_store(&h->win.epoch.state, EPOCH_PSCW);
    if (h->win.rank == 0) {
        peer->starts = peer->posts_due = peer->stage.posts_seen = nearly;
        atomic_store(&peer->in->posts, nearly);
    } else {
        peer->exposures = peer->posted = nearly;
        stages_nearly_wrapped(&peer->stage.in);
    }
    wait_for_all(b, 2);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        if (h->win.rank == b->slow && i % 64 == 0)
            dawdle();
        if (h->win.rank == 0)
            stage_origin(h, peer, i);
        else
            stage_target(h, peer, i, memory);
    }
    FABRIC_CHECK(h->win.rank || h->rma.stats.staged >= ROUNDS);
}

static void test_stage(void **state)
{
    (void)state;
    run_processes(2, -1, stage_body);
    run_processes(2, 0, stage_body);
    run_processes(2, 1, stage_body);
}

/* What must not be staged: wrong or large or after MPI_MODE_NOCHECK. */
static void stage_refused_body(struct hand *h, struct board *b)
{
    const struct dtype byte = dtype_basic(ACC_NONE);
    struct rma_target *t = &h->targets[1 - h->win.rank];
    const uint64_t value = 1;
    struct rma_op op = {.oaddr = &value, .ocount = 8, .otype = &byte, .tcount = 8, .ttype = &byte};
    (void)b;
    h->win.dynamic = false;
    t->size = 64;
    atomic_store(&h->win.epoch.state, EPOCH_PSCW);
    h->win.start_count = 1;
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* not in the group */
    t->started_in = t->starts = t->posts_due = 1;
    op.disp = 57;
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* beyond the end */
    op.disp = 0;
    op.tcount = 7;
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* sizes differ */
    op.tcount = 8;
    t->starts = 2;
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* an epoch without a post */
    t->starts = 1;
    for (uint32_t room = 0; room + 16 <= t->stage.out.bytes - 8; room += 16)
        FABRIC_CHECK(stage_put(&h->win, t, &op));
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* full */
    t->stage.used = 0;
    t->posts_due = t->starts = STAGE_DEPTH;
    FABRIC_CHECK(!stage_put(&h->win, t, &op)); /* too far ahead */
}

static void test_stage_refused(void **state)
{
    (void)state;
    run_processes(2, -1, stage_refused_body);
}

/* ---- one wake for many ---- */

static void wake_many_body(struct hand *h, struct board *b)
{
    const int n = h->win.nproc, me = h->win.rank;
    int others[HAND_MAX], count = 0;
    for (int i = 1; i < n; i++)
        others[count++] = i;
    for (uint32_t i = 1; i <= ROUNDS / 10; i++) {
        if (me == 0) {
            if (i % 4 == 0)
                dawdle(); /* let them fall asleep */
            b->cells[0] = i;
            for (int k = 0; k < count; k++)
                FABRIC_CHECK(sync_by_memory.post(&h->win, &h->targets[others[k]]) == MRMA_SUCCESS);
        } else {
            await(h, &h->targets[0].in->posts, i);
            FABRIC_CHECK(b->cells[0] == i);
        }
        FABRIC_CHECK(barrier_node(&h->win) == MRMA_SUCCESS);
    }
}

static void test_wake_many(void **state)
{
    (void)state;
    run_processes(5, -1, wake_many_body);
}

/* ---- a peer that has died does not leave the others waiting ---- */

static void death_body(struct hand *h, struct board *b)
{
    (void)b;
    if (h->win.rank == 1) {
        atomic_store(&h->shared.procs[1].dead, true);
        return;
    }
    FABRIC_CHECK(barrier_node(&h->win) == MRMA_ERR_PROC_FAILED);
}

static void test_dead_peer(void **state)
{
    (void)state;
    run_processes(2, -1, death_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),      cmocka_unit_test(test_barrier_sleepers),
        cmocka_unit_test(test_barrier_wrap), cmocka_unit_test(test_post_complete),
        cmocka_unit_test(test_stage),        cmocka_unit_test(test_stage_refused),
        cmocka_unit_test(test_wake_many),    cmocka_unit_test(test_dead_peer),
    };
    fabric_watchdog(200);
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
