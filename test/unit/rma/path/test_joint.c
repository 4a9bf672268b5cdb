/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_joint.c - copies that origin and target make together (rma/path/joint.h): the target alone,
 * the origin alone, both at once, several threads, both processes for each other; a target that
 * cannot copy; processes that die.
 */
#include "test/support/pkt_run.h"

#include <pthread.h>

#include "rma/path/joint.h"
#include "rma/progress/lost.h"
#include "rma/win/sync_ops.h"

enum { LEN = 300 << 10, CHUNKS = 5, TURNS = 40 }; /* the last chunk is shorter */

/* Where the target's memory and the origin's buffer are. */
struct places {
    bool mapped, shared, get;
};

static unsigned char areas[2][LEN], buffers[2][LEN]; /* that nobody else can map */

struct pair {
    struct fabric_proc *p;
    struct win *w, *other;
    unsigned char *mem, *buf;
    bool get, shared, mapped;
};

/* The target is to take part whenever it is asked, though a thread of it may sleep for a while, or
 * may not be in its wait yet. Only the target calls this, since only it writes the word. */
static void offer_help(const struct fabric_proc *p, int n)
{
    if (p->rank == 1)
        atomic_fetch_add(&p->seg->board.helpers, (uint32_t)n);
}

static struct pair open_pair(struct fabric_proc *p, const struct places *at)
{
    struct pair x = {.p = p, .get = at->get, .shared = at->shared, .mapped = at->mapped};
    p->conf.tune.joint_copy = LEN / 2;
    p->conf.tune.joint_copy_private = LEN;
    x.mem = at->mapped ? fabric_mem_alloc(p, LEN) : areas[p->rank];
    x.buf = at->shared ? fabric_mem_alloc(p, LEN) : buffers[p->rank];
    x.w = fabric_win(p, WIN_CREATE, x.mem, LEN, 1);
    x.other = fabric_win(p, WIN_CREATE, NULL, 0, 1);
    offer_help(p, 1);
    fabric_barrier(p);
    return x;
}

static void close_memory(struct pair *x)
{
    if (x->mapped)
        fabric_mem_free(x->p, x->mem);
    if (x->shared)
        fabric_mem_free(x->p, x->buf);
}

static void close_pair(struct pair *x)
{
    fabric_win_free(x->other);
    fabric_win_free(x->w);
    close_memory(x);
}

static struct fabric_proc *peer_of(const struct fabric_proc *p)
{
    return &p->fabric->procs[1 - p->rank];
}

/* The other process copies so many chunks, though it may have gone to sleep. */
static void await_chunks(const struct fabric_proc *p, uint64_t n)
{
    struct fabric_proc *other = peer_of(p);
    while (atomic_load(&other->rma.stats.joint_helped) < n) {
        polling_wake_all(&other->seg->polling, EVENT_NO_POLL);
        sched_yield();
    }
}

static void operate(struct pair *x)
{
    struct rma_op op = byte_op(x->buf, x->buf, 1 - x->p->rank, 0, LEN);
    FABRIC_CHECK((x->get ? rma_get : rma_put)(x->w, &op) == MRMA_SUCCESS);
}

static uint64_t helped(const struct fabric_proc *p)
{
    return atomic_load(&p->rma.stats.joint_helped);
}

/* Before its target's post is seen, an operation may be deferred. */
static void await_post(const struct pair *x)
{
    const struct rma_target *t = win_peek(x->w, 1);
    while (!target_sync(t)->accessible(x->w, t))
        sched_yield();
}

/* An origin of PSCW epochs; target_alone: it makes no call until the target has copied all. */
static void be_origin(struct pair *x, int turns, bool target_alone)
{
    for (int i = 0; i < turns; i++) {
        const int target = 1;
        if (!x->get)
            fill(x->buf, LEN, (unsigned)i);
        fabric_barrier(x->p);
        OK(rma_start(x->w, &target, 1, 0));
        await_post(x);
        operate(x);
        FABRIC_CHECK(x->p->rma.stats.joint == (uint64_t)i + 1 && x->w->nsent == 1);
        if (target_alone)
            await_chunks(x->p, (uint64_t)(i + 1) * CHUNKS);
        OK(rma_complete(x->w));
        FABRIC_CHECK(!x->w->nsent && !joint_any(x->w));
        if (x->get)
            check_filled(x->buf, LEN, (unsigned)i);
        memset(x->buf, 0, LEN); /* it is this process's own again */
    }
}

static void be_target(struct pair *x, int turns)
{
    for (int i = 0; i < turns; i++) {
        const int origin = 0;
        if (x->get)
            fill(x->mem, LEN, (unsigned)i);
        fabric_barrier(x->p);
        OK(rma_post(x->w, &origin, 1, 0));
        OK(rma_wait(x->w));
        if (!x->get)
            check_filled(x->mem, LEN, (unsigned)i);
        memset(x->mem, 0, LEN);
    }
}

