/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * craft_pair.h - for tests that send crafted packets from process 0, the origin, to
 * process 1, the target, and look whether a byte of its window has changed, or of what lies
 * around it: a set-up, its end, that look, and the head of a record.
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

/* A put of 8 bytes still works, and leaves the window as it was. */
static inline void check_usable(void)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
    static const struct pkt_seg seg = {.disp = 16, .len = 8};
    struct craft c;
    const uint64_t before = refused(&fabric->procs[1]);
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &put, &seg, 1, "abcdefgh", 8);
    craft_send(fabric, 0, 1, &c);
    assert_memory_equal(area[1] + AROUND + 16, "abcdefgh", 8);
    memset(area[1] + AROUND + 16, PATTERN, 8);
    assert_int_equal(refused(&fabric->procs[1]), before);
    assert_int_equal(origin->origin_side.err, MRMA_SUCCESS);
}

/* The head of a record: its kind, operation, type, number of segments, bytes of data. */
#define HEAD(k, o, t, n, len)                                     \
    {                                                             \
        .kind = k, .op = o, .type = t, .nseg = n, .data_len = len \
    }

/* A test between set-up and end. */
#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

#endif
