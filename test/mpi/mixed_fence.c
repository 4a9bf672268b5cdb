/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_fence.c - phases between fences in mixed_modes, with every assert that holds.
 */
#include "mixed_op.h"

static bool fence_open[HB_WINDOWS]; /* the last fence was one that a phase may follow */

void mm_fences_begin(void)
{
    memset(fence_open, 0, sizeof fence_open);
}

/* last: no phase follows. Who asserts what is a matter of each rank but for NOPRECEDE and
 * NOSUCCEED. */
static void fence(int w, bool precede, bool last, const bool *noput)
{
    const struct hb_clock entered = mm_all_know();
    const bool no_succeed = last && mm_roll(4), say_noput = mm_roll(2);
    for (int r = 0; r < mm_ranks; r++) {
        struct hb_part *p = &hb_part[w][r];
        const bool nostore = mm_roll(2) && !p->stored;
        int asserts = (precede ? 0 : MPI_MODE_NOPRECEDE) | (no_succeed ? MPI_MODE_NOSUCCEED : 0);
        asserts |= (nostore ? MPI_MODE_NOSTORE : 0) | (noput[r] && say_noput ? MPI_MODE_NOPUT : 0);
        if (mm_me(r))
            MT_OK(MPI_Win_fence(asserts, mm_win[w].win));
        p->stored = false;
    }
    if (precede && fence_open[w]) /* a barrier where it may end an epoch (12.5.1) */
        mm_everybody_knows(&entered);
    fence_open[w] = !no_succeed;
    for (int r = 0; r < mm_ranks; r++) {
        struct hb_part *p = &hb_part[w][r];
        const int64_t now = hb_tick(r);
        hb_active_done(p, r, now);
        if (p->target)
            p->exposed = now;
        p->target = false;
    }
    if (precede)
        mm_finish(w, -1);
}

/* The operations of one phase; they come behind what the target knew when it returned from the
 * fence that began it. */
static void fence_phase(int w, const bool *noput, const struct hb_clock *begun)
{
    for (int o = 0; o < mm_ranks; o++) {
        int who;
        mm_late();
        for (int i = mm_roll(3) ? mm_roll(MM_MOST_OPS) : 0; i > 0; i--) {
            const int t = mm_roll(mm_ranks);
            const struct hb_clock know = hb_both(&hb_know[o], &begun[t]);
            if (mm_unlocked(&hb_part[w][t], &begun[t]) &&
                mm_operate(w, o, t, &know, noput[t], false, &who))
                hb_part[w][t].target = true;
        }
    }
}

void mm_fences(int w)
{
    struct hb_clock begun[HB_RANKS];
    bool noput[HB_RANKS];
    if (mm_any_session(w))
        return;
    for (int r = 0; r < mm_ranks; r++)
        if (mm_roll(3) == 0)
            mm_store_own(w, r);
    bool precede = mm_roll(2);
    for (int phases = 1 + mm_roll(4); phases >= 0; phases--) {
        for (int r = 0; r < mm_ranks; r++)
            noput[r] = mm_roll(4) == 0 && phases > 0;
        fence(w, precede, phases == 0, noput);
        precede = true;
        memcpy(begun, hb_know, sizeof begun);
        for (int r = 0; r < mm_ranks; r++)
            if (mm_roll(4) == 0) {
                mm_load_own(w, r);
                (void)hb_tick(r);
            }
        if (phases > 0)
            fence_phase(w, noput, begun);
    }
}
