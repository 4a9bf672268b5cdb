/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * craft_pair.h - for tests that send crafted packets from process 0, the origin, to
 * process 1, the target, and look whether a byte of its window has changed, or of what lies
 * around it: a set-up, its end, and that look.
 */
#ifndef MRMA_TEST_CRAFT_PAIR_H
#define MRMA_TEST_CRAFT_PAIR_H

#include "pkt_craft.h"

enum { SIZE = 80000, AROUND = 4096, AREA = SIZE + 2 * AROUND, PATTERN = 0x5a };

static struct win *origin, *target;
static unsigned char area[2][AREA]; /* each process's window begins AROUND behind its beginning */

static inline void pair_destroy(struct fabric_proc *p, void *arg)
{
    (void)arg;
    fabric_win_free(win[p->rank]);
}

static inline int pair_setup(void **state)
{
    (void)state;
    craft_setup(2, 0, (struct craft_window){area[0] + AROUND, AREA, SIZE, 8});
    origin = win[0];
    target = win[1];
    memset(area, PATTERN, sizeof area);
    return 0;
}

static inline int pair_teardown(void **state)
{
    (void)state;
    craft_teardown(pair_destroy);
    return 0;
}

static inline void check_untouched(void)
{
    for (size_t i = 0; i < AREA; i++)
        assert_int_equal(area[1][i], PATTERN);
}

/* A test between set-up and end. */
#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

#endif
