/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_deferred.c - when operations that wait for their target leave by themselves
 * (rma/path/deferred.c): as soon as the target has begun its part of the fence phase, but not
 * between the moment at which the last fence has ended the epoch and the one at which it carries
 * them out, since they would leave as part of another epoch.
 */
#include "test/support/pkt_run.h"

#include <time.h>
#include <unistd.h>

#include "rma/path/deferred.h"
#include "rma/progress/progress.h"

enum { LONG = 4 * RING_BUSTER, ROUNDS = 50, ROUND_US = 1000 };

static unsigned char from[LONG], to[LONG];

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

static void origin(struct fabric_proc *p, struct win *w, bool ended)
{
    const time_t late = time(NULL) + 20;
    OK(rma_fence(w, RMA_NOPRECEDE));
    put(w, 1, 0, from, LONG);
    FABRIC_CHECK(waits(w));
    const struct epoch before = ended ? end_epoch(w) : w->epoch;
    fabric_barrier(p);
    fabric_barrier(p); /* the target has begun its phase, and says so */
    if (ended) {
        for (int i = 0; i < ROUNDS; i++, usleep(ROUND_US))
            (void)rma_poll(w->rma);
        FABRIC_CHECK(waits(w));
        restore_epoch(w, before);
    }
    while (!ended && waits(w) && time(NULL) < late)
        (void)rma_poll(w->rma);
    FABRIC_CHECK(ended || !waits(w));
}

static void body(struct fabric_proc *p, void *arg)
{
    const bool ended = *(const bool *)arg;
    struct win *w = fabric_win(p, WIN_CREATE, p->rank ? to : from, LONG, 1);
    if (p->rank == 0) {
        fill(from, LONG, 1 + ended);
        origin(p, w, ended);
    } else {
        fabric_barrier(p);
        OK(rma_fence(w, RMA_NOPRECEDE));
        fabric_barrier(p);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(p->rank == 0 || memcmp(from, to, LONG) == 0);
    fabric_barrier(p);
    fabric_win_free(w);
}

static void run(bool ended)
{
    run_one((struct fabric_opts){.nproc = 2,
                                 .progress = CONF_PROGRESS_AGENT,
                                 .path = CONF_PATH_SHM_PACKETS,
                                 .unsent_leaves = true},
            body, &ended);
}

static void leaves_when_the_target_has_begun(void **state)
{
    (void)state;
    run(false);
}

static void stays_when_the_last_fence_has_ended_the_epoch(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_when_the_target_has_begun),
        cmocka_unit_test(stays_when_the_last_fence_has_ended_the_epoch),
    };
    pkt_types_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
