/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_modes.c - epochs of all kinds on the same memory, one after another, with nothing between
 * them but what the standard asks for.
 *
 * mixed_modes [STEPS]. All ranks draw the same steps on two windows: fences with asserts, PSCW with
 * random groups, locks of both kinds, lock_all epochs that stay open while others do something
 * else, loads and stores, messages. hborder.h says which accesses are ordered by that alone; what
 * is not is drawn anew, or one message makes it so. Accesses are therefore determined, and every
 * rank computes the contents of all memory and what is fetched. What is not relied upon: that a
 * fence orders a passive epoch behind the exposure of another rank (12.5.1: it completes operations
 * at the target when the target returns from it, which nobody else knows), that MPI_Win_complete
 * means anything at the target, and that a lock keeps the order of the calls of several ranks.
 * MTEST_SEED replays a failure, MTEST_ROUNDS says how many pairs of windows.
 */
#include "mixed_op.h"

static void barrier(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    const struct hb_clock all = mm_all_know();
    mm_everybody_knows(&all);
}

static void take_step(int w)
{
    switch (mm_roll(13)) {
    case 0:
    case 1:
    case 2:
        mm_fences(w);
        break;
    case 3:
    case 4:
    case 5:
        mm_pscw(w);
        break;
    case 6:
    case 7:
    case 8:
        mm_locks(w);
        break;
    case 9:
        mm_lock_alls(w);
        break;
    case 10:
        mm_local(w, mm_roll(mm_ranks), true);
        break;
    case 11:
        mm_roll(3) ? mm_message(mm_roll(mm_ranks), mm_roll(mm_ranks)) : barrier();
        break;
    default:
        mm_roll(2) ? mm_end_sessions(w) : mm_lock_alls(w);
    }
}

static void make(struct mt_win *w)
{
    for (;;) {
        const enum mt_kind kind = (enum mt_kind)mm_roll(MT_KINDS);
        if (kind == MT_CREATE_ODD) /* elements at odd addresses are acc_ops's */
            continue;
        if (mt_win_make(w, kind, HB_AREA, 1, MPI_COMM_WORLD))
            return;
    }
}

static void play(int steps)
{
    mt_section("windows");
    for (int w = 0; w < HB_WINDOWS; w++)
        make(&mm_win[w]);
    hb_begin(mm_ranks);
    mm_fences_begin();
    barrier();
    for (mm_step = 0; mm_step < steps; mm_step++) {
        const int w = mm_roll(HB_WINDOWS);
        mt_section("%s and %s, step %d", mt_kind_name(mm_win[0].kind), mt_kind_name(mm_win[1].kind),
                   mm_step);
        take_step(w);
    }
    for (int w = 0; w < HB_WINDOWS; w++)
        mm_end_sessions(w);
    barrier();
    for (int w = 0; w < HB_WINDOWS; w++)
        for (int r = 0; r < mm_ranks; r++)
            mm_local(w, r, false);
    for (int w = 0; w < HB_WINDOWS; w++)
        mt_win_free(&mm_win[w]);
    hb_end();
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 60;
    const long rounds = mt_rounds(4);
    CHECK(steps > 0, "steps %s, expected a positive number", argc > 1 ? argv[1] : "");
    mm_ranks = mt_size;
    if (!CHECK(mm_ranks <= HB_RANKS, "%d ranks, expected at most %d", mm_ranks, HB_RANKS))
        return MT_FINISH();
    mm_pool = mt_alloc(MM_POOL);
    mt_fill(mm_pool, MM_POOL, (uint32_t)mt_seed);
    mm_issue_begin();
    for (long r = 0; r < rounds; r++)
        play(steps);
    mm_issue_end();
    free(mm_pool);
    return MT_FINISH();
}
