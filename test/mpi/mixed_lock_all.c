/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_lock_all.c - epochs of lock_all in mixed_modes (sessions): they stay open over many steps.
 */
#include "mixed_op.h"

/* No exclusive lock may be asked for any more: who waits for one could be who this rank then waits
 * for. */
static bool may_lock_all(int w, int origin)
{
    for (int t = 0; t < mm_ranks; t++)
        if (!mm_may_lock(w, origin, t, false) ||
            !hb_behind(&hb_know[origin], &hb_part[w][t].exclusive))
            return false;
    return true;
}

static void begin_session(int w, int origin)
{
    const bool nocheck = mm_roll(3) == 0;
    mm_session[w][origin] = true;
    if (mm_me(origin))
        MT_OK(MPI_Win_lock_all(nocheck ? MPI_MODE_NOCHECK : 0, mm_win[w].win));
    for (int t = 0; t < mm_ranks; t++) {
        hb_part[w][t].shared.t[origin] = hb_part[w][t].sessions.t[origin] = HB_OPEN;
        if (nocheck)
            hb_part[w][t].free_shared.t[origin] = HB_OPEN;
    }
}

static void end_session(int w, int origin)
{
    if (mm_me(origin)) {
        mm_finish_requests();
        MT_OK(MPI_Win_unlock_all(mm_win[w].win));
        mm_finish(w, -1);
    }
    const int64_t now = hb_tick(origin);
    mm_session[w][origin] = false;
    for (int t = 0; t < mm_ranks; t++) {
        struct hb_part *p = &hb_part[w][t];
        hb_passive_done(p, origin, now);
        p->shared.t[origin] = p->sessions.t[origin] = now;
        if (p->free_shared.t[origin] == HB_OPEN)
            p->free_shared.t[origin] = now;
    }
}

static void work_in_session(int w, int origin)
{
    int who;
    for (int i = mm_roll(MM_MOST_OPS); i > 0; i--) {
        const int t = mm_roll(mm_ranks);
        const bool done = mm_operate(w, origin, t, &hb_know[origin], false, true, &who);
        if (!done && who >= 0 && mm_roll(2))
            mm_message(who, origin);
        if (mm_roll(4) == 0)
            mm_flush(w, origin, t);
    }
}

void mm_lock_alls(int w)
{
    for (int o = 0; o < mm_ranks; o++) {
        const int what = mm_roll(4);
        mm_late();
        if (mm_session[w][o] && what == 0)
            end_session(w, o);
        else if (mm_session[w][o])
            work_in_session(w, o);
        else if (what && may_lock_all(w, o))
            begin_session(w, o);
    }
}

void mm_end_sessions(int w)
{
    for (int o = 0; o < mm_ranks; o++)
        if (mm_session[w][o])
            end_session(w, o);
}