static void target_alone(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    if (p->rank)
        be_target(&x, 3);
    else
        be_origin(&x, 3, true);
    close_pair(&x);
}

static void both_copy(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    if (p->rank)
        be_target(&x, TURNS);
    else
        be_origin(&x, TURNS, false);
    close_pair(&x);
}

static void in_all_places(void (*body)(struct fabric_proc *p, void *arg))
{
    for (int i = 0; i < 8; i++) {
        struct places at = {i & 1, i & 2, i & 4};
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, body, &at);
    }
}

static void test_target_alone(void **state)
{
    (void)state;
    in_all_places(target_alone);
}

static void test_both_copy(void **state)
{
    (void)state;
    in_all_places(both_copy);
}

/* ---- each synchronization call completes ---- */

enum completion { FLUSH, FLUSH_LOCAL, FLUSH_ALL, FLUSH_LOCAL_ALL, SYNC, UNLOCK_ALL, COMPLETIONS };

static void complete_by(struct win *w, enum completion how)
{
    switch (how) {
    case FLUSH:
    case FLUSH_LOCAL:
        OK(rma_flush(w, 1, how == FLUSH_LOCAL));
        break;
    case FLUSH_ALL:
    case FLUSH_LOCAL_ALL:
        OK(rma_flush_all(w, how == FLUSH_LOCAL_ALL));
        break;
    case SYNC:
        OK(rma_sync(w));
        break;
    default:
        OK(rma_unlock_all(w));
        OK(rma_lock_all(w, 0));
    }
}

/* The target waits in another window. */
static void passive(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    OK(rma_fence(x.other, 0));
    if (p->rank == 0) {
        uint64_t published = 0;
        OK(rma_lock_all(x.w, 0));
        for (int how = 0; how < COMPLETIONS; how++) {
            fill(x.get ? x.mem : x.buf, LEN, (unsigned)how);
            operate(&x);
            FABRIC_CHECK(p->rma.stats.joint == ++published);
            complete_by(x.w, (enum completion)how);
            FABRIC_CHECK(!joint_any(x.w) && !x.w->nsent);
        }
        OK(rma_unlock_all(x.w));
        OK(rma_lock(x.w, true, 1, 0));
        operate(&x);
        FABRIC_CHECK(p->rma.stats.joint == ++published);
        OK(rma_unlock(x.w, 1));
        FABRIC_CHECK(!joint_any(x.w) && !x.w->nsent);
    }
    OK(rma_fence(x.other, 0)); /* here the target waits */
    if (p->rank == 1 && !x.get)
        check_filled(x.mem, LEN, UNLOCK_ALL);
    close_pair(&x);
}

static void test_passive(void **state)
{
    (void)state;
    in_all_places(passive);
}

/* ---- what is not published ---- */

static void never(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    OK(rma_fence(x.other, 0));
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        struct rma_op op = byte_op(x.buf, x.buf, 1, 0, LEN / 2 - 1);
        OK(rma_put(x.w, &op)); /* too short */
        op = byte_op(x.buf, x.buf, 0, 0, LEN);
        OK(rma_put(x.w, &op)); /* to itself */
        FABRIC_CHECK(p->rma.stats.joint == 0 && !joint_any(x.w));
        OK(rma_unlock_all(x.w));
    }
    OK(rma_fence(x.other, 0));
    offer_help(p, -1);
    fabric_barrier(p);
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        operate(&x); /* the target does not wait */
        FABRIC_CHECK(p->rma.stats.joint == 0 && !joint_any(x.w));
        OK(rma_unlock_all(x.w));
    }
    fabric_barrier(p);
    close_pair(&x);
}

static void test_never(void **state)
{
    struct places at = {.mapped = true, .shared = true};
    (void)state;
    run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, never, &at);
}

/* ---- more operations than places, for each other, by fences ---- */

static void each_other(struct fabric_proc *p, void *arg)
{
    enum { PARTS = 50, PART = LEN / PARTS };
    struct pair x = open_pair(p, arg);
    p->conf.tune.joint_copy = p->conf.tune.joint_copy_private = PART / 8; /* fences: times 8 */
    struct win *w = fabric_win(p, WIN_CREATE, x.mem, LEN, 1);
    OK(rma_fence(w, 0));
    for (unsigned turn = 0; turn < TURNS; turn++) {
        fill(x.buf, LEN, 2 * turn + (unsigned)p->rank);
        if (turn % 2) /* one waits while the other calls */
            atomic_fetch_add(&p->seg->board.helpers, 1);
        fabric_barrier(p);
        for (int i = 0; i < PARTS; i++) {
            const size_t at = (size_t)i * PART;
            struct rma_op op = byte_op(x.buf + at, NULL, 1 - p->rank, (int64_t)at, PART);
            OK(rma_put(w, &op));
        }
        OK(rma_fence(w, 0));
        if (turn % 2)
            atomic_fetch_sub(&p->seg->board.helpers, 1);
        check_filled(x.mem, PARTS * PART, 2 * turn + 1 - (unsigned)p->rank);
        OK(rma_fence(w, 0));
    }
    FABRIC_CHECK(p->rma.stats.joint > 0);
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
    close_pair(&x);
}

