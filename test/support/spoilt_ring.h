/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spoilt_ring.h - for tests of packets that are refused: three processes with a window, which must
 * be as good as new in the end, whatever was refused.
 */
#ifndef MRMA_TEST_SPOILT_RING_H
#define MRMA_TEST_SPOILT_RING_H

#include "base_helper.h"
#include "pkt_craft.h"

#include "rma/target/target.h"

enum { PROCS = 3, SIZE = 4096 };

static unsigned char area[PROCS][SIZE];

/* Whatever was refused, the window is as good as new. */
static inline void destroy(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    const int target = (p->rank + 1) % PROCS, origin = (p->rank + PROCS - 1) % PROCS;
    const int64_t one = 1;
    int64_t old;
    (void)arg;
    rest(p);
    memset(area[p->rank], 0, SIZE);
    rest(p);
    OK(rma_fence(w, 0));
    add(w, target, 0, &one, 1);
    OK(rma_fence(w, RMA_NOSUCCEED));
    OK(rma_post(w, &origin, 1, 0));
    OK(rma_start(w, &target, 1, 0));
    add(w, target, 0, &one, 1);
    OK(rma_complete(w));
    OK(rma_wait(w));
    OK(rma_lock(w, true, target, 0));
    fetch_add(w, target, 0, &one, &old, 1);
    OK(rma_unlock(w, target));
    FABRIC_CHECK(old == 2);
    OK(win_free_begin(w));
    OK(win_take_error(w));
    win_free_end(w);
}

static inline int setup(void **state)
{
    (void)state;
    memset(area, 0, sizeof area);
    craft_setup(PROCS, 0, (struct craft_window){area[0], SIZE, SIZE, 1});
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    craft_teardown(destroy);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
