/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_deferred.c - when operations that wait for their target leave by themselves
 * (rma/path/deferred.c), whatever way goes there: as soon as the target has begun its part of the
 * fence phase, but not between the moment at which the last fence has ended the epoch and the one
 * at which it carries them out, since they would leave as part of another epoch.
 */
#include "test/support/slow_rdma.h"

#include <time.h>
#include <unistd.h>

#include "rma/path/deferred.h"
#include "rma/progress/progress.h"

enum { LONG = 4 * RING_BUSTER, ROUNDS = 50, ROUND_US = 1000, SUMS = 64 };

/* How the target is reached, and what is to be seen. */
struct way {
    enum conf_path path;
    enum win_flavor flavor;
    bool agent; /* one runs although no window needs it */
    bool ended; /* the last fence has ended the epoch */
};

static unsigned char from[LONG], to[LONG], back[SUMS * 8];

static bool waits(struct win *w)
{
    rma_enter(w->rma);
    const bool some = deferred_any(w);
    rma_leave(w->rma);
    return some;
}

/* The state in which the last fence leaves the epoch before it carries out what waits. */
static struct epoch end_epoch(struct win *w)
{
    rma_enter(w->rma);
    const struct epoch before = w->epoch;
    OK(epoch_event(&w->epoch, EPOCH_EV_FENCE_LAST));
    rma_leave(w->rma);
    return before;
}

static void restore_epoch(struct win *w, struct epoch before)
{
    rma_enter(w->rma);
    w->epoch = before;
    rma_leave(w->rma);
}

/* A long put, a long accumulate on other bytes, and a get of what nobody changes. */
static void issue(struct win *w)
{
    put(w, 1, 0, from, LONG / 2);
    add(w, 1, LONG / 2, (const int64_t *)(const void *)(from + LONG / 2), LONG / 4 / 8);
    get(w, 1, LONG - SUMS * 8, back, SUMS * 8);
}

/* Looks at what is unsent let nothing leave. */
static void stay(struct win *w)
{
    for (int i = 0; i < ROUNDS; i++, usleep(ROUND_US))
        (void)rma_poll(w->rma);
    FABRIC_CHECK(waits(w));
}

/* begin_only stops between the two steps of a call whose operation waits: what is to be waited for
 * has been decided, and the operation is not entered yet. */
static void begin_only(struct win *w)
{
    FABRIC_CHECK(deferred_begin(w, win_peek(w, 1)));
    stay(w);
}

static void origin(struct fabric_proc *p, struct win *w, const struct way *way)
{
    const bool ended = way->ended;
    const time_t late = time(NULL) + 20;
    OK(rma_fence(w, RMA_NOPRECEDE));
    if (way->path == CONF_PATH_AUTO)
        begin_only(w);
    issue(w);
    stay(w); /* the target is late */
    const struct epoch before = ended ? end_epoch(w) : w->epoch;
    fabric_barrier(p);
    fabric_barrier(p); /* the target has begun its phase, and says so */
    if (ended) {
        stay(w);
        restore_epoch(w, before);
    }
    while (!ended && waits(w) && time(NULL) < late)
        (void)rma_poll(w->rma);
    FABRIC_CHECK(ended || !waits(w));
}

static void check_target(const unsigned char *got)
{
    FABRIC_CHECK(memcmp(from, got, LONG / 4 * 3) == 0);
    for (size_t i = LONG / 4 * 3; i < LONG; i++)
        FABRIC_CHECK(got[i] == (i < LONG - SUMS * 8 ? 0 : 5));
}

static void body(struct fabric_proc *p, void *arg)
{
    const struct way *way = arg;
    struct win *w = fabric_win(p, way->flavor, p->rank ? to : from, LONG, 1);
    unsigned char *mine = way->flavor == WIN_CREATE ? to : w->base;
    if (p->rank == 0) {
        fill(from, LONG, 1 + way->ended);
        memset(back, 0, sizeof back);
        if (way->agent)
            OK(w->rma->env->agent_start(w->rma->env->ctx));
        origin(p, w, way);
    } else {
        memset(mine, 0, LONG);
        memset(mine + LONG - SUMS * 8, 5, SUMS * 8);
        fabric_barrier(p);
        OK(rma_fence(w, RMA_NOPRECEDE));
        fabric_barrier(p);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    if (p->rank)
        check_target(mine);
    for (size_t i = 0; p->rank == 0 && i < sizeof back; i++)
        FABRIC_CHECK(back[i] == 5);
    fabric_barrier(p);
    fabric_win_free(w);
}

static void run(struct way way)
{
    const struct fabric_opts opts = {
        .nproc = 2, .progress = CONF_PROGRESS_AGENT, .path = way.path, .unsent_leaves = true};
    fabric_watchdog(120);
    struct fabric *f = fabric_new(&opts);
    for (int i = 0; way.path == CONF_PATH_NET_PACKETS && i < opts.nproc; i++)
        slow_rdma_init(&f->procs[i], true);
    fabric_run(f, body, &way);
    for (int i = 0; i < opts.nproc; i++)
        assert_int_equal(refused(&f->procs[i]), 0);
    fabric_free(f);
    fabric_watchdog(0);
}

static void leaves_when_the_target_has_begun(void **state)
{
    (void)state;
    run((struct way){.path = CONF_PATH_SHM_PACKETS, .flavor = WIN_CREATE});
}

/* The put is several parts there. */
static void leaves_to_memory_that_the_network_reaches(void **state)
{
    (void)state;
    run((struct way){.path = CONF_PATH_NET_PACKETS, .flavor = WIN_CREATE});
}

static void leaves_to_mapped_memory(void **state)
{
    (void)state;
    run((struct way){.path = CONF_PATH_AUTO, .flavor = WIN_ALLOCATE});
    run((struct way){.path = CONF_PATH_AUTO, .flavor = WIN_ALLOCATE, .agent = true});
}

static void leaves_to_assisted_memory(void **state)
{
    (void)state;
    run((struct way){.path = CONF_PATH_AUTO, .flavor = WIN_CREATE});
}

static void stays_when_the_last_fence_has_ended_the_epoch(void **state)
{
    (void)state;
    run((struct way){.path = CONF_PATH_SHM_PACKETS, .flavor = WIN_CREATE, .ended = true});
    run((struct way){.path = CONF_PATH_AUTO, .flavor = WIN_ALLOCATE, .ended = true});
    run((struct way){.path = CONF_PATH_AUTO, .flavor = WIN_CREATE, .ended = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_when_the_target_has_begun),
        cmocka_unit_test(leaves_to_memory_that_the_network_reaches),
        cmocka_unit_test(leaves_to_mapped_memory),
        cmocka_unit_test(leaves_to_assisted_memory),
        cmocka_unit_test(stays_when_the_last_fence_has_ended_the_epoch),
    };
    pkt_types_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