static void test_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct places at = {.mapped = i & 1, .shared = i & 2};
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, each_other, &at);
    }
}

/* ---- several threads complete the same operation ---- */

static void *flush_too(void *arg)
{
    struct pair *x = arg;
    OK(rma_flush(x->w, 1, false));
    return NULL;
}

static void threads(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    OK(rma_fence(x.other, 0));
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        for (unsigned i = 0; i < 20; i++) {
            pthread_t second;
            fill(x.buf, LEN, i);
            operate(&x);
            FABRIC_CHECK(!pthread_create(&second, NULL, flush_too, &x));
            OK(rma_flush(x.w, 1, false));
            memset(x.buf, 0, LEN);
            FABRIC_CHECK(!pthread_join(second, NULL) && !joint_any(x.w));
        }
        OK(rma_unlock_all(x.w));
    }
    OK(rma_fence(x.other, 0));
    if (p->rank)
        check_filled(x.mem, LEN, 19);
    close_pair(&x);
}

static void test_threads(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct places at = {.mapped = i & 1, .shared = i & 2};
        run_one((struct fabric_opts){.nproc = 2, .cpus = 8, .threads = true}, threads, &at);
    }
}

/* ---- the target cannot copy ---- */

/* The kernel finds no process of the number by which the target asks for the origin's memory. */
static void refused_once(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    OK(rma_fence(x.other, 0));
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        win_peek(x.w, 0)->peer->pid = INT32_MAX;
        fill(x.buf, LEN, 1);
        operate(&x);
        await_chunks(p, 1);
        OK(rma_flush(x.w, 1, false));
        FABRIC_CHECK(p->rma.stats.joint == 1);
        operate(&x); /* that process is asked no more */
        FABRIC_CHECK(p->rma.stats.joint == 1);
        OK(rma_unlock_all(x.w));
    }
    OK(rma_fence(x.other, 0));
    if (p->rank == 1)
        check_filled(x.mem, LEN, 1);
    close_pair(&x);
}

static void test_refused(void **state)
{
    struct places mapped = {.mapped = true}, by_kernel = {.mapped = false};
    (void)state;
    run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, refused_once, &mapped);
    run_one((struct fabric_opts){.nproc = 2, .cpus = 8}, refused_once, &by_kernel);
}

/* ---- processes that die ---- */

/* The target dies with a chunk in its hands. */
static void target_dies(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    struct joint_place *place = &p->fabric->procs[1].seg->board.places[0];
    uint32_t left;
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        operate(&x);
        FABRIC_CHECK(p->rma.stats.joint == 1 && joint_take(place, &left));
        fabric_kill(&p->fabric->procs[1]);
        FABRIC_CHECK(rma_flush(x.w, 1, false) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(!joint_any(x.w) && !x.w->nsent && !joint_take(place, &left));
        FABRIC_CHECK(atomic_load(&place->origin)); /* for ever: the chunk may still be counted */
        FABRIC_CHECK(rma_unlock_all(x.w) == MRMA_ERR_PROC_FAILED);
        (void)win_free_begin(x.other);
        (void)win_free_begin(x.w);
    }
    fabric_barrier(p);
    win_free_end(x.other);
    win_free_end(x.w);
    close_memory(&x);
}

/* The origin dies when it has published something. */
static void origin_dies(struct fabric_proc *p, void *arg)
{
    struct pair x = open_pair(p, arg);
    if (p->rank == 0) {
        OK(rma_lock_all(x.w, 0));
        operate(&x);
        FABRIC_CHECK(p->rma.stats.joint == 1);
        fabric_kill(p);
    }
    fabric_barrier(p);
    if (p->rank == 1) {
        FABRIC_CHECK(joint_open(&p->seg->board) == 1);
        rma_enter(&p->rma);
        win_lost(x.w, 0);
        rma_leave(&p->rma);
        FABRIC_CHECK(!joint_help(&p->rma) && !helped(p));
    }
    fabric_barrier(p);
    win_free_end(x.other);
    win_free_end(x.w);
    fabric_barrier(p);
    FABRIC_CHECK(!joint_open(&p->fabric->procs[1].seg->board));
    fabric_barrier(p);
    close_memory(&x);
}

static void test_dead(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct places at = {.mapped = i & 1, .shared = i & 2};
        const struct fabric_opts opts = {
            .nproc = 2, .cpus = 8, .quiet = true, .progress = CONF_PROGRESS_POLL};
        run_one(opts, target_dies, &at);
        run_one(opts, origin_dies, &at);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_alone), cmocka_unit_test(test_both_copy),
        cmocka_unit_test(test_passive),      cmocka_unit_test(test_never),
        cmocka_unit_test(test_each_other),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_dead),
    };
    RUN_TESTS("joint", tests);
}
